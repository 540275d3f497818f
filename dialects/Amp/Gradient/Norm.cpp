//===- Norm.cpp - Gradients of normalizations -----------------------------===//
#include "dialects/Amp/Gradient/Models.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

namespace {
/// 1 / sqrt(value + epsilon).
Value inverseRoot(Calculus &c, Value value, APFloat epsilon) {
  return c.apply<RsqrtOp>(c.plus(value, epsilon.convertToDouble()));
}

/// The gradient of a row that was normalized to `unit` = (x - mean) * inverse,
/// given that of `unit`: inverse (g - mean(g) - unit mean(g unit)).
Value unnormalize(Calculus &c, Value g, Value unit, Value inverse,
                  ArrayRef<int64_t> axes, bool isCentred) {
  Value along = c.mul(unit, c.mean(c.mul(g, unit), axes));
  Value rest = c.sub(g, along);
  if (isCentred) {
    rest = c.sub(rest, c.mean(g, axes));
  }
  return c.mul(rest, inverse);
}

/// (x - mean) * inverse and inverse.
std::pair<Value, Value> normalize(Calculus &c, Value x, APFloat epsilon,
                                  ArrayRef<int64_t> axes, bool isCentred) {
  Value centred = isCentred ? c.sub(x, c.mean(x, axes)) : x;
  Value inverse = inverseRoot(c, c.mean(c.square(centred), axes), epsilon);
  return {c.mul(centred, inverse), inverse};
}

/// Layer norm and, without a mean, RMS norm.
void differentiateRow(Calculus &c, Value input, Value scale, Value bias,
                      Value result, int64_t axis, APFloat epsilon,
                      bool isCentred) {
  Value x = c.wide(input), g = c.of(result);
  SmallVector<int64_t> axes = axesFrom(x, axis);
  auto [unit, inverse] = normalize(c, x, epsilon, axes, isCentred);
  if (c.wants(scale)) {
    c.give(scale, c.mul(g, unit));
  }
  if (c.wants(bias)) {
    c.give(bias, g);
  }
  if (c.wants(input)) {
    Value ofUnit = scale ? c.mul(g, c.wide(scale)) : g;
    c.give(input, unnormalize(c, ofUnit, unit, inverse, axes, isCentred));
  }
}

void differentiateLayerNorm(LayerNormOp op, Calculus &c) {
  differentiateRow(c, op.getInput(), op.getScale(), op.getBias(),
                   op.getResult(), op.getAxis(), op.getEpsilon(), true);
}

void differentiateRmsNorm(RmsNormOp op, Calculus &c) {
  differentiateRow(c, op.getInput(), op.getScale(), Value(), op.getResult(),
                   op.getAxis(), op.getEpsilon(), false);
}

void differentiateGroupNorm(GroupNormOp op, Calculus &c) {
  SmallVector<int64_t> shape(c.shapeOf(op.getInput()));
  bool last = op.getLayout() == Layout::ChannelsLast;
  auto groups = static_cast<int64_t>(op.getGroups());
  // The channels as groups of neighbours, each normalized with all positions.
  int64_t at = last ? static_cast<int64_t>(shape.size()) - 1 : 1;
  int64_t channels = shape[at];
  SmallVector<int64_t> split(shape);
  split[at] = groups;
  split.insert(split.begin() + at + 1, channels / std::max<int64_t>(groups, 1));
  SmallVector<int64_t> axes, perChannel(split.size(), 1);
  for (int64_t i = 1; i < static_cast<int64_t>(split.size()); ++i) {
    if (i != at) {
      axes.push_back(i);
    }
  }
  perChannel[at] = groups;
  perChannel[at + 1] = split[at + 1];
  auto spread = [&](Value value) { return c.reshape(c.wide(value), split); };
  Value x = spread(op.getInput()), g = spread(c.stored(op.getResult()));
  auto [unit, inverse] = normalize(c, x, op.getEpsilon(), axes, true);
  auto giveChannel = [&](Value operand, Value value) {
    c.give(operand, c.reshape(c.sumTo(value, perChannel), c.shapeOf(operand)));
  };
  if (c.wants(op.getScale())) {
    giveChannel(op.getScale(), c.mul(g, unit));
  }
  if (c.wants(op.getBias())) {
    giveChannel(op.getBias(), g);
  }
  if (c.wants(op.getInput())) {
    Value ofUnit = op.getScale()
                       ? c.mul(g, c.reshape(c.wide(op.getScale()), perChannel))
                       : g;
    c.give(op.getInput(),
           c.reshape(unnormalize(c, ofUnit, unit, inverse, axes, true), shape));
  }
}

/// With given statistics an affine function of each channel.
void differentiateBatchNorm(BatchNormOp op, Calculus &c) {
  bool last = op.getLayout() == Layout::ChannelsLast;
  int64_t rank = c.typeOf(op.getInput()).getRank();
  SmallVector<int64_t> perChannel(rank, 1);
  perChannel[last ? rank - 1 : 1] = c.typeOf(op.getScale()).getNumElements();
  auto spread = [&](Value value) {
    return c.reshape(c.wide(value), perChannel);
  };
  auto giveChannel = [&](Value operand, Value value) {
    c.give(operand, c.reshape(c.sumTo(value, perChannel), c.shapeOf(operand)));
  };
  Value g = c.of(op.getResult());
  Value inverse =
      spread(inverseRoot(c, c.wide(op.getVariance()), op.getEpsilon()));
  Value centred = c.sub(c.wide(op.getInput()), spread(op.getMean()));
  Value ofInput = c.mul(g, c.mul(spread(op.getScale()), inverse));
  if (c.wants(op.getScale())) {
    giveChannel(op.getScale(), c.mul(g, c.mul(centred, inverse)));
  }
  if (c.wants(op.getBias())) {
    giveChannel(op.getBias(), g);
  }
  if (c.wants(op.getMean())) {
    giveChannel(op.getMean(), c.neg(ofInput));
  }
  if (c.wants(op.getVariance())) {
    Value slope = c.scale(c.square(inverse), -0.5);
    giveChannel(op.getVariance(), c.mul(c.mul(ofInput, centred), slope));
  }
  if (c.wants(op.getInput())) {
    c.give(op.getInput(), ofInput);
  }
}
} // namespace

void grad::attachNorm(MLIRContext *context) {
  attach<differentiateLayerNorm, differentiateRmsNorm, differentiateGroupNorm,
         differentiateBatchNorm>(context);
}
