//===- InlineComposites.cpp - Replace each composite by its body ----------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Precision/CastInserter.h"
#include "passes/Precision/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ampc::precision {
#define GEN_PASS_DEF_PRECISIONINLINECOMPOSITESPASS
#include "passes/Precision/Passes.h.inc"

namespace {
/// The 16-bit type of the castable operands; null when they are f32.
FloatType getLowType(amp::CompositeOp op) {
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(input));
    if (!op.isPinnedOperand(i) && type && type.getWidth() == 16) {
      return type;
    }
  }
  return {};
}

/// Lets `op` read its castable operands as `low`. Its results keep their types
/// where the operation can hand on its accumulators, and are cast back to them
/// where not.
LogicalResult lowerOperands(PrecisionOpInterface op, FloatType low,
                            CastInserter &inserter) {
  SmallVector<Type> before(op->getResultTypes());
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (isAutocastEligible(operand.get().getType()) &&
        !op.isPinnedOperand(operand.getOperandNumber())) {
      Value narrow = inserter.cast(operand.get(), low, op);
      changed |= narrow != operand.get();
      operand.set(narrow);
    }
  }
  if (!changed) {
    return success();
  }
  if (failed(op.updateResultTypes())) {
    return failure();
  }
  auto infer = dyn_cast<InferTypeOpInterface>(op.getOperation());
  SmallVector<Type> inferred(op->getResultTypes());
  bool wide = infer && infer.isCompatibleReturnTypes(inferred, before);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (auto [result, type] : llvm::zip_equal(op->getResults(), before)) {
    if (wide) {
      result.setType(type);
    } else if (result.getType() != type) {
      auto back = amp::CastOp::create(builder, op.getLoc(), type, result);
      result.replaceAllUsesExcept(back, back);
    }
  }
  return success();
}

/// `value` as a tensor of `type`, which has its shape.
Value castTo(RewriterBase &rewriter, Location loc, Value value, Type type) {
  return value.getType() == type
             ? value
             : amp::CastOp::create(rewriter, loc, type, value).getResult();
}

LogicalResult inlineComposite(RewriterBase &rewriter, amp::CompositeOp op) {
  Block &body = op.getBody().front();
  FloatType low = getLowType(op);
  if (low && op.getAutocast() == AutocastClass::Lower) {
    CastInserter inserter;
    WalkResult lowered = body.walk<WalkOrder::PreOrder>([&](Operation *inner) {
      auto typed = dyn_cast<PrecisionOpInterface>(inner);
      bool lower = typed && typed.getAutocastClass() == AutocastClass::Lower;
      return lower && failed(lowerOperands(typed, low, inserter))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (lowered.wasInterrupted()) {
      return failure();
    }
  }
  rewriter.setInsertionPoint(op);
  SmallVector<Value> arguments;
  for (auto [input, argument] :
       llvm::zip_equal(op.getInputs(), body.getArguments())) {
    arguments.push_back(
        castTo(rewriter, op.getLoc(), input, argument.getType()));
  }
  auto yield = cast<amp::YieldOp>(body.getTerminator());
  rewriter.inlineBlockBefore(&body, op, arguments);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results;
  for (auto [value, result] :
       llvm::zip_equal(yield.getValues(), op.getOutputs())) {
    results.push_back(castTo(rewriter, op.getLoc(), value, result.getType()));
  }
  rewriter.eraseOp(yield);
  rewriter.replaceOp(op, results);
  return success();
}

struct PrecisionInlineCompositesPass final
    : impl::PrecisionInlineCompositesPassBase<PrecisionInlineCompositesPass> {
  using Base::Base;

  void runOnOperation() override {
    // Inner composites come first, so that each is inlined once.
    SmallVector<amp::CompositeOp> composites;
    getOperation().walk<WalkOrder::PostOrder>(
        [&](amp::CompositeOp op) { composites.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (amp::CompositeOp op : composites) {
      if (failed(inlineComposite(rewriter, op))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
} // namespace ampc::precision
