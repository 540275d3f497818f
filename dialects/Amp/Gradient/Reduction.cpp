//===- Reduction.cpp - Gradients of reductions and softmax ----------------===//
#include "dialects/Amp/Gradient/Models.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

namespace {
using P = ComparePredicate;

/// `reduced` with ones where `op` reduced dimensions.
template <typename OpT>
Value keepDims(OpT op, Calculus &c, Value reduced) {
  SmallVector<int64_t> shape(c.shapeOf(op.getInput()));
  for (int64_t axis : op.getAxes()) {
    shape[axis] = 1;
  }
  return c.reshape(reduced, shape);
}

void differentiateSum(ReduceSumOp op, Calculus &c) {
  c.give(op.getInput(), keepDims(op, c, c.of(op.getResult())));
}

void differentiateMean(ReduceMeanOp op, Calculus &c) {
  Value g = keepDims(op, c, c.of(op.getResult()));
  double count = 1;
  for (int64_t axis : op.getAxes()) {
    count *= static_cast<double>(c.shapeOf(op.getInput())[axis]);
  }
  c.give(op.getInput(), c.div(g, c.constant(g, count)));
}

/// The product of the others: with one zero in the row only that one has a
/// gradient, with more none has.
void differentiateProd(ReduceProdOp op, Calculus &c) {
  Value x = c.wide(op.getInput()), g = keepDims(op, c, c.of(op.getResult()));
  Value isZero = c.compare(x, P::EQ, 0);
  Value zeros =
      c.sum(c.select(isZero, c.constant(x, 1), c.constant(x, 0)), op.getAxes());
  Value factors = c.select(isZero, c.constant(x, 1), x);
  Value product = op.getAxes().empty()
                      ? factors
                      : ReduceProdOp::create(c.b, c.loc, factors, op.getAxes(),
                                             /*keepdims=*/true)
                            .getResult();
  Value ofZero = c.where(c.compare(zeros, P::EQ, 1), product);
  Value ofOther = c.where(c.compare(zeros, P::EQ, 0), c.div(product, factors));
  c.give(op.getInput(), c.mul(g, c.select(isZero, ofZero, ofOther)));
}

/// Equal extrema share the gradient, as PyTorch's amax and amin have it.
template <typename OpT>
void differentiateExtremum(OpT op, Calculus &c) {
  Value x = c.wide(op.getInput());
  Value y = keepDims(op, c, c.wide(op.getResult()));
  Value isBest = c.compare(x, P::EQ, y);
  Value mask = c.select(isBest, c.constant(x, 1), c.constant(x, 0));
  Value g = keepDims(op, c, c.of(op.getResult()));
  Value share = c.div(g, c.sum(mask, op.getAxes()));
  c.give(op.getInput(), c.where(isBest, share));
}

/// y (g - sum(g y)).
void differentiateSoftmax(SoftmaxOp op, Calculus &c) {
  Value y = c.wide(op.getResult()), g = c.of(op.getResult());
  Value total = c.sum(c.mul(g, y), static_cast<int64_t>(op.getAxis()));
  c.give(op.getInput(), c.mul(y, c.sub(g, total)));
}

/// g - exp(y) sum(g).
void differentiateLogSoftmax(LogSoftmaxOp op, Calculus &c) {
  Value y = c.wide(op.getResult()), g = c.of(op.getResult());
  Value total = c.sum(g, static_cast<int64_t>(op.getAxis()));
  c.give(op.getInput(), c.sub(g, c.mul(c.apply<ExpOp>(y), total)));
}
} // namespace

void grad::attachReduction(MLIRContext *context) {
  attach<differentiateSum, differentiateMean, differentiateProd,
         differentiateExtremum<ReduceMaxOp>, differentiateExtremum<ReduceMinOp>,
         differentiateSoftmax, differentiateLogSoftmax>(context);
}
