//===- Attention.cpp - The gradient of attention --------------------------===//
// With S = scale Q K^T + mask and P = softmax(S): dV = P^T dO, dP = dO V^T,
// dS = P (dP - rowsum(dP P)), dQ = scale dS K, dK = scale dS^T Q. P is computed
// anew. See Dao, "FlashAttention-2", 2023, section 2.3.
#include "dialects/Amp/Gradient/Models.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

namespace {
class AttentionGradient {
public:
  AttentionGradient(AttentionOp op, Calculus &c)
      : op(op), c(c), element(c.elementOf(op.getQuery())),
        q(c.shapeOf(op.getQuery())), k(c.shapeOf(op.getKey())) {}

  void build() {
    int64_t share = k[1] == 0 ? 1 : q[1] / k[1];
    Value query = op.getQuery(), key = spread(op.getKey(), share),
          value = spread(op.getValue(), share);
    Value bounded; // tanh of the softcap
    Value p = probabilities(query, key, bounded);
    Value out = c.cast(c.stored(op.getResult()), element);
    if (c.wants(op.getValue())) {
      giveShared(op.getValue(),
                 c.matmul(c.cast(p, element), true, out, false, f32(p)), share);
    }
    Value mask = op.getMask();
    bool wantsMask = mask && isa<FloatType>(c.elementOf(mask)) && c.wants(mask);
    if (!c.wants(query) && !c.wants(op.getKey()) && !wantsMask) {
      return;
    }
    Value ofP = c.matmul(out, false, value, true, f32(p));
    Value total = c.sum(c.mul(ofP, p), 3);
    Value ofS = c.mul(p, c.sub(ofP, total));
    if (wantsMask) {
      c.give(mask, ofS);
    }
    if (bounded) {
      ofS = c.mul(ofS, c.plus(c.neg(c.square(bounded)), 1));
    }
    ofS = c.cast(c.scale(ofS, op.getScale().convertToDouble()), element);
    if (c.wants(query)) {
      c.give(query, c.matmul(ofS, false, key, false,
                             c.gradients.getElementType(query)));
    }
    if (c.wants(op.getKey())) {
      giveShared(op.getKey(), c.matmul(ofS, true, query, false, f32(p)), share);
    }
  }

private:
  static Type f32(Value wide) { return Calculus::elementOf(wide); }

  /// A head for each query head.
  Value spread(Value value, int64_t share) {
    if (share == 1) {
      return value;
    }
    SmallVector<int64_t> shape(c.shapeOf(value)), split(shape), wide;
    split.insert(split.begin() + 2, 1);
    wide = split;
    wide[2] = share;
    shape[1] *= share;
    return c.reshape(c.broadcast(c.reshape(value, split), wide), shape);
  }

  /// Sums what the query heads give to the one they share.
  void giveShared(Value operand, Value value, int64_t share) {
    if (share != 1) {
      SmallVector<int64_t> split(c.shapeOf(operand));
      split.insert(split.begin() + 2, share);
      value = c.reshape(c.sum(c.reshape(value, split), 2), c.shapeOf(operand));
    }
    c.give(operand, value);
  }

  /// softmax(scale Q K^T + mask), zero in rows with nothing left.
  Value probabilities(Value query, Value key, Value &bounded) {
    Type wide = getComputeType(element);
    Value s = c.matmul(query, false, key, true, wide);
    s = c.scale(s, op.getScale().convertToDouble());
    if (double cap = op.getSoftcap().convertToDouble(); cap > 0) {
      bounded = c.apply<TanhOp>(c.scale(s, 1 / cap));
      s = c.scale(bounded, cap);
    }
    Value allowed;
    if (Value mask = op.getMask()) {
      if (isa<FloatType>(c.elementOf(mask))) {
        s = c.add(s, c.cast(mask, wide));
      } else {
        allowed = mask;
      }
    }
    if (op.getCausal()) {
      auto type = RankedTensorType::get({q[2], k[2]}, c.b.getI64Type());
      Value row = IotaOp::create(c.b, c.loc, type, 0);
      Value column = IotaOp::create(c.b, c.loc, type, 1);
      if (op.getCausalAlignEnd() && k[2] != q[2]) {
        auto shift = DenseElementsAttr::get(
            RankedTensorType::get({}, c.b.getI64Type()), k[2] - q[2]);
        row = c.add(row, ConstantOp::create(c.b, c.loc, shift));
      }
      Value before = c.compare(column, ComparePredicate::LE, row);
      allowed = allowed ? c.both(allowed, before) : before;
    }
    if (allowed) {
      s = c.select(allowed, s,
                   c.constant(s, -std::numeric_limits<double>::infinity()));
    }
    Value p = SoftmaxOp::create(c.b, c.loc, s, 3);
    // A row of -inf makes NaN.
    if (allowed || op.getMask()) {
      Value highest = ReduceMaxOp::create(c.b, c.loc, s, ArrayRef<int64_t>{3},
                                          /*keepdims=*/true);
      Value alive = c.compare(highest, ComparePredicate::NE,
                              -std::numeric_limits<double>::infinity());
      p = c.where(alive, p);
    }
    return p;
  }

  AttentionOp op;
  Calculus &c;
  Type element;
  ArrayRef<int64_t> q, k;
};

void differentiateAttention(AttentionOp op, Calculus &c) {
  AttentionGradient(op, c).build();
}
} // namespace

void grad::attachAttention(MLIRContext *context) {
  attach<differentiateAttention>(context);
}
