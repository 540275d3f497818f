//===- TypePlanner.cpp - Type the original graph by the decisions ---------===//
#include "compiler/Export/TypePlanner.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ampc::exporter {

static constexpr int32_t f32 = onnx::TensorProto::FLOAT;

ValuePlan *TypePlanner::addValue(RegionPlan &region, StringRef name,
                                 int32_t original) {
  ValuePlan &value = plan->values.emplace_back();
  value.name = name.str();
  value.home = &region;
  value.original = value.produced = value.current = original;
  region.scope[name] = &value;
  return &value;
}

/// The type of a declared value: of a tensor, or of a sequence's elements.
static int32_t getElementType(const onnx::TypeProto &type, bool &isSequence) {
  if (type.has_tensor_type()) {
    return type.tensor_type().elem_type();
  }
  isSequence = type.has_sequence_type() || type.has_optional_type();
  bool inner = false;
  return type.has_sequence_type()
             ? getElementType(type.sequence_type().elem_type(), inner)
         : type.has_optional_type()
             ? getElementType(type.optional_type().elem_type(), inner)
             : 0;
}

static int32_t getElementType(const onnx::ValueInfoProto &info,
                              bool &isSequence) {
  return getElementType(info.type(), isSequence);
}

void TypePlanner::addInitializers(RegionPlan &region,
                                  const onnx::GraphProto &graph) {
  // A caller may replace an initializer that is also an input, but in old files
  // all of them are.
  StringSet<> replaceable;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (model.ir_version() >= 4) {
      replaceable.insert(input.name());
    }
  }
  std::map<std::string, ValuePlan *> known;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    ValuePlan *value = addValue(region, tensor.name(), tensor.data_type());
    for (const std::string &context : region.contexts) {
      value->origins.push_back(context + "/" + tensor.name());
    }
    if (replaceable.contains(tensor.name())) {
      continue;
    }
    value->constant = &tensor;
    value->isWeak = tensor.dims_size() == 0;
    if (tensor.ByteSizeLong() <= 1024 && !tensor.has_raw_slice()) {
      onnx::TensorProto unnamed = tensor;
      unnamed.clear_name();
      value->same =
          known.try_emplace(unnamed.SerializeAsString(), value).first->second;
    }
  }
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
    ValuePlan *value =
        addValue(region, tensor.values().name(), tensor.values().data_type());
    for (const std::string &context : region.contexts) {
      value->origins.push_back(context + "/" + tensor.values().name());
    }
  }
}

void TypePlanner::run(ModelPlan &result) {
  plan = &result;
  const onnx::GraphProto &graph = model.graph();
  RegionPlan &region = result.graph;
  region.opsets = &checked.opsets;
  region.contexts = {"main"};
  for (const onnx::ValueInfoProto &input : graph.input()) {
    bool isSequence = false;
    int32_t type = getElementType(input, isSequence);
    ValuePlan *value = addValue(region, input.name(), type);
    value->isSequence = isSequence;
    value->origins = {input.name()};
    region.inputs.push_back(value);
  }
  addInitializers(region, graph);
  std::vector<std::string> outputs;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    outputs.push_back(output.name());
  }
  planNodes(region, graph.node(), &graph, outputs);
  planGraphOutputs(region, graph);
  if (!keepsIoTypes) {
    narrowGraphInputs(region);
  }
  leaveRoundingToCasts();
  narrowBeforeMoving();
  if (model.training_info_size() != 0) {
    // Training refers to initializers by name.
    for (ValuePlan &value : result.values) {
      value.use({0, value.original});
    }
  }
}

void TypePlanner::planGraphOutputs(RegionPlan &region,
                                   const onnx::GraphProto &graph) {
  for (const onnx::ValueInfoProto &output : graph.output()) {
    ValuePlan *value = region.find(output.name());
    bool isNarrowed = value && !keepsIoTypes && value->original == f32 &&
                      isLow(value->current) && !value->isSequence;
    int32_t type = !value ? 0 : isNarrowed ? value->current : value->original;
    region.outputs.push_back(value);
    region.outputTypes.push_back(type);
    if (value) {
      value->use({0, type});
      value->hasOtherUses = true;
    }
  }
}

/// An input that is only read in one 16-bit type comes in that type.
void TypePlanner::narrowGraphInputs(RegionPlan &region) {
  for (ValuePlan *value : region.inputs) {
    int32_t type = 0;
    // An initializer of the same name has taken its place.
    bool agree = value->original == f32 && !value->isSequence &&
                 region.find(value->name) == value;
    for (const auto &[use, count] : value->uses) {
      int32_t wanted = use.rounded != 0 ? use.rounded : use.type;
      agree &= isLow(wanted) && (type == 0 || wanted == type);
      type = wanted;
    }
    if (agree && type != 0) {
      value->produced = value->current = type;
    }
  }
}

void TypePlanner::planNodes(RegionPlan &region, const Nodes &nodes,
                            const void *key, ArrayRef<std::string> outputs) {
  region.key = key;
  region.nodes.resize(nodes.size());
  RegionDecisions compute(decisions, region, nodes, outputs);
  for (uint32_t index : getNodeOrder(checked, key)) {
    planNode(region, nodes.Get(index), index, compute.get(index));
  }
}

void TypePlanner::readConstant(const onnx::NodeProto &proto, ValuePlan &value) {
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (!attribute.ref_attr_name().empty()) {
      continue;
    }
    if (attribute.name() == "value" && attribute.has_t()) {
      value.original = attribute.t().data_type();
      value.constant = &attribute.t();
      value.isWeak = attribute.t().dims_size() == 0;
    } else if (attribute.name() == "value_float" ||
               attribute.name() == "value_floats") {
      value.original = f32;
      value.numbers = &attribute;
      value.isWeak = attribute.name() == "value_float";
    }
  }
  value.produced = value.current = value.original;
}

/// The type that attribute `name` gives an output; 0 without one.
static int32_t readTypeAttribute(const onnx::NodeProto &proto, StringRef name) {
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (attribute.name() != name) {
      continue;
    }
    if (attribute.has_t()) {
      return attribute.t().data_type();
    }
    if (attribute.has_i()) {
      return static_cast<int32_t>(attribute.i());
    }
    // Cast before opset 6 spells the type.
    return StringRef(attribute.s()) == "FLOAT"     ? onnx::TensorProto::FLOAT
           : StringRef(attribute.s()) == "FLOAT16" ? onnx::TensorProto::FLOAT16
                                                   : 0;
  }
  return 0;
}

void TypePlanner::inferOutputs(const onnx::NodeProto &proto, NodePlan &node,
                               const OpSchema *schema) {
  if (!schema) {
    return;
  }
  int32_t element = 0;
  auto boundBy = [&](char slot) -> int32_t {
    for (auto [i, input] : enumerate(node.inputs)) {
      if (input && schema->getInput(i) == slot && isVariable(slot)) {
        return input->original;
      }
    }
    return 0;
  };
  for (ValuePlan *input : node.inputs) {
    element = element == 0 && input ? input->original : element;
  }
  for (auto [i, output] : enumerate(node.outputs)) {
    if (!output) {
      continue;
    }
    char slot = schema->getOutput(i);
    int32_t type = slot == 'F' ? f32 : boundBy(slot);
    if (isVariable(slot) && type == 0) {
      type = readTypeAttribute(proto, schema->attribute);
      if (type == 0) {
        // Without the attribute: the type of an operand, or f32.
        type =
            isEligible(element) || schema->inputs.contains('S') ? element : f32;
      }
    } else if (slot == 'S') {
      type = element;
    }
    bool isSequence = slot == 'S';
    for (auto [k, input] : enumerate(node.inputs)) {
      isSequence |= input && input->isSequence && isVariable(slot) &&
                    schema->getInput(k) == slot;
    }
    output->isSequence = isSequence;
    output->original = output->produced = output->current = type;
  }
}

void TypePlanner::findEqual(RegionPlan &region, const onnx::NodeProto &proto,
                            NodePlan &node, NodeCompute &compute) {
  if (!node.regions.empty() || node.function) {
    return;
  }
  onnx::NodeProto bare = proto;
  bare.clear_name();
  bare.clear_input();
  bare.clear_output();
  std::string key = bare.SerializeAsString();
  key += std::to_string(region.getVersion(proto.domain()));
  for (ValuePlan *input : node.inputs) {
    const ValuePlan *same = input ? input->same : nullptr;
    key.append(reinterpret_cast<const char *>(&same), sizeof(void *));
  }
  auto [it, isNew] = equals.try_emplace(key, compute, &node);
  if (isNew || it->second.second == &node) {
    return;
  }
  auto &[first, firstNode] = it->second;
  if (compute.kind == NodeCompute::Unnamed) {
    compute = first;
  }
  for (auto [output, other] : zip(node.outputs, firstNode->outputs)) {
    if (output && other) {
      output->same = other->same;
    }
  }
}

static bool isCast(const onnx::NodeProto &proto, const NodePlan &node) {
  return importer::normalizeDomain(proto.domain()).empty() &&
         proto.op_type() == "Cast" && node.inputs.size() == 1 &&
         node.outputs.size() == 1 && node.inputs[0] && node.outputs[0];
}

void TypePlanner::planNode(RegionPlan &region, const onnx::NodeProto &proto,
                           uint32_t index, NodeCompute compute) {
  NodePlan &node = region.nodes[index];
  node.schema = findSchema(proto.domain(), proto.op_type(),
                           region.getVersion(proto.domain()));
  for (const std::string &input : proto.input()) {
    node.inputs.push_back(input.empty() ? nullptr : region.find(input));
  }
  node.forms.resize(node.inputs.size());
  for (const std::string &output : proto.output()) {
    ValuePlan *value = output.empty() ? nullptr : addValue(region, output, 0);
    for (const std::string &context : region.contexts) {
      if (value) {
        value->origins.push_back(context + "/" + std::to_string(index));
      }
    }
    node.outputs.push_back(value);
  }
  const OpSchema *schema = node.schema;
  bool isDefault = importer::normalizeDomain(proto.domain()).empty();
  if (const onnx::FunctionProto *function = checked.findFunction(proto)) {
    planCall(region, *function, index, node);
  } else if (any_of(proto.attribute(), [](const onnx::AttributeProto &a) {
               return a.has_g() || a.graphs_size() != 0;
             })) {
    planSubgraphs(region, proto, index, node, compute);
  } else {
    inferOutputs(proto, node, schema);
    if (isDefault && proto.op_type() == "Constant" && !node.outputs.empty() &&
        node.outputs[0]) {
      readConstant(proto, *node.outputs[0]);
    } else {
      findEqual(region, proto, node, compute);
      typeSlots(node, compute, schema);
    }
    if (isCast(proto, node) && node.outputs[0]->current == f32 &&
        isLow(node.inputs[0]->current) &&
        node.forms[0].type == node.inputs[0]->current) {
      node.outputs[0]->exactSource = node.inputs[0];
    }
  }
  recordUses(proto, node);
  ValuePlan *source = node.inputs.empty() ? nullptr : node.inputs[0];
  if (schema && schema->moves && source &&
      (source->isConstant() || source->isMovedConstant)) {
    plan->movesOfConstants.push_back(&node);
    for (ValuePlan *output : node.outputs) {
      if (output) {
        output->isMovedConstant = true;
      }
    }
  }
}

void TypePlanner::recordUses(const onnx::NodeProto &proto, NodePlan &node) {
  for (auto [input, form] : zip_equal(node.inputs, node.forms)) {
    if (!input) {
      continue;
    }
    input->use(form);
    if (isCast(proto, node) && node.outputs[0]->current == input->current &&
        form.type == input->current) {
      input->castUses.push_back(&form);
    } else {
      input->hasOtherUses = true;
    }
  }
}

/// A result that would be rounded where only Casts of the model to that type
/// read it needs no cast of its own.
void TypePlanner::leaveRoundingToCasts() {
  for (ValuePlan &value : plan->values) {
    if (value.produced != value.current && !value.castUses.empty() &&
        !value.hasOtherUses) {
      value.current = value.produced;
      for (Form *form : value.castUses) {
        form->type = value.produced;
      }
    }
  }
}

/// A constant that is moved about, then read in 16 bits only, is moved in 16
/// bits: it can then be stored so.
void TypePlanner::narrowBeforeMoving() {
  for (NodePlan *node : llvm::reverse(plan->movesOfConstants)) {
    ValuePlan *source = node->inputs[0];
    int32_t type = 0;
    bool agree = isEligible(source->original) && node->forms[0].rounded == 0;
    for (ValuePlan *output : node->outputs) {
      for (const auto &[use, count] :
           output ? ArrayRef(output->uses)
                  : ArrayRef<std::pair<Form, unsigned>>()) {
        int32_t wanted = use.rounded != 0 ? use.rounded : use.type;
        agree &= output->produced == f32 && output->current == f32 &&
                 isLow(wanted) && (type == 0 || wanted == type);
        type = wanted;
      }
    }
    if (!agree || type == 0 ||
        !node->schema->allows(node->schema->getInput(0), type)) {
      continue;
    }
    source->dropUse(node->forms[0]);
    node->forms[0] = {0, type};
    source->use(node->forms[0]);
    for (ValuePlan *output : node->outputs) {
      if (output) {
        output->produced = output->current = type;
      }
    }
  }
}

} // namespace ampc::exporter
