//===- NodeTypes.cpp - The types of one node's slots ----------------------===//
#include "compiler/Export/NodeTypes.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "runtime/include/ampc/numerics.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ampc::exporter {

using precision::OpDecision;
using precision::OperandDecision;

static constexpr int32_t f32 = onnx::TensorProto::FLOAT;

static bool isCastable(const ValuePlan *value) {
  return value && !value->isSequence && isEligible(value->original);
}

/// Whether a constant is a number of rank 0 that keeps its precision in `type`.
static bool fits(const ValuePlan &value, int32_t type) {
  if (value.isWeak && value.current == type) {
    return true;
  }
  std::optional<float> number = value.readNumber();
  if (!number || !isLow(type)) {
    return false;
  }
  bool isHalf = type == onnx::TensorProto::FLOAT16;
  uint16_t bits = isHalf ? ampc_f32_to_f16(*number) : ampc_f32_to_bf16(*number);
  uint16_t exponent = bits & (isHalf ? 0x7c00 : 0x7f80);
  return *number == 0 ||
         (exponent != 0 && exponent != (isHalf ? 0x7c00 : 0x7f80));
}

namespace {
/// Types the slots of one node.
class SlotTyper {
public:
  SlotTyper(NodePlan &node, const NodeCompute &compute, const OpSchema *schema)
      : node(node), compute(compute), schema(schema) {}

  void run();

private:
  enum Role {
    None, ///< holds no float that may change
    Free, ///< keeps the type it has in the model
    Wide, ///< the compiler reads it in another type than the node's
    Data, ///< has the node's type
  };

  char variable(unsigned input) const {
    return schema ? schema->getInput(input) : '-';
  }
  const OperandDecision *findOperand(unsigned input) const;
  void findRoles();
  void keep();
  void keepFitting();
  void typeInterior();
  void typeUnnamed();
  void typeData();
  bool isOfInput(char slot) const;
  bool isOnItsOwn(unsigned input) const;
  void setOutput(unsigned index, int32_t produced, int32_t current);

  NodePlan &node;
  const NodeCompute &compute;
  const OpSchema *schema;
  std::vector<Role> roles;
};
} // namespace

/// The operand of an amp operation that input `i` became: the one from the same
/// place or, where the operation reads as many operands, that position.
const OperandDecision *SlotTyper::findOperand(unsigned input) const {
  const ValuePlan &value = *node.inputs[input];
  unsigned position = 0, given = 0;
  for (auto [i, other] : enumerate(node.inputs)) {
    position += other && i < input;
    given += other != nullptr;
  }
  for (const OpDecision *op : compute.decisions) {
    if (!op->isView && !op->ofConstants && op->operands.size() == given &&
        op->paths.size() == 1) {
      return &op->operands[position];
    }
  }
  for (const OpDecision *op : compute.decisions) {
    for (const OperandDecision &operand : op->operands) {
      bool isSame = any_of(value.origins, [&](const std::string &place) {
        return is_contained(operand.paths, place);
      });
      if (isSame && !op->isView && !op->ofConstants) {
        return &operand;
      }
    }
  }
  return nullptr;
}

void SlotTyper::findRoles() {
  roles.assign(node.inputs.size(), None);
  char result = schema ? schema->getOutput(0) : '-';
  int firstFree = -1;
  for (unsigned i = 0; i < roles.size(); ++i) {
    if (!isCastable(node.inputs[i])) {
      continue;
    }
    roles[i] = Free;
    if (!isVariable(variable(i))) {
      continue;
    }
    const OperandDecision *operand = findOperand(i);
    if (operand && operand->pinned) {
      roles[i] = parseTypeName(operand->type) == compute.type ? Free : Wide;
    } else if (!operand && compute.isFolded && node.inputs[i]->isConstant() &&
               !fits(*node.inputs[i], compute.type)) {
      roles[i] = Wide; // it reached the weights unrounded
    } else if (operand || variable(i) == result) {
      roles[i] = Data;
    } else if (firstFree < 0) {
      firstFree = i;
    }
  }
  // A comparison may have lost its operands' places.
  if (firstFree >= 0 && !is_contained(roles, Data)) {
    roles[firstFree] = Data;
  }
}

bool SlotTyper::isOfInput(char slot) const {
  for (unsigned i = 0; isVariable(slot) && i < node.inputs.size(); ++i) {
    if (node.inputs[i] && variable(i) == slot) {
      return true;
    }
  }
  return false;
}

/// Whether no other slot has to agree with input `i`, and its value's type is
/// allowed.
bool SlotTyper::isOnItsOwn(unsigned input) const {
  char slot = variable(input);
  return isVariable(slot) && schema->inputs.count(slot) == 1 &&
         !schema->outputs.contains(slot) && !schema->inputs.ends_with("*") &&
         schema->allows(slot, node.inputs[input]->current);
}

void SlotTyper::setOutput(unsigned index, int32_t produced, int32_t current) {
  if (isCastable(node.outputs[index])) {
    node.outputs[index]->produced = produced;
    node.outputs[index]->current = current;
  }
}

/// Every slot in the type that the model has.
void SlotTyper::keep() {
  for (auto [input, form] : zip_equal(node.inputs, node.forms)) {
    form.type = isCastable(input) ? input->original : 0;
  }
}

/// As above, but a value that no other slot has to agree with is read as it is.
void SlotTyper::keepFitting() {
  keep();
  for (unsigned i = 0; i < node.inputs.size(); ++i) {
    if (isCastable(node.inputs[i]) && isOnItsOwn(i)) {
      node.forms[i].type = node.inputs[i]->current;
    }
  }
}

/// Computes in f32 and rounds the result if it leaves the operation. Operands
/// from outside are rounded as the operation reads them.
void SlotTyper::typeInterior() {
  for (unsigned i = 0; i < node.inputs.size(); ++i) {
    ValuePlan *input = node.inputs[i];
    if (!isCastable(input)) {
      continue;
    }
    if (isOnItsOwn(i)) {
      node.forms[i].type = input->current; // a Cast of the model
      continue;
    }
    node.forms[i].type = isVariable(variable(i)) ? f32 : input->original;
    const OperandDecision *operand = findOperand(i);
    int32_t read = operand ? parseTypeName(operand->type) : 0;
    if (isLow(read) && !input->isConstant()) {
      node.forms[i].rounded = read;
    }
  }
  for (unsigned i = 0; i < node.outputs.size(); ++i) {
    if (isOfInput(schema->getOutput(i))) {
      setOutput(i, f32, compute.type);
    }
  }
}

/// A node that the program did without: each variable has the widest type of
/// its operands, so that no value changes.
void SlotTyper::typeUnnamed() {
  keepFitting();
  for (char slot = 'a'; schema && slot <= 'z'; ++slot) {
    int32_t strong = 0, weak = 0;
    bool isMixed = false;
    for (unsigned i = 0; i < node.inputs.size(); ++i) {
      if (variable(i) != slot || !isCastable(node.inputs[i])) {
        continue;
      }
      int32_t current = node.inputs[i]->current;
      int32_t &type = node.inputs[i]->isWeak ? weak : strong;
      isMixed |= type != 0 && type != current;
      type = current;
    }
    int32_t type = strong != 0 ? strong : weak;
    if (type == 0) {
      continue;
    }
    if (isMixed || !schema->allows(slot, type)) {
      type = f32;
    }
    for (unsigned i = 0; i < node.inputs.size(); ++i) {
      if (variable(i) == slot && isCastable(node.inputs[i])) {
        node.forms[i].type = type;
      }
    }
    for (unsigned i = 0; i < node.outputs.size(); ++i) {
      if (schema->getOutput(i) == slot) {
        setOutput(i, type, type);
      }
    }
  }
}

void SlotTyper::typeData() {
  findRoles();
  auto typeOf = [&](char slot) {
    int32_t data = 0, free = 0, wide = 0;
    for (unsigned i = 0; i < roles.size(); ++i) {
      if (roles[i] == None || variable(i) != slot) {
        continue;
      }
      int32_t &type = roles[i] == Data ? data : roles[i] == Wide ? wide : free;
      type = roles[i] == Data ? compute.type : node.inputs[i]->original;
    }
    if (data == 0) {
      return wide != 0 ? wide : free;
    }
    return wide == 0 && schema->allows(slot, data) ? data : f32;
  };
  for (unsigned i = 0; i < roles.size(); ++i) {
    if (roles[i] == None) {
      continue;
    }
    char slot = variable(i);
    node.forms[i].type =
        isVariable(slot) ? typeOf(slot) : node.inputs[i]->original;
    if (roles[i] == Data && isLow(compute.type) &&
        node.forms[i].type != compute.type) {
      node.forms[i].rounded = compute.type;
    }
  }
  for (unsigned i = 0; i < node.outputs.size(); ++i) {
    char slot = schema->getOutput(i);
    if (!isVariable(slot) || !isOfInput(slot)) {
      continue;
    }
    int32_t produced = typeOf(slot);
    bool isData = i == 0;
    for (unsigned k = 0; k < roles.size(); ++k) {
      isData |= roles[k] == Data && variable(k) == slot;
    }
    if (produced != 0) {
      setOutput(i, produced, isData ? compute.type : produced);
    }
  }
}

void SlotTyper::run() {
  NodeCompute::Kind kind = compute.kind;
  if (!schema || schema->hasSequence() ||
      any_of(node.inputs, [](ValuePlan *v) { return v && v->isSequence; })) {
    kind = NodeCompute::Keep;
  }
  if (kind != NodeCompute::Keep && !schema->attribute.empty()) {
    kind = NodeCompute::Pinned; // a Cast, wherever its work is done now
  }
  switch (kind) {
  case NodeCompute::Keep:
    return keep();
  case NodeCompute::Pinned:
    return keepFitting();
  case NodeCompute::Unnamed:
    return typeUnnamed();
  case NodeCompute::Interior:
    return typeInterior();
  case NodeCompute::Typed:
    return typeData();
  }
}

void typeSlots(NodePlan &node, const NodeCompute &compute,
               const OpSchema *schema) {
  SlotTyper(node, compute, schema).run();
}

} // namespace ampc::exporter
