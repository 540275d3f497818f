//===- Contraction.cpp - Gradients of products and convolutions -----------===//
#include "dialects/Amp/Gradient/Models.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

namespace {
/// The gradient of a contraction's result as an operand of further ones.
Value asOperand(Calculus &c, Value result, Value operand) {
  return c.cast(c.stored(result), c.elementOf(operand));
}

/// One matrix out of many that share the other operand: [.., m, k] as [M, k].
Value flatten(Calculus &c, Value value) {
  ArrayRef<int64_t> shape = c.shapeOf(value);
  int64_t rows = 1;
  for (int64_t size : shape.drop_back()) {
    rows *= size;
  }
  return c.reshape(value, {rows, shape.back()});
}

/// With a transposed operand the gradient of what is stored is the transposed
/// product.
void differentiateMatmul(MatmulOp op, Calculus &c) {
  Value a = op.getLhs(), b = op.getRhs();
  bool isLhsTransposed = op.getTransposeLhs();
  bool isRhsTransposed = op.getTransposeRhs();
  Value g = asOperand(c, op.getResult(), a);
  auto elementFor = [&](Value operand) {
    return c.gradients.getElementType(operand);
  };
  // Every batch of the left operand meets one matrix: a single tall product.
  bool isShared = c.typeOf(b).getRank() == 2 && !isLhsTransposed;
  Value tallA = isShared ? flatten(c, a) : a;
  Value tallG = isShared ? flatten(c, g) : g;
  if (c.wants(a)) {
    Value product =
        isLhsTransposed
            ? c.matmul(b, isRhsTransposed, g, true, elementFor(a))
            : c.matmul(tallG, false, b, !isRhsTransposed, elementFor(a));
    c.give(a, isShared ? c.reshape(product, c.shapeOf(a)) : product);
  }
  if (c.wants(b)) {
    Value product =
        isRhsTransposed
            ? c.matmul(tallG, true, tallA, isLhsTransposed, elementFor(b))
            : c.matmul(tallA, !isLhsTransposed, tallG, false, elementFor(b));
    c.give(b, product);
  }
  if (c.wants(op.getBias())) {
    c.give(op.getBias(), c.of(op.getResult()));
  }
}

/// Sums over all but the channels.
void giveBias(Calculus &c, Value bias, Value result, Layout layout) {
  if (!c.wants(bias)) {
    return;
  }
  Value g = c.of(result);
  int64_t rank = c.typeOf(g).getRank();
  int64_t channel = layout == Layout::ChannelsLast ? rank - 1 : 1;
  SmallVector<int64_t> axes = axesFrom(g, 0);
  axes.erase(axes.begin() + channel);
  c.give(bias, c.reshape(c.sum(g, axes), c.shapeOf(bias)));
}

/// What a sum in 16 bits would lose, its accumulators keep.
Type weightElement(Calculus &c, Value weight) {
  Type own = c.elementOf(weight);
  return c.gradients.getElementType(weight) == own ? own
                                                   : getAccumulatorType(own);
}

template <typename OpT>
void giveWeight(OpT op, Calculus &c, Value input, Value gradient) {
  Value weight = op.getWeight();
  if (!c.wants(weight)) {
    return;
  }
  auto type = c.typeOf(weight).clone(weightElement(c, weight));
  c.give(weight, ConvWeightGradientOp::create(c.b, c.loc, type, input, gradient,
                                              c.shapeOf(weight).drop_front(2),
                                              op.getStrides(), op.getPads(),
                                              op.getDilations(), op.getGroup(),
                                              op.getLayout()));
}

void differentiateConv(ConvOp op, Calculus &c) {
  Value input = op.getInput(), weight = op.getWeight();
  Value g = asOperand(c, op.getResult(), input);
  bool last = op.getLayout() == Layout::ChannelsLast;
  if (c.wants(input)) {
    // What the windows leave over at the end gets no gradient.
    SmallVector<int64_t> rest;
    size_t rank = op.getStrides().size();
    for (size_t i = 0; i < rank; ++i) {
      size_t dim = i + (last ? 1 : 2);
      int64_t covered = op.getStrides()[i] * (c.shapeOf(g)[dim] - 1) +
                        (c.shapeOf(weight)[i + 2] - 1) * op.getDilations()[i] +
                        1 - op.getPads()[i] - op.getPads()[i + rank];
      rest.push_back(c.shapeOf(input)[dim] - covered);
    }
    c.give(input, ConvTransposeOp::create(c.b, c.loc, input.getType(), g,
                                          weight, Value(), op.getStrides(),
                                          op.getPads(), op.getDilations(), rest,
                                          op.getGroup(), op.getLayout()));
  }
  giveWeight(op, c, input, g);
  giveBias(c, op.getBias(), op.getResult(), op.getLayout());
}

/// The same with the parts of input and result exchanged.
void differentiateConvTranspose(ConvTransposeOp op, Calculus &c) {
  Value input = op.getInput();
  Value g = asOperand(c, op.getResult(), input);
  // A convolution leaves out what the output padding added at the end.
  SmallVector<int64_t> pads(op.getPads());
  size_t rank = op.getStrides().size();
  for (size_t i = 0; i < rank; ++i) {
    pads[i + rank] -= op.getOutputPadding()[i];
  }
  if (c.wants(input)) {
    c.give(input,
           ConvOp::create(c.b, c.loc, input.getType(), g, op.getWeight(),
                          Value(), op.getStrides(), pads, op.getDilations(),
                          op.getGroup(), op.getLayout()));
  }
  giveWeight(op, c, g, input);
  giveBias(c, op.getBias(), op.getResult(), op.getLayout());
}
} // namespace

void grad::attachContraction(MLIRContext *context) {
  attach<differentiateMatmul, differentiateConv, differentiateConvTranspose>(
      context);
}
