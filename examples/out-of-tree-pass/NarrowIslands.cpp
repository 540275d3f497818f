//===- NarrowIslands.cpp - Elementwise f32 between 16-bit neighbours ------===//
#include "Passes.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using ampc::PrecisionOpInterface;
using ampc::ScalarBodyOpInterface;
using ampc::amp::CastOp;

namespace example {
#define GEN_PASS_DEF_NARROWISLANDSPASS
#include "Passes.h.inc"

namespace {

/// The 16-bit value that `value` is the f32 form of; null if there is none.
Value getNarrowSource(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || cast.getFromModel()) {
    return {};
  }
  Type from = getElementTypeOrSelf(cast.getInput());
  bool isWidening = (from.isF16() || from.isBF16()) &&
                    getElementTypeOrSelf(cast.getResult()).isF32();
  return isWidening ? Value(cast.getInput()) : Value();
}

/// Whether `value` is used, and only by casts that round it to `type`.
bool isOnlyRoundedTo(Value value, Type type) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           auto cast = dyn_cast<CastOp>(user);
           return cast && !cast.getFromModel() && !cast.getSaturate() &&
                  getElementTypeOrSelf(cast.getResult()) == type;
         });
}

class NarrowIsland final
    : public OpInterfaceRewritePattern<PrecisionOpInterface> {
public:
  NarrowIsland(MLIRContext *context, int64_t minElements)
      : OpInterfaceRewritePattern(context), minElements(minElements) {}

  LogicalResult matchAndRewrite(PrecisionOpInterface op,
                                PatternRewriter &rewriter) const override {
    // Only an elementwise op promises to compute 16-bit floats in f32 and to
    // round once, whatever its operands.
    if (!isa<ScalarBodyOpInterface>(op.getOperation())) {
      return rewriter.notifyMatchFailure(op, "not elementwise");
    }
    SmallVector<Value> operands;
    Type narrow;
    if (failed(collectOperands(op, rewriter, operands, narrow)) ||
        failed(checkResults(op, rewriter, narrow))) {
      return failure();
    }
    rewriter.startOpModification(op);
    SmallVector<Value> before(op->getOperands());
    op->setOperands(operands);
    if (failed(op.updateResultTypes())) {
      op->setOperands(before);
      rewriter.cancelOpModification(op);
      return rewriter.notifyMatchFailure(op, "has no 16-bit form");
    }
    rewriter.finalizeOpModification(op);
    for (Value result : op->getResults()) {
      if (!ampc::isAutocastEligible(result.getType())) {
        continue;
      }
      for (Operation *cast : llvm::make_early_inc_range(result.getUsers())) {
        rewriter.replaceOp(cast, result);
      }
    }
    remark::passed(
        op.getLoc(),
        remark::RemarkOpts::name("narrowed").category("example-narrow-islands"))
        << op->getName().getStringRef() << " reads what was widened for it";
    return success();
  }

private:
  /// The operands of the narrowed op, and the one 16-bit type they have.
  static LogicalResult collectOperands(PrecisionOpInterface op,
                                       PatternRewriter &rewriter,
                                       SmallVector<Value> &operands,
                                       Type &narrow) {
    for (OpOperand &operand : op->getOpOperands()) {
      operands.push_back(operand.get());
      if (!ampc::isAutocastEligible(operand.get().getType())) {
        continue;
      }
      if (op.isPinnedOperand(operand.getOperandNumber())) {
        return rewriter.notifyMatchFailure(op, "an operand keeps its type");
      }
      operands.back() = getNarrowSource(operand.get());
      if (!operands.back()) {
        return rewriter.notifyMatchFailure(op, "an operand was not widened");
      }
      Type type = getElementTypeOrSelf(operands.back());
      if (narrow && type != narrow) {
        return rewriter.notifyMatchFailure(op, "operands of two 16-bit types");
      }
      narrow = type;
    }
    return success(narrow != nullptr);
  }

  LogicalResult checkResults(PrecisionOpInterface op, PatternRewriter &rewriter,
                             Type narrow) const {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || type.getNumElements() < minElements) {
        return rewriter.notifyMatchFailure(op, "too small");
      }
      if (ampc::isAutocastEligible(type) && !isOnlyRoundedTo(result, narrow)) {
        return rewriter.notifyMatchFailure(op, "a result is needed in f32");
      }
    }
    return success();
  }

  int64_t minElements;
};

struct NarrowIslandsPass final
    : impl::NarrowIslandsPassBase<NarrowIslandsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateNarrowIslandsPatterns(patterns, minElements);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      signalPassFailure();
    }
  }
};

} // namespace

void populateNarrowIslandsPatterns(RewritePatternSet &patterns,
                                   int64_t minElements) {
  patterns.add<NarrowIsland>(patterns.getContext(), minElements);
}

} // namespace example
