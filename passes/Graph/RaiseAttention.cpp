//===- RaiseAttention.cpp - softmax(scale * Q K^T + mask) V to one op -----===//
// Matched from the second product back: probabilities, masks, soft cap, scale,
// first product. Nothing is created before all of it has matched.
#include "passes/Graph/Match.h"
#include "passes/Graph/RaisePatterns.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::graph;

namespace {
/// Masks and scales that are looked through.
constexpr unsigned maxSteps = 8;
/// Wider heads are no attention heads; their products are better off alone.
constexpr int64_t maxHeadSize = 1024;
/// A value put in place of a score that is at least this low drowns any score
/// added to it, so that it may as well be added.
constexpr double drowningFill = -1e8;

/// Something that changes scores: an added mask, or a condition under which
/// they stay (`keep`), `fill` elsewhere.
struct Mask {
  Value value;
  bool isCondition = false;
  bool isInverted = false; ///< the condition excludes where true
  double fill = 0.0;
};

struct Attention {
  Value query, key, value;
  bool transposeQuery = false;
  bool transposeKey = false;   ///< the key is [..., D, T]
  bool transposeValue = false; ///< the value is [..., E, T]
  double scale = 1.0;
  double softcap = 0.0;
  SmallVector<Mask, 2> masks; ///< outermost first
};

/// The probabilities behind a rounding to the operands' type and behind a
/// selection of zero where a row had nothing left.
Value stripProbabilities(Value value) {
  if (auto narrow = value.getDefiningOp<CastOp>();
      narrow && narrow->hasOneUse() &&
      tensorType(narrow.getInput()).getElementType().isF32()) {
    value = narrow.getInput();
  }
  auto select = value.getDefiningOp<SelectOp>();
  auto test =
      select ? select.getCondition().getDefiningOp<IsNanOp>() : IsNanOp();
  if (test && test.getInput() == select.getOnFalse() &&
      getScalarConstant(select.getOnTrue()) == 0.0) {
    return select.getOnFalse();
  }
  return value;
}

/// Whether only the attention reads the probabilities, which reach it as
/// `last`.
bool isOnlyReadBy(Value probabilities, Value last) {
  return last.hasOneUse() &&
         (probabilities == last ||
          llvm::all_of(probabilities.getUsers(), [](Operation *user) {
            return isa<IsNanOp, SelectOp, CastOp>(user);
          }));
}

/// Whether scores can come out of `value`: a product behind scales and masks.
bool leadsToProduct(Value value) {
  for (unsigned step = 0; step < maxSteps; ++step) {
    if (value.getDefiningOp<MatmulOp>()) {
      return true;
    }
    if (auto scale = matchScale(value)) {
      value = scale->value;
    } else if (auto tanh = value.getDefiningOp<TanhOp>()) {
      value = tanh.getInput();
    } else if (auto add = value.getDefiningOp<AddOp>()) {
      value = add.getLhs().getType() == value.getType() ? add.getLhs()
                                                        : add.getRhs();
    } else {
      return false;
    }
  }
  return false;
}

/// Takes one mask off `scores`.
bool stripMask(Value &scores, Attention &attention) {
  if (auto add = scores.getDefiningOp<AddOp>()) {
    for (unsigned i : {0u, 1u}) {
      Value inner = add->getOperand(i);
      if (inner.getType() == scores.getType() && leadsToProduct(inner)) {
        attention.masks.push_back({add->getOperand(1 - i)});
        scores = inner;
        return true;
      }
    }
    return false;
  }
  auto select = scores.getDefiningOp<SelectOp>();
  for (bool inverted : {false, true}) {
    if (!select) {
      break;
    }
    Value inner = inverted ? select.getOnFalse() : select.getOnTrue();
    auto fill =
        getScalarConstant(inverted ? select.getOnTrue() : select.getOnFalse());
    if (fill && *fill <= drowningFill && inner.getType() == scores.getType()) {
      attention.masks.push_back(
          {select.getCondition(), /*isCondition=*/true, inverted, *fill});
      scores = inner;
      return true;
    }
  }
  return false;
}

/// Takes c * tanh(scores / c) off.
void stripSoftcap(Value &scores, Attention &attention) {
  auto outer = matchScale(scores);
  auto tanh = outer ? outer->value.getDefiningOp<TanhOp>() : TanhOp();
  auto inner = tanh ? matchScale(tanh.getInput()) : std::nullopt;
  if (inner && outer->scalar > 0.0) {
    attention.softcap = outer->scalar;
    attention.scale = inner->scalar * outer->scalar;
    scores = inner->value;
  }
}

/// Moves scales of `value` into `scale`.
void stripScale(Value &value, double &scale) {
  for (unsigned step = 0; step < maxSteps; ++step) {
    auto match = matchScale(value);
    if (!match) {
      return;
    }
    scale *= match->scalar;
    value = match->value;
  }
}

/// Reads `scores` back to the product of queries and keys.
LogicalResult matchScores(Value scores, Attention &attention) {
  for (unsigned step = 0; step < maxSteps; ++step) {
    if (!stripMask(scores, attention)) {
      break;
    }
  }
  stripSoftcap(scores, attention);
  stripScale(scores, attention.scale);
  auto product = scores.getDefiningOp<MatmulOp>();
  if (!product || product.getBias() || !product->hasOneUse()) {
    return failure();
  }
  attention.query = product.getLhs();
  attention.key = product.getRhs();
  attention.transposeQuery = product.getTransposeLhs();
  attention.transposeKey = !product.getTransposeRhs();
  stripScale(attention.query, attention.scale);
  stripScale(attention.key, attention.scale);
  return success(std::isfinite(attention.scale));
}

/// The shape of `value` as the op sees it, as rank 4.
SmallVector<int64_t> liftedShape(ArrayRef<int64_t> shape, bool transpose) {
  SmallVector<int64_t> lifted(shape);
  if (transpose) {
    std::swap(lifted[lifted.size() - 1], lifted[lifted.size() - 2]);
  }
  if (lifted.size() == 3) {
    lifted.insert(lifted.begin() + 1, 1);
  }
  return lifted;
}

bool fits(const Attention &attention, RankedTensorType result) {
  auto q = tensorType(attention.query), k = tensorType(attention.key),
       v = tensorType(attention.value);
  int64_t rank = result.getRank();
  if ((rank != 3 && rank != 4) || q.getRank() != rank || k.getRank() != rank ||
      v.getRank() != rank) {
    return false;
  }
  auto qs = liftedShape(q.getShape(), attention.transposeQuery);
  auto ks = liftedShape(k.getShape(), attention.transposeKey);
  auto vs = liftedShape(v.getShape(), attention.transposeValue);
  return qs[0] == ks[0] && ks[0] == vs[0] && qs[1] == ks[1] && ks[1] == vs[1] &&
         qs[3] == ks[3] && ks[2] == vs[2] && qs[3] <= maxHeadSize &&
         vs[3] <= maxHeadSize && q.getElementType() == k.getElementType() &&
         q.getElementType() == v.getElementType() &&
         q.getElementType() == result.getElementType();
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// `value` with its last two dimensions exchanged; a transposition that it
/// comes from is composed with.
Value exchangeLast(OpBuilder &b, Location loc, Value value) {
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorType(value).getRank()));
  if (auto transpose = value.getDefiningOp<TransposeOp>()) {
    permutation.assign(transpose.getPermutation().begin(),
                       transpose.getPermutation().end());
    value = transpose.getInput();
  }
  std::swap(permutation[permutation.size() - 1],
            permutation[permutation.size() - 2]);
  if (llvm::is_sorted(permutation)) {
    return value;
  }
  return TransposeOp::create(b, loc, value, permutation);
}

/// Gives a rank-3 `value` a dimension of one heads; a batch of rank 3 is a
/// batch of single heads.
Value lift(OpBuilder &b, Location loc, Value value) {
  auto type = tensorType(value);
  if (type.getRank() != 3) {
    return value;
  }
  auto shape = liftedShape(type.getShape(), false);
  return ReshapeOp::create(b, loc, type.clone(shape), value);
}

Value createFill(OpBuilder &b, Location loc, Type element, double fill) {
  auto type = RankedTensorType::get({}, element);
  APFloat number(fill);
  bool loses;
  number.convert(cast<FloatType>(element).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &loses);
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, number));
}

/// The mask as a value to add to scores, or as a condition to keep them where
/// it is one with an infinite fill.
Value createMask(OpBuilder &b, Location loc, const Mask &mask, Type element,
                 bool asCondition) {
  if (!mask.isCondition) {
    return mask.value;
  }
  if (asCondition) {
    return mask.isInverted
               ? LogicalNotOp::create(b, loc, mask.value.getType(), mask.value)
               : mask.value;
  }
  Value zero = createFill(b, loc, element, 0.0);
  Value fill = createFill(b, loc, element, mask.fill);
  return mask.isInverted ? SelectOp::create(b, loc, mask.value, fill, zero)
                         : SelectOp::create(b, loc, mask.value, zero, fill);
}

Value combineMasks(OpBuilder &b, Location loc, const Attention &attention,
                   Type element) {
  bool asCondition = llvm::all_of(attention.masks, [](const Mask &mask) {
    return mask.isCondition && std::isinf(mask.fill);
  });
  Value combined;
  for (const Mask &mask : llvm::reverse(attention.masks)) {
    Value next = createMask(b, loc, mask, element, asCondition);
    if (!combined) {
      combined = next;
    } else {
      combined = asCondition ? Value(AndOp::create(b, loc, combined, next))
                             : Value(AddOp::create(b, loc, combined, next));
    }
  }
  return combined;
}

struct RaiseAttention : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getBias() || op.getTransposeLhs()) {
      return rewriter.notifyMatchFailure(op, "not a plain product");
    }
    if (op.getType().getElementType().isF64()) {
      return rewriter.notifyMatchFailure(op, "the op works in f32");
    }
    Value probabilities = stripProbabilities(op.getLhs());
    auto softmax = probabilities.getDefiningOp<SoftmaxOp>();
    if (!softmax ||
        static_cast<int64_t>(softmax.getAxis()) !=
            softmax.getType().getRank() - 1 ||
        !isOnlyReadBy(probabilities, op.getLhs())) {
      return rewriter.notifyMatchFailure(op, "no probabilities of its own");
    }
    Attention attention;
    attention.value = op.getRhs();
    attention.transposeValue = op.getTransposeRhs();
    // A softmax in f32 between 16-bit products is what the op computes.
    Value scores = softmax.getInput();
    if (auto widen = scores.getDefiningOp<CastOp>();
        widen && widen.getType().getElementType().isF32() &&
        tensorType(widen.getInput()).getElementType() ==
            tensorType(attention.value).getElementType()) {
      scores = widen.getInput();
    }
    if (failed(matchScores(scores, attention)) ||
        !fits(attention, op.getType())) {
      return rewriter.notifyMatchFailure(op, "no product of queries and keys");
    }
    rewrite(op, attention, rewriter);
    return success();
  }

  static void rewrite(MatmulOp op, const Attention &attention,
                      PatternRewriter &rewriter) {
    SmallVector<Value> leaves{attention.query, attention.key, attention.value};
    for (const Mask &mask : attention.masks) {
      leaves.push_back(mask.value);
    }
    Location loc = fuseLocations(op, leaves);
    auto operand = [&](Value value, bool transpose) {
      return lift(rewriter, loc,
                  transpose ? exchangeLast(rewriter, loc, value) : value);
    };
    Value query = operand(attention.query, attention.transposeQuery);
    Value key = operand(attention.key, attention.transposeKey);
    Value value = operand(attention.value, attention.transposeValue);
    Value mask =
        combineMasks(rewriter, loc, attention, op.getType().getElementType());
    if (mask && op.getType().getRank() == 3) {
      mask = lift(rewriter, loc, mask);
    }
    auto type = op.getType().clone(
        {tensorType(query).getDimSize(0), tensorType(query).getDimSize(1),
         tensorType(query).getDimSize(2), tensorType(value).getDimSize(3)});
    Value result = AttentionOp::create(
        rewriter, loc, type, query, key, value, mask,
        rewriter.getF64FloatAttr(attention.scale), rewriter.getBoolAttr(false),
        rewriter.getBoolAttr(false),
        rewriter.getF64FloatAttr(attention.softcap));
    if (type != op.getType()) {
      result = ReshapeOp::create(rewriter, loc, op.getType(), result);
    }
    rewriter.replaceOp(op, result);
  }
};

//===----------------------------------------------------------------------===//
// Repeated heads
//===----------------------------------------------------------------------===//

/// [B, Hk, T, D], where `value` repeats each of its heads for neighbouring
/// query heads.
Value matchRepeatedHeads(Value value) {
  auto merge = value.getDefiningOp<ReshapeOp>();
  auto repeat =
      merge ? merge.getInput().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!repeat || repeat.getType().getRank() != 5 ||
      tensorType(repeat.getInput()).getRank() != 5) {
    return Value();
  }
  ArrayRef<int64_t> from = tensorType(repeat.getInput()).getShape();
  ArrayRef<int64_t> to = repeat.getType().getShape();
  ArrayRef<int64_t> merged = merge.getType().getShape();
  bool matches = from[2] == 1 && from[0] == to[0] && from[1] == to[1] &&
                 from[3] == to[3] && from[4] == to[4] && merged.size() == 4 &&
                 merged[0] == to[0] && merged[1] == to[1] * to[2] &&
                 merged[2] == to[3] && merged[3] == to[4];
  return matches ? repeat.getInput() : Value();
}

/// attention(q, repeat(k), repeat(v)): the op repeats heads itself.
struct AbsorbRepeatedHeads : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Value key = matchRepeatedHeads(op.getKey());
    Value value = matchRepeatedHeads(op.getValue());
    if (!key || !value ||
        tensorType(key).getDimSize(1) != tensorType(value).getDimSize(1)) {
      return rewriter.notifyMatchFailure(op, "heads are not repeated");
    }
    SmallVector<Value> leaves{op.getQuery(), key, value};
    if (op.getMask()) {
      leaves.push_back(op.getMask());
    }
    rewriter.modifyOpInPlace(op, [&] {
      op->setLoc(fuseLocations(op, leaves));
      op.getKeyMutable().assign(squeeze(rewriter, op.getLoc(), key));
      op.getValueMutable().assign(squeeze(rewriter, op.getLoc(), value));
    });
    return success();
  }

  static Value squeeze(OpBuilder &b, Location loc, Value value) {
    auto type = tensorType(value);
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + 2);
    return ReshapeOp::create(b, loc, type.clone(shape), value);
  }
};
} // namespace

void graph::populateRaiseAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseAttention, AbsorbRepeatedHeads>(patterns.getContext());
}
