//===- PoolGradient.cpp - Evaluation of the gradients of pools ------------===//
// Scatters what the generated code gathers: each window in turn gives to the
// elements in it.
#include "dialects/Amp/Reference/Arrays.h"
#include "dialects/Amp/Reference/Models.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {
/// The elements of one window: offsets into the input, and how many positions
/// lie inside the input and its padding.
struct WindowElements {
  std::vector<int64_t> offsets;
  int64_t padded = 0;
};

template <typename Op>
WindowElements getElements(Op op, ArrayRef<int64_t> input,
                           ArrayRef<int64_t> at) {
  size_t rank = op.getKernel().size();
  size_t first = op.getLayout() == Layout::ChannelsFirst ? 2 : 1;
  Dims strides = getStrides(input), tap(rank, 0);
  WindowElements result;
  for (bool more = true; more;) {
    int64_t offset = 0;
    bool inside = true, padded = true;
    for (size_t d = 0; d < input.size(); ++d) {
      int64_t position = at[d];
      if (d >= first && d < first + rank) {
        size_t i = d - first;
        position = at[d] * op.getStrides()[i] - op.getPads()[i] +
                   tap[i] * op.getDilations()[i];
        inside = inside && position >= 0 && position < input[d];
        padded = padded && position < input[d] + op.getPads()[i + rank];
      }
      offset += position * strides[d];
    }
    if (inside) {
      result.offsets.push_back(offset);
    }
    result.padded += padded;
    more = false;
    for (size_t i = rank; i-- > 0 && !more;) {
      more = ++tap[i] < op.getKernel()[i];
      tap[i] = more ? tap[i] : 0;
    }
  }
  return result;
}

/// Calls `give(window, gradient, sums)` for each window.
template <typename Op, typename Give>
std::optional<Tensor> scatter(Op op, const Tensor &gradient, Give give) {
  RankedTensorType type = getResultType(op);
  auto result = Tensor::allocate(type);
  if (!result) {
    return std::nullopt;
  }
  std::vector<double> values = getArray<double>(gradient);
  std::vector<double> sums(result->size(), 0);
  Dims at(type.getRank(), 0);
  for (double value : values) {
    give(getElements(op, type.getShape(), at), value, sums);
    for (size_t d = at.size();
         d > 0 && ++at[d - 1] == gradient.getShape()[d - 1]; --d) {
      at[d - 1] = 0;
    }
  }
  storeArray(result->getKind(), sums, result->mutableBytes());
  return result;
}

std::optional<Tensor> maxPoolGradient(MaxPoolGradientOp op,
                                      ArrayRef<Tensor> operands) {
  std::vector<double> input = getArray<double>(operands[0]);
  return scatter(op, operands[1],
                 [&](const WindowElements &window, double gradient,
                     std::vector<double> &sums) {
                   if (window.offsets.empty()) {
                     return;
                   }
                   int64_t best = window.offsets.front();
                   for (int64_t offset : window.offsets) {
                     double value = input[offset];
                     if (value > input[best] || std::isnan(value)) {
                       best = offset;
                     }
                   }
                   sums[best] += gradient;
                 });
}

std::optional<Tensor> avgPoolGradient(AvgPoolGradientOp op,
                                      ArrayRef<Tensor> operands) {
  bool countPadding = op.getCountIncludePad();
  return scatter(op, operands[0],
                 [&](const WindowElements &window, double gradient,
                     std::vector<double> &sums) {
                   auto count = static_cast<double>(
                       countPadding
                           ? window.padded
                           : static_cast<int64_t>(window.offsets.size()));
                   for (int64_t offset : window.offsets) {
                     sums[offset] += gradient / count;
                   }
                 });
}
} // namespace

void ref::attachPoolGradient(MLIRContext *context) {
  attach<maxPoolGradient>(context);
  attach<avgPoolGradient>(context);
}
