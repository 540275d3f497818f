//===- ChannelAffine.cpp - x * scale + shift per channel ------------------===//
#include "passes/Graph/ChannelAffine.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

Type graph::getParameterType(Type element) {
  return element.isF64() ? element
                         : Type(Float32Type::get(element.getContext()));
}

Value graph::castElements(OpBuilder &b, Location loc, Value value,
                          Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element) {
    return value;
  }
  return CastOp::create(b, loc, type.clone(element), value);
}

Value graph::reshapeTo(OpBuilder &b, Location loc, Value value,
                       ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape) {
    return value;
  }
  return ReshapeOp::create(b, loc, type.clone(shape), value);
}

graph::ChannelAffine graph::computeAffine(OpBuilder &b, BatchNormOp op) {
  Location loc = op.getLoc();
  Type element = getParameterType(op.getType().getElementType());
  auto parameter = [&](Value value) {
    return castElements(b, loc, value, element);
  };
  auto scalar = RankedTensorType::get({}, element);
  Value epsilon = ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(
          scalar, b.getFloatAttr(element, op.getEpsilon().convertToDouble())));
  Value variance = AddOp::create(b, loc, parameter(op.getVariance()), epsilon);
  Value deviation = SqrtOp::create(b, loc, variance.getType(), variance);
  Value scale = DivOp::create(b, loc, parameter(op.getScale()), deviation);
  Value offset = MulOp::create(b, loc, scale, parameter(op.getMean()));
  Value shift = SubOp::create(b, loc, parameter(op.getBias()), offset);
  return {scale, shift};
}
