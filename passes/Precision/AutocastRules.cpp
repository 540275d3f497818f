//===- AutocastRules.cpp - The type of one operation ----------------------===//
#include "passes/Precision/AutocastRules.h"

#include "mlir/IR/TypeUtilities.h"
#include "passes/Precision/Constants.h"
#include "passes/Precision/NodeNames.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

static FloatType elementOf(Value value) {
  return cast<FloatType>(getElementTypeOrSelf(value));
}

bool precision::isCastable(PrecisionOpInterface op, OpOperand &operand) {
  return isAutocastEligible(operand.get().getType()) &&
         !op.isPinnedOperand(operand.getOperandNumber());
}

FloatType precision::widest(ArrayRef<FloatType> types) {
  if (types.empty() || llvm::all_equal(types)) {
    return types.empty() ? FloatType() : types.front();
  }
  return Float32Type::get(types.front().getContext());
}

static std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Class promote: the widest operand. A constant of rank 0 is a number of the
/// program rather than a tensor and does not widen.
static Decision promote(ArrayRef<Value> operands) {
  SmallVector<FloatType> strong, weak;
  for (Value operand : operands) {
    (isWeakConstant(operand) ? weak : strong).push_back(elementOf(operand));
  }
  Decision decision{widest(strong.empty() ? weak : strong), Rule::Promote, ""};
  bool mixed = !strong.empty() && !llvm::all_equal(strong);
  decision.reason = mixed && !llvm::is_contained(strong, decision.element)
                        ? "no 16-bit type holds both f16 and bf16"
                        : "the widest operand is " + toText(decision.element);
  return decision;
}

static Decision follow(PrecisionOpInterface op, ArrayRef<Value> operands) {
  Value followed = operands.front();
  unsigned index = op.getFollowedOperand();
  if (index < op->getNumOperands() && isCastable(op, op->getOpOperand(index))) {
    followed = op->getOperand(index);
  }
  FloatType element = elementOf(followed);
  return {element, Rule::Follow, "follows an operand of " + toText(element)};
}

static Decision applyClass(PrecisionOpInterface op, AutocastClass autocastClass,
                           ArrayRef<Value> operands, const Policy &policy) {
  switch (autocastClass) {
  case AutocastClass::Lower:
    return {policy.low, Rule::Lower, "runs in the 16-bit type"};
  case AutocastClass::Fp32:
    return {Float32Type::get(op.getContext()), Rule::Fp32,
            "needs the range or precision of f32"};
  case AutocastClass::Promote:
    return promote(operands);
  case AutocastClass::Follow:
    return follow(op, operands);
  }
  llvm_unreachable("unknown autocast class");
}

/// Why `operand` does not fit `element`; empty when it does. A number of rank 0
/// must keep its precision too: an epsilon that becomes zero guards nothing.
static StringRef misfit(Value operand, FloatType element) {
  if (elementOf(operand) == element || element.getWidth() > 16) {
    return "";
  }
  DenseElementsAttr attr = getInlineConstant(operand);
  if (!attr) {
    return "";
  }
  std::optional<NarrowingLoss> loss = measureNarrowing(attr, element);
  if (!loss) {
    return "";
  }
  if (loss->overflow) {
    return "a constant is beyond the range of ";
  }
  bool lost = loss->subnormal || loss->flushed;
  return isWeakConstant(operand) && lost ? "a constant is too small for " : "";
}

/// What position, policy and class say; calibration may overrule it.
static Decision decideByClass(PrecisionOpInterface op, const Policy &policy,
                              const llvm::DenseSet<Operation *> &exact,
                              ArrayRef<Value> operands) {
  auto fp32 = Float32Type::get(op.getContext());
  if (policy.defaults == DefaultTypes::Keep) {
    return {{}, Rule::Kept, "mixed precision is off"};
  }
  if (policy.defaults == DefaultTypes::Fp32) {
    return {fp32, Rule::Default, "no rule matches, and the default is fp32"};
  }
  AutocastClass autocastClass = policy.normOutput == NormOutput::Fp32
                                    ? op.getEagerAutocastClass()
                                    : op.getAutocastClass();
  bool lowered = policy.pure || autocastClass == AutocastClass::Lower;
  if (lowered && exact.contains(op)) {
    return {fp32, Rule::Position,
            "computes a position that ends in an angle or an index"};
  }
  if (policy.pure) {
    return {policy.low, Rule::Pure, "everything runs in the 16-bit type"};
  }
  Decision decision = applyClass(op, autocastClass, operands, policy);
  for (Value operand : operands) {
    StringRef why = misfit(operand, decision.element);
    bool saturates = policy.constants == ConstantPolicy::Saturate &&
                     why.starts_with("a constant is beyond");
    if (!why.empty() && !saturates) {
      return {fp32, Rule::Constant, why.str() + toText(decision.element)};
    }
  }
  return decision;
}

Decision precision::decide(PrecisionOpInterface op, const Policy &policy,
                           const llvm::DenseSet<Operation *> &exact) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    if (isCastable(op, operand)) {
      operands.push_back(operand.get());
    }
  }
  if (operands.empty()) {
    bool touches = llvm::any_of(op->getOperandTypes(), isAutocastEligible) ||
                   llvm::any_of(op->getResultTypes(), isAutocastEligible);
    if (!touches || op->getNumOperands() == 0) {
      return {};
    }
    return {{}, Rule::Pinned, "keeps the types that the model gives it"};
  }
  if (const Override *forced = policy.overrides.find(op)) {
    return {forced->type, Rule::Override, "asked for by '" + forced->text + "'",
            forced->isTf32};
  }
  Decision decision = decideByClass(op, policy, exact, operands);
  if (!decision.element || decision.element.getWidth() > 16 ||
      policy.calibrated.empty()) {
    return decision;
  }
  NodeNames nodes = getNodeNames(op.getLoc());
  if (llvm::any_of(nodes.paths, [&](StringRef path) {
        return policy.calibrated.contains(path);
      })) {
    return {Float32Type::get(op.getContext()), Rule::Calibration,
            "its values leave the range of " + toText(decision.element) +
                " on the calibration data"};
  }
  return decision;
}
