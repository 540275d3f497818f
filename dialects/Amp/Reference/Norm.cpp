//===- Norm.cpp - Evaluation of softmax and normalizations ----------------===//
#include "dialects/Amp/Reference/Arrays.h"
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Amp/Reference/Rows.h"
#include "dialects/Amp/Reference/ScalarMath.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

/// Rewrites each row along `axes` of a float tensor of `type` by `change`,
/// which gets the row's number and elements.
template <typename Change>
std::optional<Tensor> mapRows(RankedTensorType type, const Tensor &input,
                              ArrayRef<int64_t> axes, Change change) {
  auto result = Tensor::allocate(type);
  if (!result || result->size() == 0) {
    return result;
  }
  Rows rows(input, axes);
  std::vector<double> values(rows.getLength());
  char *to = result->mutableBytes();
  rows.forEach([&](int64_t row, int64_t base) {
    rows.load(base, values);
    change(row, MutableArrayRef<double>(values));
    rows.store(to, base, values);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Subtracts the maximum; the sum of the exponentials of what remains.
double shiftToMaximum(MutableArrayRef<double> values) {
  double largest = values[0], sum = 0;
  for (double value : values) {
    largest = math::max(largest, value);
  }
  for (double &value : values) {
    value -= largest;
    sum += std::exp(value);
  }
  return sum;
}

std::optional<Tensor> softmax(SoftmaxOp op, ArrayRef<Tensor> operands) {
  return mapRows(getResultType(op), operands[0],
                 {static_cast<int64_t>(op.getAxis())},
                 [](int64_t, MutableArrayRef<double> values) {
                   double sum = shiftToMaximum(values);
                   for (double &value : values) {
                     value = std::exp(value) / sum;
                   }
                 });
}

std::optional<Tensor> logSoftmax(LogSoftmaxOp op, ArrayRef<Tensor> operands) {
  return mapRows(getResultType(op), operands[0],
                 {static_cast<int64_t>(op.getAxis())},
                 [](int64_t, MutableArrayRef<double> values) {
                   double logSum = std::log(shiftToMaximum(values));
                   for (double &value : values) {
                     value -= logSum;
                   }
                 });
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

double getMean(ArrayRef<double> values) {
  double sum = 0;
  for (double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double getMeanSquare(ArrayRef<double> values) {
  double sum = 0;
  for (double value : values) {
    sum += value * value;
  }
  return sum / static_cast<double>(values.size());
}

/// Subtracts the mean and divides by the root of variance + epsilon.
void standardize(MutableArrayRef<double> values, double epsilon) {
  double mean = getMean(values);
  for (double &value : values) {
    value -= mean;
  }
  double root = std::sqrt(getMeanSquare(values) + epsilon);
  for (double &value : values) {
    value /= root;
  }
}

/// Parameters of normalized dimensions, or `fill` where there are none.
std::vector<double> getParameter(const Tensor *parameter,
                                 ArrayRef<int64_t> shape, double fill) {
  return parameter ? getBroadcastArray<double>(*parameter, shape)
                   : std::vector<double>(*getNumElements(shape), fill);
}

Dims getTrailingAxes(int64_t axis, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(axis, rank));
}

std::optional<Tensor> layerNorm(LayerNormOp op, ArrayRef<Tensor> operands) {
  const Tensor &input = operands[0];
  bool hasScale = static_cast<bool>(op.getScale());
  auto shape = input.getShape().drop_front(op.getAxis());
  auto scale = getParameter(hasScale ? &operands[1] : nullptr, shape, 1);
  auto bias =
      getParameter(op.getBias() ? &operands[1 + hasScale] : nullptr, shape, 0);
  double epsilon = op.getEpsilon().convertToDouble();
  return mapRows(getResultType(op), input,
                 getTrailingAxes(op.getAxis(), input.getRank()),
                 [&](int64_t, MutableArrayRef<double> values) {
                   standardize(values, epsilon);
                   for (size_t i = 0; i < values.size(); ++i) {
                     values[i] = values[i] * scale[i] + bias[i];
                   }
                 });
}

std::optional<Tensor> rmsNorm(RmsNormOp op, ArrayRef<Tensor> operands) {
  const Tensor &input = operands[0];
  auto scale = getParameter(op.getScale() ? &operands[1] : nullptr,
                            input.getShape().drop_front(op.getAxis()), 1);
  double epsilon = op.getEpsilon().convertToDouble();
  return mapRows(getResultType(op), input,
                 getTrailingAxes(op.getAxis(), input.getRank()),
                 [&](int64_t, MutableArrayRef<double> values) {
                   double root = std::sqrt(getMeanSquare(values) + epsilon);
                   for (size_t i = 0; i < values.size(); ++i) {
                     values[i] = values[i] / root * scale[i];
                   }
                 });
}

std::optional<Tensor> groupNorm(GroupNormOp op, ArrayRef<Tensor> operands) {
  const Tensor &input = operands[0];
  bool last = op.getLayout() == Layout::ChannelsLast;
  auto shape = input.getShape();
  int64_t channels = last ? shape.back() : shape[1];
  int64_t groups = op.getGroups(), members = channels / groups;
  auto spatial = last ? shape.drop_front().drop_back() : shape.drop_front(2);
  int64_t area = *getNumElements(spatial);
  bool hasScale = static_cast<bool>(op.getScale());
  auto scale = getParameter(hasScale ? &operands[1] : nullptr, {channels}, 1);
  auto bias = getParameter(op.getBias() ? &operands[1 + hasScale] : nullptr,
                           {channels}, 0);
  double epsilon = op.getEpsilon().convertToDouble();
  // [N, groups, members, area] or [N, area, groups, members].
  RankedTensorType type = getResultType(op);
  Dims split = last ? Dims{shape[0], area, groups, members}
                    : Dims{shape[0], groups, members, area};
  Dims axes = last ? Dims{1, 3} : Dims{2, 3};
  auto result = mapRows(type.clone(split), input.withType(type.clone(split)),
                        axes, [&](int64_t row, MutableArrayRef<double> values) {
                          standardize(values, epsilon);
                          for (size_t i = 0; i < values.size(); ++i) {
                            int64_t member = last ? i % members : i / area;
                            int64_t channel = row % groups * members + member;
                            values[i] =
                                values[i] * scale[channel] + bias[channel];
                          }
                        });
  return result ? std::optional(result->withType(type)) : std::nullopt;
}

std::optional<Tensor> batchNorm(BatchNormOp op, ArrayRef<Tensor> operands) {
  const Tensor &input = operands[0];
  Dims axes;
  int64_t channelDim =
      op.getLayout() == Layout::ChannelsLast ? input.getRank() - 1 : 1;
  for (int64_t i = 0; i < input.getRank(); ++i) {
    if (i != channelDim) {
      axes.push_back(i);
    }
  }
  auto scale = getArray<double>(operands[1]),
       bias = getArray<double>(operands[2]),
       mean = getArray<double>(operands[3]),
       variance = getArray<double>(operands[4]);
  double epsilon = op.getEpsilon().convertToDouble();
  return mapRows(getResultType(op), input, axes,
                 [&](int64_t channel, MutableArrayRef<double> values) {
                   double root = std::sqrt(variance[channel] + epsilon);
                   for (double &value : values) {
                     value = (value - mean[channel]) / root * scale[channel] +
                             bias[channel];
                   }
                 });
}
} // namespace

void ref::attachNorm(MLIRContext *context) {
  attach<softmax>(context);
  attach<logSoftmax>(context);
  attach<layerNorm>(context);
  attach<rmsNorm>(context);
  attach<groupNorm>(context);
  attach<batchNorm>(context);
}
