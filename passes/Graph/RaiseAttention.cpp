//===- RaiseAttention.cpp - softmax(scale * Q K^T + mask) V to one op -----===//
#include "passes/Graph/AttentionScores.h"
#include "passes/Graph/ChannelAffine.h"
#include "passes/Graph/ConstantMask.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/RaisePatterns.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::graph;

namespace {
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
  auto shape = getHeadShape(type.getShape(), false);
  return ReshapeOp::create(b, loc, type.clone(shape), value);
}

Value createFill(OpBuilder &b, Location loc, Type element, double fill) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, b.getFloatAttr(element, fill)));
}

/// The mask as a value to add to scores.
Value createAddedMask(OpBuilder &b, Location loc, const Mask &mask, Type wide) {
  if (!mask.isCondition) {
    return mask.isNegated
               ? NegOp::create(b, loc, mask.value.getType(), mask.value)
               : mask.value;
  }
  // In a wide type: a fill that is finite there must not become infinite.
  Value zero = createFill(b, loc, wide, 0.0);
  Value fill = createFill(b, loc, wide, mask.fill);
  return mask.isInverted ? SelectOp::create(b, loc, mask.value, fill, zero)
                         : SelectOp::create(b, loc, mask.value, zero, fill);
}

/// The condition to keep scores, where all masks are one with an infinite fill.
Value createCondition(OpBuilder &b, Location loc, ArrayRef<Mask> masks) {
  Value combined;
  for (const Mask &mask : llvm::reverse(masks)) {
    Value next = mask.value;
    if (mask.isInverted) {
      next = LogicalNotOp::create(b, loc, next.getType(), next);
    }
    combined = combined ? Value(AndOp::create(b, loc, combined, next)) : next;
  }
  return combined;
}

/// All masks as one; null when there are none.
Value combineMasks(OpBuilder &b, Location loc, ArrayRef<Mask> masks,
                   Type element) {
  bool asCondition = llvm::all_of(masks, [](const Mask &mask) {
    return mask.isCondition && std::isinf(mask.fill);
  });
  if (asCondition) {
    return createCondition(b, loc, masks);
  }
  Type wide = getParameterType(element);
  Value combined;
  for (const Mask &mask : llvm::reverse(masks)) {
    Value next = createAddedMask(b, loc, mask, wide);
    if (combined && tensorType(combined).getElementType() !=
                        tensorType(next).getElementType()) {
      combined = castElements(b, loc, combined, wide);
      next = castElements(b, loc, next, wide);
    }
    combined = combined ? Value(AddOp::create(b, loc, combined, next)) : next;
  }
  return combined;
}

struct RaiseAttention : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    auto attention = matchAttention(op);
    if (!attention) {
      return rewriter.notifyMatchFailure(op, "no attention of its own");
    }
    if (op.getType().getElementType().isF64()) {
      return rewriter.notifyMatchFailure(op, "the op works in f32");
    }
    rewrite(op, *attention, rewriter);
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
    Value mask = combineMasks(rewriter, loc, attention.masks,
                              op.getType().getElementType());
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
// Causal masks
//===----------------------------------------------------------------------===//

/// A constant mask that keeps the keys before each query is an attribute.
struct AbsorbCausalMask : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask() || op.getCausal()) {
      return rewriter.notifyMatchFailure(op, "no mask, or causal already");
    }
    int64_t queries = op.getQuery().getType().getDimSize(2);
    int64_t keys = op.getKey().getType().getDimSize(2);
    auto diagonal = matchCausalMask(op.getMask(), queries, keys);
    if (!diagonal || (*diagonal != 0 && *diagonal != keys - queries)) {
      return rewriter.notifyMatchFailure(op, "mask is not causal");
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.getMaskMutable().clear();
      op.setCausal(true);
      op.setCausalAlignEnd(*diagonal != 0);
    });
    return success();
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
  patterns.add<RaiseAttention, AbsorbCausalMask, AbsorbRepeatedHeads>(
      patterns.getContext());
}
