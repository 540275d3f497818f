//===- Differentiate.cpp - Reverse-mode gradients of a function -----------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Interfaces/DifferentiableInterfaces.h"
#include "passes/Training/Passes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGDIFFERENTIATEPASS
#include "passes/Training/Passes.h.inc"

namespace {

/// Where the gradient of an operation comes from: "gradient of /fc/MatMul".
Location nameGradient(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    std::string text = "gradient of " + name.getName().str();
    return NameLoc::get(StringAttr::get(loc.getContext(), text),
                        name.getChildLoc());
  }
  auto fused = dyn_cast<FusedLoc>(loc);
  return fused ? FusedLoc::get(
                     llvm::map_to_vector(fused.getLocations(), nameGradient),
                     fused.getMetadata(), loc.getContext())
               : loc;
}

bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

RankedTensorType withElement(Value value, Type element) {
  return cast<RankedTensorType>(value.getType()).clone(element);
}

/// Walks a function's block backwards, from the cotangents of its results to
/// the gradients of its arguments.
class Differentiator final : public GradientBuilder {
public:
  /// `rounding`: to which type gradients of f32 arguments are rounded, if any.
  Differentiator(OpBuilder &b, func::FuncOp function, Type rounding)
      : GradientBuilder(b, function.getLoc()), function(function),
        rounding(rounding) {}

  LogicalResult run();

  Value getGradient(Value result) override;
  bool isWanted(Value operand) override { return active.contains(operand); }
  Type getElementType(Value value) override;
  void contribute(Value operand, Value contribution) override {
    assert(contribution.getType() ==
           withElement(operand, getElementType(operand)));
    contributions[operand].push_back(contribution);
  }

private:
  void findActive(Block &block);
  Value castTo(Value value, Type element) {
    return getElementTypeOrSelf(value.getType()) == element
               ? value
               : amp::CastOp::create(b, loc, withElement(value, element), value)
                     .getResult();
  }

  func::FuncOp function;
  Type rounding;
  llvm::DenseSet<Value> active; ///< what depends on a marked argument
  llvm::DenseMap<Value, SmallVector<Value, 2>> contributions;
  llvm::DenseMap<Value, Value> gradients;
};

void Differentiator::findActive(Block &block) {
  for (BlockArgument argument : block.getArguments()) {
    if (function.getArgAttr(argument.getArgNumber(), trainableName)) {
      active.insert(argument);
    }
  }
  for (Operation &op : block.without_terminator()) {
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return active.contains(operand); })) {
      for (Value result : op.getResults()) {
        if (isFloat(result)) {
          active.insert(result);
        }
      }
    }
  }
}

/// f32 for a 16-bit copy of a marked argument: the parts of its gradient are
/// summed there. Views between do not matter.
Type Differentiator::getElementType(Value value) {
  Type own = getElementTypeOrSelf(value.getType());
  if (!own.isF16() && !own.isBF16()) {
    return own;
  }
  Value source = value;
  while (Operation *op = source.getDefiningOp()) {
    if (!isa<amp::CastOp, amp::ReshapeOp, amp::TransposeOp>(op)) {
      return own;
    }
    source = op->getOperand(0);
  }
  return active.contains(source) ? Float32Type::get(b.getContext()) : own;
}

Value Differentiator::getGradient(Value result) {
  auto it = contributions.find(result);
  if (it == contributions.end()) {
    return Value();
  }
  Value &sum = gradients[result];
  if (sum) {
    return sum;
  }
  // 16-bit parts are summed in f32 and rounded once.
  Type own = getElementType(result);
  Type wide = own.isF64() ? own : Float32Type::get(b.getContext());
  bool isAlone = it->second.size() == 1;
  sum = isAlone ? it->second.front() : castTo(it->second.front(), wide);
  for (Value part : ArrayRef(it->second).drop_front()) {
    sum = amp::AddOp::create(b, loc, sum, castTo(part, wide));
  }
  sum = castTo(sum, own);
  return sum;
}

LogicalResult Differentiator::run() {
  Block &block = function.getBody().front();
  Operation *terminator = block.getTerminator();
  findActive(block);
  SmallVector<Operation *> forward;
  for (Operation &op : block.without_terminator()) {
    forward.push_back(&op);
  }
  b.setInsertionPoint(terminator);
  bool hasLoss = false;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    if (!function.getResultAttr(i, lossName)) {
      continue;
    }
    hasLoss = true;
    function.removeResultAttr(i, b.getStringAttr(lossName));
    Value loss = terminator->getOperand(i);
    unsigned at = function.getNumArguments();
    if (failed(function.insertArgument(at, loss.getType(), {}, loc))) {
      return failure();
    }
    if (active.contains(loss)) {
      contribute(loss, castTo(function.getArgument(at), getElementType(loss)));
    }
  }
  if (!hasLoss) {
    return success();
  }
  for (Operation *op : llvm::reverse(forward)) {
    bool isReached = llvm::any_of(op->getResults(), [&](Value result) {
      return contributions.contains(result);
    });
    if (!isReached || llvm::none_of(op->getOperands(), [&](Value operand) {
          return active.contains(operand);
        })) {
      continue;
    }
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable) {
      return op->emitOpError("has no gradient");
    }
    loc = nameGradient(op->getLoc());
    if (failed(differentiable.buildGradient(*this))) {
      return failure();
    }
  }
  loc = function.getLoc();
  SmallVector<Value> results;
  for (BlockArgument argument : block.getArguments()) {
    if (!active.contains(argument)) {
      continue;
    }
    Value gradient = getGradient(argument);
    if (!gradient) {
      auto type = cast<RankedTensorType>(argument.getType());
      gradient = amp::ConstantOp::create(
          b, loc, cast<ElementsAttr>(b.getZeroAttr(type)));
    } else if (Type own = getElementTypeOrSelf(gradient);
               rounding && own.isF32()) {
      gradient = castTo(castTo(gradient, rounding), own);
    }
    DictionaryAttr attrs = function.getArgAttrDict(argument.getArgNumber());
    NamedAttrList named;
    if (auto name = attrs.getAs<StringAttr>("amp.name")) {
      named.set("amp.name", b.getStringAttr(name.getValue() + ".gradient"));
    }
    if (failed(function.insertResult(function.getNumResults(),
                                     gradient.getType(),
                                     named.getDictionary(b.getContext())))) {
      return failure();
    }
    results.push_back(gradient);
  }
  terminator->insertOperands(terminator->getNumOperands(), results);
  return success();
}

struct TrainingDifferentiatePass final
    : impl::TrainingDifferentiatePassBase<TrainingDifferentiatePass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration()) {
      return;
    }
    if (!function.getBody().hasOneBlock()) {
      function.emitOpError("expected one block, got ")
          << function.getBody().getBlocks().size();
      return signalPassFailure();
    }
    OpBuilder b(&getContext());
    Type rounding;
    if (gradientType != GradientType::F32) {
      rounding = gradientType == GradientType::F16 ? Type(b.getF16Type())
                                                   : Type(b.getBF16Type());
    }
    if (failed(Differentiator(b, function, rounding).run())) {
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace ampc::training
