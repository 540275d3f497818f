//===- ExpandUpdates.cpp - Optimizers as operations of amp ----------------===//
#include "dialects/Amp/IR/Formula.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#include <cmath>

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGEXPANDUPDATESPASS
#include "passes/Training/Passes.h.inc"

namespace {
using P = amp::ComparePredicate;

/// Formulas of f32 numbers and i32 counts.
class Arithmetic : public amp::Formula {
public:
  using Formula::Formula;

  Value number(double value) { return Formula::number(b.getF32Type(), value); }
  Value integer(int32_t value) {
    return Formula::number(b.getI32Type(), value);
  }
  /// |x| < infinity: false of NaN.
  Value isFinite(Value x) {
    return compare(apply<amp::AbsOp>(x), P::LT, number(HUGE_VAL));
  }
  /// x^n for a positive base, as exp(n log x).
  Value power(Value x, Value n) { return amp::PowOp::create(b, loc, x, n); }
};

/// One sum tells both: a square is NaN where the unscaled gradient is not
/// finite, and no sum of other squares is NaN, though it may be infinite.
struct ExpandCheck : OpRewritePattern<train::CheckOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::CheckOp op,
                                PatternRewriter &b) const override {
    Arithmetic a(b, op.getLoc());
    Value g = op.getGradients(), scaled = a.mul(g, op.getMultiplier());
    Value squares =
        a.select(a.isFinite(scaled), a.mul(scaled, scaled), a.number(NAN));
    Value sum =
        amp::ReduceSumOp::create(b, op.getLoc(), squares, amp::axesFrom(g, 0),
                                 /*keepdims=*/false);
    b.replaceOp(op, {amp::IsNanOp::create(b, op.getLoc(), sum),
                     amp::SqrtOp::create(b, op.getLoc(), sum)});
    return success();
  }
};

struct ExpandUpdateScale : OpRewritePattern<train::UpdateScaleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::UpdateScaleOp op,
                                PatternRewriter &b) const override {
    Arithmetic a(b, op.getLoc());
    Value scale = op.getScale(), found = op.getFoundInf();
    Value lower = a.mul(scale, op.getBackoffFactor());
    // Never above the scale: a floor that lies there does not raise it.
    Value floor = amp::MinOp::create(b, op.getLoc(), scale, op.getFloor());
    lower = amp::MaxOp::create(b, op.getLoc(), lower, floor);
    Value count = a.add(op.getTracker(), a.integer(1));
    Value isDue = a.compare(count, P::EQ, op.getGrowthInterval());
    Value higher = a.mul(scale, op.getGrowthFactor());
    higher = a.select(a.isFinite(higher), higher, scale);
    Value zero = a.integer(0);
    b.replaceOp(op, {a.select(found, lower, a.select(isDue, higher, scale)),
                     a.select(found, zero, a.select(isDue, zero, count))});
    return success();
  }
};

struct ExpandClip : OpRewritePattern<train::ClipOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::ClipOp op,
                                PatternRewriter &b) const override {
    Arithmetic a(b, op.getLoc());
    Value one = a.number(1);
    Value factor = a.div(op.getMaxNorm(), a.add(op.getNorm(), a.number(1e-6)));
    factor = amp::MinOp::create(b, op.getLoc(), factor, one);
    Value isOn = a.compare(op.getMaxNorm(), P::GT, a.number(0));
    b.replaceOp(op, a.select(isOn, factor, one));
    return success();
  }
};

struct ExpandSgd : OpRewritePattern<train::SgdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::SgdOp op,
                                PatternRewriter &b) const override {
    Arithmetic a(b, op.getLoc());
    Value w = op.getParameter(), skip = op.getSkip();
    Value g = a.add(a.mul(op.getGradient(), op.getMultiplier()),
                    a.mul(w, op.getWeightDecay()));
    Value buffer = a.add(a.mul(op.getMomentumBuffer(), op.getMomentum()), g);
    Value move =
        op.getNesterov() ? a.add(g, a.mul(buffer, op.getMomentum())) : buffer;
    Value moved = a.sub(w, a.mul(move, op.getLearningRate()));
    b.replaceOp(op, {a.select(skip, w, moved),
                     a.select(skip, op.getMomentumBuffer(), buffer)});
    return success();
  }
};

struct ExpandAdam : OpRewritePattern<train::AdamOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::AdamOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Arithmetic a(b, loc);
    Value w = op.getParameter(), skip = op.getSkip(), one = a.number(1);
    Value rate = op.getLearningRate();
    Value g = a.mul(op.getGradient(), op.getMultiplier()), start = w;
    if (op.getDecoupled()) {
      start = a.mul(w, a.sub(one, a.mul(rate, op.getWeightDecay())));
    } else {
      g = a.add(g, a.mul(w, op.getWeightDecay()));
    }
    auto blend = [&](Value old, Value now, Value beta) {
      return a.add(a.mul(old, beta), a.mul(now, a.sub(one, beta)));
    };
    Value mean = blend(op.getMean(), g, op.getBeta1());
    Value square = blend(op.getSquare(), a.mul(g, g), op.getBeta2());
    Value step = amp::CastOp::create(
        b, loc, cast<RankedTensorType>(one.getType()), op.getStep());
    Value meanBias = a.sub(one, a.power(op.getBeta1(), step));
    Value squareBias = a.sub(one, a.power(op.getBeta2(), step));
    Value root = amp::SqrtOp::create(b, loc, square);
    Value rootBias = amp::SqrtOp::create(b, loc, squareBias);
    Value corrected = a.div(rate, meanBias);
    if (op.getEpsilonHat()) {
      Value isFirst = a.compare(op.getStep(), P::EQ, a.integer(0));
      corrected = a.select(isFirst, rate, a.mul(corrected, rootBias));
    } else {
      root = a.div(root, rootBias);
    }
    Value move = a.div(a.mul(mean, corrected), a.add(root, op.getEpsilon()));
    b.replaceOp(op, {a.select(skip, w, a.sub(start, move)),
                     a.select(skip, op.getMean(), mean),
                     a.select(skip, op.getSquare(), square)});
    return success();
  }
};

struct ExpandAdagrad : OpRewritePattern<train::AdagradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::AdagradOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Arithmetic a(b, loc);
    Value w = op.getParameter(), skip = op.getSkip(), one = a.number(1);
    Value g = a.add(a.mul(op.getGradient(), op.getMultiplier()),
                    a.mul(w, op.getWeightDecay()));
    Value sum = a.add(op.getSquareSum(), a.mul(g, g));
    Value before = a.cast(a.sub(op.getStep(), a.integer(1)), b.getF32Type());
    Value rate = a.div(op.getLearningRate(),
                       a.add(one, a.mul(before, op.getRateDecay())));
    Value root = amp::SqrtOp::create(b, loc, sum);
    Value move = a.div(a.mul(g, rate), a.add(root, op.getEpsilon()));
    b.replaceOp(op, {a.select(skip, w, a.sub(w, move)),
                     a.select(skip, op.getSquareSum(), sum)});
    return success();
  }
};

struct TrainingExpandUpdatesPass final
    : impl::TrainingExpandUpdatesPassBase<TrainingExpandUpdatesPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandCheck, ExpandUpdateScale, ExpandClip, ExpandSgd,
                 ExpandAdam, ExpandAdagrad>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
} // namespace ampc::training
