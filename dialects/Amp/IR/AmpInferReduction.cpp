//===- AmpInferReduction.cpp - Result types of reductions and norms -------===//
#include "dialects/Amp/IR/AmpOps.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

namespace {
RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

LogicalResult inferReduced(std::optional<Location> loc, RankedTensorType input,
                           ArrayRef<int64_t> axes, bool keepdims, Type element,
                           SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  size_t next = 0;
  for (int64_t i = 0; i < input.getRank(); ++i) {
    bool reduced = next < axes.size() && axes[next] == i;
    next += reduced;
    if (!reduced) {
      shape.push_back(input.getDimSize(i));
    } else if (keepdims) {
      shape.push_back(1);
    }
  }
  if (next != axes.size()) {
    return emitOptionalError(loc, "expected sorted axes of ", input);
  }
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}
} // namespace

#define AMPC_INFER_REDUCE(OP)                                                  \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> loc, Adaptor adaptor,             \
      SmallVectorImpl<Type> &types) {                                          \
    auto input = tensorType(adaptor.getInput());                               \
    return inferReduced(loc, input, adaptor.getAxes(), adaptor.getKeepdims(),  \
                        input.getElementType(), types);                        \
  }
AMPC_INFER_REDUCE(ReduceSumOp)
AMPC_INFER_REDUCE(ReduceMeanOp)
AMPC_INFER_REDUCE(ReduceProdOp)
AMPC_INFER_REDUCE(ReduceMaxOp)
AMPC_INFER_REDUCE(ReduceMinOp)
#undef AMPC_INFER_REDUCE

#define AMPC_INFER_ARG(OP)                                                     \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,      \
      SmallVectorImpl<Type> &types) {                                          \
    auto input = tensorType(adaptor.getInput());                               \
    int64_t axis = adaptor.getAxis();                                          \
    if (axis < 0 || axis >= input.getRank()) {                                 \
      return emitOptionalError(loc, "axis ", axis, " is not a dimension of ",  \
                               input);                                         \
    }                                                                          \
    return inferReduced(loc, input, {axis}, adaptor.getKeepdims(),             \
                        IntegerType::get(context, 64), types);                 \
  }
AMPC_INFER_ARG(ArgMaxOp)
AMPC_INFER_ARG(ArgMinOp)
#undef AMPC_INFER_ARG

static LogicalResult verifyAxis(Operation *op, RankedTensorType input,
                                int64_t axis) {
  if (axis < 0 || axis >= input.getRank()) {
    return op->emitOpError("axis ")
           << axis << " is not a dimension of " << input;
  }
  return success();
}

LogicalResult SoftmaxOp::verify() {
  return verifyAxis(*this, getInput().getType(), getAxis());
}

LogicalResult LogSoftmaxOp::verify() {
  return verifyAxis(*this, getInput().getType(), getAxis());
}

LogicalResult CumSumOp::verify() {
  return verifyAxis(*this, getInput().getType(), getAxis());
}

static LogicalResult verifyTrailingParameter(Operation *op, Value parameter,
                                             RankedTensorType input,
                                             int64_t axis, StringRef name) {
  if (axis < 0 || axis >= std::max<int64_t>(input.getRank(), 1)) {
    return op->emitOpError("axis ")
           << axis << " is not a dimension of " << input;
  }
  if (!parameter) {
    return success();
  }
  auto shape = tensorType(parameter).getShape();
  auto trailing = input.getShape().drop_front(axis);
  auto together = broadcastShapes(shape, trailing);
  if (!together || *together != trailing) {
    return op->emitOpError("expected ")
           << name << " that broadcasts to the dimensions from " << axis
           << " of " << input << ", got " << parameter.getType();
  }
  return success();
}

LogicalResult LayerNormOp::verify() {
  auto input = getInput().getType();
  return success(succeeded(verifyTrailingParameter(*this, getScale(), input,
                                                   getAxis(), "a scale")) &&
                 succeeded(verifyTrailingParameter(*this, getBias(), input,
                                                   getAxis(), "a bias")));
}

LogicalResult RmsNormOp::verify() {
  return verifyTrailingParameter(*this, getScale(), getInput().getType(),
                                 getAxis(), "a scale");
}

static LogicalResult verifyChannels(Operation *op, RankedTensorType input,
                                    Layout layout, ValueRange parameters) {
  if (input.getRank() < 2) {
    return op->emitOpError("expected an input of rank 2 or more, got ")
           << input;
  }
  int64_t channels = input.getDimSize(
      layout == Layout::ChannelsFirst ? 1 : input.getRank() - 1);
  for (Value parameter : parameters) {
    if (parameter && (tensorType(parameter).getRank() != 1 ||
                      tensorType(parameter).getDimSize(0) != channels)) {
      return op->emitOpError("expected parameters of ")
             << channels << " channels, got " << parameter.getType();
    }
  }
  return success();
}

LogicalResult GroupNormOp::verify() {
  if (failed(verifyChannels(*this, getInput().getType(), getLayout(),
                            {getScale(), getBias()}))) {
    return failure();
  }
  auto input = getInput().getType();
  int64_t channels = input.getDimSize(
      getLayout() == Layout::ChannelsFirst ? 1 : input.getRank() - 1);
  int64_t groups = getGroups();
  if (groups <= 0 || channels % groups != 0) {
    return emitOpError("cannot split ")
           << channels << " channels into " << groups << " groups";
  }
  return success();
}

LogicalResult BatchNormOp::verify() {
  return verifyChannels(*this, getInput().getType(), getLayout(),
                        getOperands().drop_front());
}
