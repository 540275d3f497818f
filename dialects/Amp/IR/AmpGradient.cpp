//===- AmpGradient.cpp - Checks of the ops of gradients -------------------===//
#include "dialects/Amp/IR/AmpOps.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

namespace {
/// Sizes of a tensor of samples in channels-first order.
struct Sample {
  Sample(RankedTensorType type, Layout layout) {
    bool last = layout == Layout::ChannelsLast;
    ArrayRef<int64_t> dims = type.getShape();
    batch = dims.front();
    channels = last ? dims.back() : dims[1];
    spatial = last ? dims.drop_front().drop_back() : dims.drop_front(2);
  }
  int64_t batch, channels;
  ArrayRef<int64_t> spatial;
};

/// Checks the attributes of a window over `input`, whose results lie at
/// `output`: no result may stand where its window holds nothing.
template <typename OpT>
LogicalResult checkWindow(OpT op, RankedTensorType input,
                          RankedTensorType output) {
  int64_t rank = input.getRank() - 2;
  auto count = [](ArrayRef<int64_t> values) {
    return static_cast<int64_t>(values.size());
  };
  if (rank < 1 || output.getRank() != input.getRank() ||
      count(op.getKernel()) != rank || count(op.getStrides()) != rank ||
      count(op.getDilations()) != rank || count(op.getPads()) != 2 * rank) {
    return op.emitOpError("window attributes do not fit ")
           << input << " and " << output;
  }
  Sample in(input, op.getLayout()), out(output, op.getLayout());
  if (in.batch != out.batch) {
    return op.emitOpError("expected as many samples in ")
           << input << " as in " << output;
  }
  constexpr int64_t limit = int64_t(1) << 31;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t kernel = op.getKernel()[i], stride = op.getStrides()[i];
    int64_t dilation = op.getDilations()[i], pad = op.getPads()[i];
    if (kernel < 1 || kernel >= limit || stride < 1 || stride >= limit ||
        dilation < 1 || dilation >= limit || pad <= -limit || pad >= limit ||
        op.getPads()[i + rank] <= -limit || op.getPads()[i + rank] >= limit ||
        in.spatial[i] >= limit || out.spatial[i] >= limit) {
      return op.emitOpError("window attributes of spatial dimension ")
             << i << " are out of range";
    }
    if ((out.spatial[i] - 1) * stride - pad >= in.spatial[i]) {
      return op.emitOpError("spatial dimension ")
             << i << " of " << output << " reaches beyond " << input;
    }
  }
  return success();
}
} // namespace

LogicalResult ConvWeightGradientOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto gradient = cast<RankedTensorType>(adaptor.getGradient().getType());
  int64_t group = adaptor.getGroup();
  if (input.getRank() < 3 || gradient.getRank() != input.getRank() ||
      group < 1) {
    return emitOptionalError(loc,
                             "expected an input and a gradient of equal "
                             "rank 3 or more in one group or more, got ",
                             input, " and ", gradient);
  }
  Sample in(input, adaptor.getLayout()), out(gradient, adaptor.getLayout());
  if (in.channels % group != 0 || out.channels % group != 0) {
    return emitOptionalError(loc, "channels of ", input, " and ", gradient,
                             " do not make ", group, " groups");
  }
  SmallVector<int64_t> shape{out.channels, in.channels / group};
  llvm::append_range(shape, adaptor.getKernel());
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; })) {
    return emitOptionalError(loc, "expected a kernel of positive sizes");
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

bool ConvWeightGradientOp::isCompatibleReturnTypes(TypeRange inferred,
                                                   TypeRange actual) {
  auto lhs = dyn_cast<RankedTensorType>(inferred.front());
  auto rhs = dyn_cast<RankedTensorType>(actual.front());
  return lhs && rhs && lhs.getShape() == rhs.getShape() &&
         (lhs.getElementType() == rhs.getElementType() ||
          getAccumulatorType(lhs.getElementType()) == rhs.getElementType() ||
          getAccumulatorType(rhs.getElementType()) == lhs.getElementType());
}

LogicalResult ConvWeightGradientOp::verify() {
  if (getInput().getType().getElementType() !=
      getGradient().getType().getElementType()) {
    return emitOpError("expected an input and a gradient of one element type, "
                       "got ")
           << getInput().getType() << " and " << getGradient().getType();
  }
  return checkWindow(*this, getInput().getType(), getGradient().getType());
}

/// Checks a pool's gradient, whose input has the channels of its result.
template <typename OpT>
static LogicalResult checkPool(OpT op, RankedTensorType input) {
  auto gradient = op.getGradient().getType();
  if (failed(checkWindow(op, input, gradient))) {
    return failure();
  }
  if (Sample(input, op.getLayout()).channels !=
      Sample(gradient, op.getLayout()).channels) {
    return op.emitOpError("expected as many channels in ")
           << input << " as in " << gradient;
  }
  return success();
}

LogicalResult MaxPoolGradientOp::verify() {
  return checkPool(*this, getInput().getType());
}

LogicalResult AvgPoolGradientOp::verify() {
  return checkPool(*this, getResult().getType());
}
