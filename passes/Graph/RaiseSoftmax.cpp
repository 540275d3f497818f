//===- RaiseSoftmax.cpp - Decomposed softmax to one op --------------------===//
#include "passes/Graph/Match.h"
#include "passes/Graph/RaisePatterns.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::graph;

namespace {

/// The axis of a reduction over one axis of `input` that keeps its one.
template <typename ReduceOp>
std::optional<int64_t> matchRowReduction(Value result, Value input) {
  auto op = result.getDefiningOp<ReduceOp>();
  if (!op || !op.getKeepdims() || op.getAxes().size() != 1 ||
      !isSameValue(op.getInput(), input)) {
    return std::nullopt;
  }
  return op.getAxes().front();
}

/// x, where e is exp(x - max(x)) along `axis`.
Value matchShiftedExp(Value e, int64_t axis) {
  auto exp = e.getDefiningOp<ExpOp>();
  auto shifted = exp ? exp.getInput().getDefiningOp<SubOp>() : SubOp();
  if (!shifted || matchRowReduction<ReduceMaxOp>(shifted.getRhs(),
                                                 shifted.getLhs()) != axis) {
    return Value();
  }
  return shifted.getLhs();
}

/// exp(x - max(x)) / sum(exp(x - max(x))). Without the maximum it stays: a row
/// that overflows there must not become finite here.
LogicalResult raiseSoftmax(Operation *op, Value e, Value total,
                           PatternRewriter &rewriter) {
  auto axis = matchRowReduction<ReduceSumOp>(total, e);
  Value x = axis ? matchShiftedExp(e, *axis) : Value();
  if (!x || x.getType() != op->getResult(0).getType()) {
    return rewriter.notifyMatchFailure(op, "no quotient by a row's sum");
  }
  Operation *softmax =
      SoftmaxOp::create(rewriter, fuseLocations(op, x), x.getType(), x, *axis);
  rewriter.replaceOp(op, softmax);
  return success();
}

struct RaiseQuotientSoftmax : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op,
                                PatternRewriter &rewriter) const override {
    return raiseSoftmax(op, op.getLhs(), op.getRhs(), rewriter);
  }
};

struct RaiseProductSoftmax : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      auto inverse = op->getOperand(1 - i).getDefiningOp<ReciprocalOp>();
      if (inverse && succeeded(raiseSoftmax(op, op->getOperand(i),
                                            inverse.getInput(), rewriter))) {
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "no product with a reciprocal");
  }
};

/// log(softmax(x)), which loses what is far below the maximum.
struct RaiseLogSoftmax : OpRewritePattern<LogOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LogOp op,
                                PatternRewriter &rewriter) const override {
    auto softmax = op.getInput().getDefiningOp<SoftmaxOp>();
    if (!softmax) {
      return rewriter.notifyMatchFailure(op, "no logarithm of a softmax");
    }
    Location loc = rewriter.getFusedLoc({softmax.getLoc(), op.getLoc()});
    Operation *raised = LogSoftmaxOp::create(
        rewriter, loc, op.getType(), softmax.getInput(), softmax.getAxis());
    rewriter.replaceOp(op, raised);
    return success();
  }
};

/// y - log(sum(exp(y))) with y = x - max(x).
struct RaiseShiftedLogSoftmax : OpRewritePattern<SubOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SubOp op,
                                PatternRewriter &rewriter) const override {
    auto log = op.getRhs().getDefiningOp<LogOp>();
    auto sum =
        log ? log.getInput().getDefiningOp<ReduceSumOp>() : ReduceSumOp();
    auto exp = sum ? sum.getInput().getDefiningOp<ExpOp>() : ExpOp();
    if (!exp || !isSameValue(exp.getInput(), op.getLhs())) {
      return rewriter.notifyMatchFailure(op, "no logarithm of a row's sum");
    }
    auto axis = matchRowReduction<ReduceSumOp>(sum, exp);
    Value x = axis ? matchShiftedExp(exp, *axis) : Value();
    if (!x || x.getType() != op.getType()) {
      return rewriter.notifyMatchFailure(op, "no maximum taken off");
    }
    Operation *raised = LogSoftmaxOp::create(rewriter, fuseLocations(op, x),
                                             x.getType(), x, *axis);
    rewriter.replaceOp(op, raised);
    return success();
  }
};
} // namespace

void graph::populateRaiseSoftmaxPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseQuotientSoftmax, RaiseProductSoftmax, RaiseLogSoftmax,
               RaiseShiftedLogSoftmax>(patterns.getContext());
}
