//===- RaiseNorms.cpp - Decomposed normalizations to one op ---------------===//
// First the core, x / sqrt(mean(x^2) + eps) with or without the mean taken off,
// in any spelling of the inverse root; then the scale, the bias and a pair of
// casts around it, each as a pattern of its own.
#include "passes/Graph/Match.h"
#include "passes/Graph/RaisePatterns.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::graph;

namespace {

/// r, where `value` is sqrt(r).
Value matchRoot(Value value) {
  if (auto root = value.getDefiningOp<SqrtOp>()) {
    return root.getInput();
  }
  auto power = matchWithScalar<PowOp>(value);
  return power && power->scalar == 0.5 ? power->value : Value();
}

/// r, where `value` is 1 / sqrt(r).
Value matchInverseRoot(Value value) {
  if (auto root = value.getDefiningOp<RsqrtOp>()) {
    return root.getInput();
  }
  if (auto reciprocal = value.getDefiningOp<ReciprocalOp>()) {
    return matchRoot(reciprocal.getInput());
  }
  if (auto quotient = value.getDefiningOp<DivOp>()) {
    bool isReciprocal = getScalarConstant(quotient.getLhs()) == 1.0 &&
                        quotient.getRhs().getType() == quotient.getType();
    return isReciprocal ? matchRoot(quotient.getRhs()) : Value();
  }
  auto power = matchWithScalar<PowOp>(value);
  return power && power->scalar == -0.5 ? power->value : Value();
}

struct Normalized {
  Value numerator, radicand;
};

/// Matches numerator / sqrt(radicand).
std::optional<Normalized> matchNormalized(Operation *op) {
  if (auto quotient = dyn_cast<DivOp>(op)) {
    if (Value radicand = matchRoot(quotient.getRhs())) {
      return Normalized{quotient.getLhs(), radicand};
    }
    return std::nullopt;
  }
  for (unsigned i : {0u, 1u}) {
    if (Value radicand = matchInverseRoot(op->getOperand(1 - i))) {
      return Normalized{op->getOperand(i), radicand};
    }
  }
  return std::nullopt;
}

/// The first of the normalized dimensions, when they are all trailing ones.
std::optional<int64_t> trailingAxis(ArrayRef<int64_t> axes, int64_t rank) {
  if (axes.empty() ||
      !llvm::equal(axes, llvm::seq(rank - int64_t(axes.size()), rank))) {
    return std::nullopt;
  }
  return axes.front();
}

/// x, where `value` is x minus its mean over `axes`.
Value matchCentred(Value value, ArrayRef<int64_t> axes) {
  auto difference = value.getDefiningOp<SubOp>();
  auto mean = difference ? matchMean(difference.getRhs()) : std::nullopt;
  bool matches = mean && isSameValue(mean->input, difference.getLhs()) &&
                 ArrayRef<int64_t>(mean->axes) == axes;
  return matches ? difference.getLhs() : Value();
}

template <typename OpT>
struct RaiseNorm : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    auto normalized = matchNormalized(op);
    if (!normalized || !isa<FloatType>(op.getType().getElementType()) ||
        normalized->numerator.getType() != op.getType()) {
      return rewriter.notifyMatchFailure(op, "no quotient by a square root");
    }
    double epsilon = 0.0;
    Value variance = normalized->radicand;
    if (auto sum = matchWithScalar<AddOp>(variance)) {
      variance = sum->value;
      epsilon = sum->scalar;
    }
    auto mean = matchMean(variance);
    Value deviation = mean ? matchSquare(mean->input) : Value();
    if (!deviation || !isSameValue(deviation, normalized->numerator)) {
      return rewriter.notifyMatchFailure(op, "no mean of the squared input");
    }
    auto axis = trailingAxis(mean->axes, op.getType().getRank());
    if (!axis || !(epsilon >= 0.0)) {
      return rewriter.notifyMatchFailure(op, "not over trailing dimensions");
    }
    auto axisAttr = rewriter.getI64IntegerAttr(*axis);
    auto epsilonAttr = rewriter.getF64FloatAttr(epsilon);
    if (Value input = matchCentred(deviation, mean->axes)) {
      Operation *norm =
          LayerNormOp::create(rewriter, fuseLocations(op, input), op.getType(),
                              input, Value(), Value(), axisAttr, epsilonAttr);
      rewriter.replaceOp(op, norm);
      return success();
    }
    Operation *norm =
        RmsNormOp::create(rewriter, fuseLocations(op, deviation), op.getType(),
                          deviation, Value(), axisAttr, epsilonAttr);
    rewriter.replaceOp(op, norm);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Scale and bias
//===----------------------------------------------------------------------===//

/// `value` as a parameter of a normalization from `axis` on: a constant or a
/// function argument whose shape broadcasts to the normalized dimensions once
/// leading ones are dropped. Null when it is none.
Value asNormParameter(Value value, RankedTensorType input, int64_t axis,
                      PatternRewriter &rewriter) {
  if (!isConstantExpression(value) && !isa<BlockArgument>(value)) {
    return Value();
  }
  auto type = tensorType(value);
  ArrayRef<int64_t> trailing = input.getShape().drop_front(axis);
  ArrayRef<int64_t> shape = type.getShape();
  while (shape.size() > trailing.size() && shape.front() == 1) {
    shape = shape.drop_front();
  }
  auto together = broadcastShapes(shape, trailing);
  if (!together || ArrayRef<int64_t>(*together) != trailing) {
    return Value();
  }
  if (shape == type.getShape()) {
    return value;
  }
  return ReshapeOp::create(rewriter, value.getLoc(), type.clone(shape), value);
}

/// The norm and the other operand of a commutative op of a norm that nothing
/// else reads.
template <typename NormOp, typename OpT>
std::pair<NormOp, Value> matchNormOperand(OpT op) {
  for (unsigned i : {0u, 1u}) {
    auto norm = op->getOperand(i).template getDefiningOp<NormOp>();
    if (norm && norm->hasOneUse() && norm.getType() == op.getType()) {
      return {norm, op->getOperand(1 - i)};
    }
  }
  return {};
}

/// norm(x) * scale: the scale becomes an operand.
template <typename NormOp>
struct AbsorbScale : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    auto [norm, other] = matchNormOperand<NormOp>(op);
    if (!norm || norm.getScale() || !hasNoBias(norm)) {
      return rewriter.notifyMatchFailure(op, "no norm without parameters");
    }
    Value scale =
        asNormParameter(other, op.getType(), norm.getAxis(), rewriter);
    if (!scale) {
      return rewriter.notifyMatchFailure(op, "factor is no parameter");
    }
    auto raised = cast<NormOp>(rewriter.clone(*norm));
    raised.getScaleMutable().assign(scale);
    raised->setLoc(rewriter.getFusedLoc({norm.getLoc(), op.getLoc()}));
    rewriter.replaceOp(op, raised);
    return success();
  }

  static bool hasNoBias(LayerNormOp norm) { return !norm.getBias(); }
  static bool hasNoBias(RmsNormOp) { return true; }
};

/// layer_norm(x) + bias: the bias becomes an operand.
struct AbsorbBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    auto [norm, other] = matchNormOperand<LayerNormOp>(op);
    if (!norm || norm.getBias()) {
      return rewriter.notifyMatchFailure(op, "no norm without bias");
    }
    Value bias = asNormParameter(other, op.getType(), norm.getAxis(), rewriter);
    if (!bias) {
      return rewriter.notifyMatchFailure(op, "summand is no parameter");
    }
    auto raised = cast<LayerNormOp>(rewriter.clone(*norm));
    raised.getBiasMutable().assign(bias);
    raised->setLoc(rewriter.getFusedLoc({norm.getLoc(), op.getLoc()}));
    rewriter.replaceOp(op, raised);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// cast(norm(cast(x : 16-bit) : f32)) : 16-bit. The op's arithmetic is f32 and
/// it rounds once in any case, so the casts say what it does anyway.
template <typename NormOp>
struct AbsorbCasts : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp op,
                                PatternRewriter &rewriter) const override {
    auto norm = op.getInput().getDefiningOp<NormOp>();
    if (!norm || !norm->hasOneUse() || op.getSaturate() ||
        !norm.getType().getElementType().isF32()) {
      return rewriter.notifyMatchFailure(op, "no f32 norm");
    }
    auto widen = norm.getInput().template getDefiningOp<CastOp>();
    Type element = op.getType().getElementType();
    if (!widen || widen.getInput().getType() != op.getType() ||
        !(element.isF16() || element.isBF16())) {
      return rewriter.notifyMatchFailure(op, "types do not return");
    }
    auto narrow = cast<NormOp>(rewriter.clone(*norm));
    narrow.getInputMutable().assign(widen.getInput());
    narrow.getResult().setType(op.getType());
    narrow->setLoc(
        rewriter.getFusedLoc({widen.getLoc(), norm.getLoc(), op.getLoc()}));
    rewriter.replaceOp(op, narrow);
    return success();
  }
};
} // namespace

void graph::populateRaiseNormPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseNorm<DivOp>, RaiseNorm<MulOp>, AbsorbScale<LayerNormOp>,
               AbsorbScale<RmsNormOp>, AbsorbBias, AbsorbCasts<LayerNormOp>,
               AbsorbCasts<RmsNormOp>>(patterns.getContext());
}
