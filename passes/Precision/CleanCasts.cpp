//===- CleanCasts.cpp - Remove and move casts without changing a value ----===//
#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Precision/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ampc::precision {
#define GEN_PASS_DEF_PRECISIONCLEANCASTSPASS
#include "passes/Precision/Passes.h.inc"

namespace {
/// The bits that `elements` of the element type of `typed` take.
int64_t bitsOf(Value sized, Value typed) {
  auto type = cast<RankedTensorType>(sized.getType());
  unsigned width =
      cast<RankedTensorType>(typed.getType()).getElementTypeBitWidth();
  return type.getNumElements() * static_cast<int64_t>(width);
}

/// The op that renames the elements of its one operand and whose result is
/// `value`; null if there is none.
PrecisionOpInterface getView(Operation *op) {
  auto fusable = dyn_cast_or_null<FusableOpInterface>(op);
  bool view = fusable && fusable.getFusionKind() == FusionKind::View &&
              op->getNumOperands() == 1 && op->getNumResults() == 1;
  return view ? dyn_cast<PrecisionOpInterface>(op) : PrecisionOpInterface();
}

/// Whether `value` leaves the function or region, and nothing else reads it.
bool isOnlyReturned(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [](Operation *op) {
           return op->hasTrait<OpTrait::IsTerminator>();
         });
}

/// cast(view(x)) -> view(cast(x)) when the view then writes fewer bytes.
struct CastBeforeView final : OpRewritePattern<amp::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(amp::CastOp op,
                                PatternRewriter &rewriter) const override {
    PrecisionOpInterface view = getView(op.getInput().getDefiningOp());
    if (!view || !op.getInput().hasOneUse()) {
      return rewriter.notifyMatchFailure(op, "no view of its own above it");
    }
    // Both orders write the view's result once as the cast's type.
    Value source = view->getOperand(0);
    if (bitsOf(source, op.getResult()) >= bitsOf(op.getResult(), source)) {
      return rewriter.notifyMatchFailure(op, "would not write fewer bytes");
    }
    rewriter.setInsertionPoint(view);
    auto narrow =
        amp::CastOp::create(rewriter, op.getLoc(),
                            cast<RankedTensorType>(source.getType())
                                .clone(getElementTypeOrSelf(op.getResult())),
                            source, op.getSaturate());
    rewriter.modifyOpInPlace(view, [&] {
      view->setOperand(0, narrow);
      view->getResult(0).setType(op.getResult().getType());
    });
    rewriter.replaceOp(op, view->getResult(0));
    return success();
  }
};

/// view(cast(x)) -> cast(view(x)) when the view then writes fewer bytes.
struct CastBehindView final : OpRewritePattern<amp::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(amp::CastOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getResult().hasOneUse()) {
      return rewriter.notifyMatchFailure(op, "more than one user");
    }
    PrecisionOpInterface view = getView(*op.getResult().user_begin());
    if (!view) {
      return rewriter.notifyMatchFailure(op, "not read by a view");
    }
    Value result = view->getResult(0);
    if (bitsOf(result, op.getInput()) >= bitsOf(op.getInput(), result)) {
      return rewriter.notifyMatchFailure(op, "would not write fewer bytes");
    }
    if (isa<amp::ReshapeOp>(*view) && isOnlyReturned(result)) {
      return rewriter.notifyMatchFailure(op, "belongs to what computes it");
    }
    Type wide = result.getType();
    rewriter.modifyOpInPlace(view, [&] {
      view->setOperand(0, op.getInput());
      result.setType(cast<RankedTensorType>(wide).clone(
          getElementTypeOrSelf(op.getInput())));
    });
    rewriter.setInsertionPointAfter(view);
    auto widened = amp::CastOp::create(rewriter, op.getLoc(), wide, result,
                                       op.getSaturate());
    rewriter.replaceAllUsesExcept(result, widened, widened);
    rewriter.eraseOp(op);
    return success();
  }
};

/// cast(reshape(x)) -> reshape(cast(x)) of a result. Both write as much, and
/// the cast stands beside what computes x, which a reshape does not move.
struct CastResultBeforeReshape final : OpRewritePattern<amp::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(amp::CastOp op,
                                PatternRewriter &rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<amp::ReshapeOp>();
    if (!reshape || !reshape->hasOneUse() || !isOnlyReturned(op)) {
      return rewriter.notifyMatchFailure(op, "no result of a reshape");
    }
    rewriter.setInsertionPoint(reshape);
    Value source = reshape.getInput();
    auto type = cast<RankedTensorType>(source.getType())
                    .clone(getElementTypeOrSelf(op.getResult()));
    Value converted = amp::CastOp::create(rewriter, op.getLoc(), type, source,
                                          op.getSaturate());
    rewriter.modifyOpInPlace(reshape, [&] {
      reshape->setOperand(0, converted);
      reshape->getResult(0).setType(op.getResult().getType());
    });
    rewriter.replaceOp(op, reshape->getResult(0));
    return success();
  }
};

/// Two equal casts, one of which dominates the other, are one.
struct MergeCasts final : OpRewritePattern<amp::CastOp> {
  MergeCasts(MLIRContext *context, DominanceInfo &dominance)
      : OpRewritePattern(context), dominance(dominance) {}

  LogicalResult matchAndRewrite(amp::CastOp op,
                                PatternRewriter &rewriter) const override {
    for (Operation *user : op.getInput().getUsers()) {
      auto other = dyn_cast<amp::CastOp>(user);
      if (!other || other == op || other.getType() != op.getType() ||
          other.getSaturate() != op.getSaturate()) {
        continue;
      }
      if (dominance.properlyDominates(other.getOperation(), op)) {
        merge(rewriter, op, other);
        return success();
      }
      if (dominance.properlyDominates(op.getOperation(), other)) {
        merge(rewriter, other, op);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "no equal cast");
  }

private:
  static void merge(PatternRewriter &rewriter, amp::CastOp op,
                    amp::CastOp into) {
    rewriter.replaceOp(op, into.getResult());
    // It may now be all that reads a view, and so move.
    rewriter.modifyOpInPlace(into, [] {});
  }

  DominanceInfo &dominance;
};

struct PrecisionCleanCastsPass final
    : impl::PrecisionCleanCastsPassBase<PrecisionCleanCastsPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](amp::CastOp op) { op.setFromModel(false); });
    RewritePatternSet patterns(&getContext());
    patterns.add<CastBeforeView, CastBehindView, CastResultBeforeReshape>(
        &getContext());
    patterns.add<MergeCasts>(&getContext(), getAnalysis<DominanceInfo>());
    FrozenRewritePatternSet frozen(std::move(patterns));
    GreedyRewriteConfig config;
    config.enableConstantCSE(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    // Each move makes the program write fewer bytes, so this ends.
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyPatternsGreedily(getOperation(), frozen, config))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace ampc::precision
