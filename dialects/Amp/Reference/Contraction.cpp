//===- Contraction.cpp - Evaluation of products and convolutions ----------===//
#include "dialects/Amp/Reference/Arrays.h"
#include "dialects/Amp/Reference/Models.h"
#include "llvm/Support/MathExtras.h"

#include <array>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

/// The matrices of a batch as row-major [rows, columns], transposed if asked.
template <typename T>
std::vector<T> getMatrices(const Tensor &tensor, bool transpose) {
  std::vector<T> values = getArray<T>(tensor);
  if (!transpose) {
    return values;
  }
  auto dims = tensor.getShape().take_back(2);
  int64_t rows = dims[0], columns = dims[1], size = rows * columns;
  std::vector<T> result(values.size());
  for (int64_t base = 0; size && base < tensor.size(); base += size) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        result[base + c * rows + r] = values[base + r * columns + c];
      }
    }
  }
  return result;
}

template <typename T>
std::optional<Tensor> matmulAs(MatmulOp op, ArrayRef<Tensor> operands) {
  RankedTensorType type = getResultType(op);
  auto result = Tensor::allocate(type);
  if (!result || result->size() == 0) {
    return result;
  }
  std::vector<T> lhs = getMatrices<T>(operands[0], op.getTransposeLhs());
  std::vector<T> rhs = getMatrices<T>(operands[1], op.getTransposeRhs());
  std::vector<T> bias;
  if (op.getBias()) {
    bias = getBroadcastArray<T>(operands[2], type.getShape());
  }
  auto dims = type.getShape().take_back(2);
  int64_t m = dims[0], n = dims[1];
  int64_t k = operands[0].getShape().take_back(2)[op.getTransposeLhs() ? 0 : 1];
  // Strides of the batch dimensions, in matrices.
  ArrayRef<int64_t> batch = type.getShape().drop_back(2);
  auto batchStrides = [&](const Tensor &operand) {
    ArrayRef<int64_t> own = operand.getShape().drop_back(2);
    Dims strides(batch.size(), 0), inner = getStrides(own);
    for (size_t i = 0; i < own.size(); ++i) {
      strides[batch.size() - own.size() + i] = own[i] == 1 ? 0 : inner[i];
    }
    return strides;
  };
  std::vector<T> row(n);
  Kind kind = result->getKind();
  int64_t width = result->getByteWidth(), at = 0;
  char *to = result->mutableBytes();
  walkRows(
      batch, {batchStrides(operands[0]), batchStrides(operands[1])},
      [&](ArrayRef<int64_t> offsets, int64_t count, ArrayRef<int64_t> steps) {
        for (int64_t b = 0; b < count; ++b) {
          const T *a = lhs.data() + (offsets[0] + b * steps[0]) * m * k;
          const T *c = rhs.data() + (offsets[1] + b * steps[1]) * k * n;
          for (int64_t i = 0; i < m; ++i, at += n) {
            std::fill(row.begin(), row.end(), T(0));
            for (int64_t p = 0; p < k; ++p) {
              T factor = a[i * k + p];
              for (int64_t j = 0; j < n; ++j) {
                row[j] += factor * c[p * n + j];
              }
            }
            for (int64_t j = 0; j < n && !bias.empty(); ++j) {
              row[j] += bias[at + j];
            }
            storeArray(kind, row, to + at * width);
          }
        }
      });
  return result;
}

std::optional<Tensor> matmul(MatmulOp op, ArrayRef<Tensor> operands) {
  return isFloat(operands[0].getKind()) ? matmulAs<double>(op, operands)
                                        : matmulAs<uint64_t>(op, operands);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

using Three = std::array<int64_t, 3>;

/// One to three numbers, one per spatial dimension, with ones before them.
Three padToThree(ArrayRef<int64_t> values, int64_t fill) {
  Three result{fill, fill, fill};
  std::copy(values.begin(), values.end(), result.end() - values.size());
  return result;
}

/// The tensor with its channels at dimension 1.
std::optional<Tensor> channelsFirst(const Tensor &tensor, Layout layout) {
  if (layout == Layout::ChannelsFirst || tensor.isSplat()) {
    Dims shape(tensor.getShape());
    if (layout == Layout::ChannelsLast) {
      std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
    }
    return tensor.withType(tensor.getType().clone(shape));
  }
  Dims shape(tensor.getShape()), strides = getStrides(shape);
  std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  auto result = Tensor::allocate(tensor.getType().clone(shape));
  if (result) {
    copyStrided(tensor.getByteWidth(), shape, result->mutableBytes(),
                getStrides(shape), tensor.getBytes().data(), strides);
  }
  return result;
}

/// A result computed channels first, in the layout of its type.
std::optional<Tensor> toLayout(const Tensor &tensor, RankedTensorType type,
                               Layout layout) {
  if (layout == Layout::ChannelsFirst) {
    return tensor;
  }
  Dims strides = getStrides(tensor.getShape());
  std::rotate(strides.begin() + 1, strides.begin() + 2, strides.end());
  auto result = Tensor::allocate(type);
  if (result) {
    copyStrided(tensor.getByteWidth(), type.getShape(), result->mutableBytes(),
                getStrides(type.getShape()), tensor.getBytes().data(), strides);
  }
  return result;
}

/// The geometry along one spatial dimension: big index = small * stride +
/// kernel * dilation - pad. A convolution's input is big, its output small; a
/// transposed one's the other way round.
struct Axis {
  int64_t big, small, kernel, stride, dilation, pad;

  /// The small indices whose big index at `k` lies inside.
  std::pair<int64_t, int64_t> getRange(int64_t k) const {
    int64_t offset = k * dilation - pad;
    int64_t first = offset >= 0 ? 0 : llvm::divideCeilSigned(-offset, stride);
    int64_t last = llvm::divideFloorSigned(big - 1 - offset, stride);
    return {first, std::min(last + 1, small)};
  }
};

/// Calls `row` for each kernel element and each line along the last dimension:
/// (kernel element, big offset of the line's first element, small offset of
/// it, elements).
template <typename Row>
void forWindow(const std::array<Axis, 3> &axes, Row row) {
  int64_t element = 0;
  for (int64_t kz = 0; kz < axes[0].kernel; ++kz) {
    auto [zBegin, zEnd] = axes[0].getRange(kz);
    for (int64_t ky = 0; ky < axes[1].kernel; ++ky) {
      auto [yBegin, yEnd] = axes[1].getRange(ky);
      for (int64_t kx = 0; kx < axes[2].kernel; ++kx, ++element) {
        auto [xBegin, xEnd] = axes[2].getRange(kx);
        for (int64_t z = zBegin; z < zEnd && xBegin < xEnd; ++z) {
          int64_t bigZ =
              z * axes[0].stride + kz * axes[0].dilation - axes[0].pad;
          for (int64_t y = yBegin; y < yEnd; ++y) {
            int64_t bigY =
                y * axes[1].stride + ky * axes[1].dilation - axes[1].pad;
            int64_t bigX =
                xBegin * axes[2].stride + kx * axes[2].dilation - axes[2].pad;
            row(element, (bigZ * axes[1].big + bigY) * axes[2].big + bigX,
                (z * axes[1].small + y) * axes[2].small + xBegin,
                xEnd - xBegin);
          }
        }
      }
    }
  }
}

template <typename Op>
std::array<Axis, 3> getAxes(Op op, ArrayRef<int64_t> big,
                            ArrayRef<int64_t> small, ArrayRef<int64_t> kernel) {
  size_t rank = kernel.size();
  Three bigs = padToThree(big, 1), smalls = padToThree(small, 1),
        kernels = padToThree(kernel, 1),
        strides = padToThree(op.getStrides(), 1),
        dilations = padToThree(op.getDilations(), 1),
        pads = padToThree(op.getPads().take_front(rank), 0);
  std::array<Axis, 3> axes;
  for (size_t i = 0; i < 3; ++i) {
    axes[i] = {bigs[i],    smalls[i],    kernels[i],
               strides[i], dilations[i], pads[i]};
  }
  return axes;
}

/// Both convolutions, whose operands lie channels first. `forward` reads the
/// big side, the transposed one writes it.
template <typename T, typename Op>
std::optional<Tensor> convolve(Op op, ArrayRef<Tensor> operands, bool forward) {
  RankedTensorType type = getResultType(op);
  if (type.getRank() > 5) {
    return std::nullopt;
  }
  Layout layout = op.getLayout();
  auto input = channelsFirst(operands[0], layout);
  Dims shape(type.getShape());
  if (layout == Layout::ChannelsLast) {
    std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  }
  auto result = Tensor::allocate(type.clone(shape));
  if (!input || !result) {
    return std::nullopt;
  }
  const Tensor &weight = operands[1];
  auto inSpatial = input->getShape().drop_front(2);
  auto outSpatial = ArrayRef<int64_t>(shape).drop_front(2);
  auto axes = getAxes(op, forward ? inSpatial : outSpatial,
                      forward ? outSpatial : inSpatial,
                      weight.getShape().drop_front(2));
  int64_t inSize = *getNumElements(inSpatial);
  int64_t outSize = *getNumElements(outSpatial);
  int64_t kernel = *getNumElements(weight.getShape().drop_front(2));
  int64_t batch = shape[0], channels = input->getShape()[1], outs = shape[1];
  int64_t group = op.getGroup();
  int64_t groupIns = channels / group, groupOuts = outs / group;
  std::vector<T> in = getArray<T>(*input), w = getArray<T>(weight), bias;
  if (op.getBias()) {
    bias = getArray<T>(operands[2]);
  }
  std::vector<T> sums(outSize);
  int64_t step = axes[2].stride, width = result->getByteWidth();
  char *to = result->mutableBytes();
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t o = 0; o < outs; ++o) {
      std::fill(sums.begin(), sums.end(), T(0));
      int64_t g = o / groupOuts;
      for (int64_t c = 0; c < groupIns; ++c) {
        int64_t channel = g * groupIns + c;
        const T *from = in.data() + (n * channels + channel) * inSize;
        const T *taps =
            w.data() +
            (forward ? o * groupIns + c : channel * groupOuts + o % groupOuts) *
                kernel;
        forWindow(axes, [&](int64_t element, int64_t big, int64_t small,
                            int64_t length) {
          T tap = taps[element];
          if (forward) {
            for (int64_t i = 0; i < length; ++i) {
              sums[small + i] += tap * from[big + i * step];
            }
          } else {
            for (int64_t i = 0; i < length; ++i) {
              sums[big + i * step] += tap * from[small + i];
            }
          }
        });
      }
      for (T &sum : sums) {
        sum += bias.empty() ? T(0) : bias[o];
      }
      storeArray(result->getKind(), sums,
                 to + (n * outs + o) * outSize * width);
    }
  }
  return toLayout(*result, type, layout);
}

std::optional<Tensor> conv(ConvOp op, ArrayRef<Tensor> operands) {
  return isFloat(operands[0].getKind())
             ? convolve<double>(op, operands, true)
             : convolve<uint64_t>(op, operands, true);
}

std::optional<Tensor> convTranspose(ConvTransposeOp op,
                                    ArrayRef<Tensor> operands) {
  return convolve<double>(op, operands, false);
}
/// For each weight element, the sum over samples of a line along the window's
/// small side times one along its big side.
std::optional<Tensor> convWeightGradient(ConvWeightGradientOp op,
                                         ArrayRef<Tensor> operands) {
  RankedTensorType type = getResultType(op);
  if (type.getRank() > 5) {
    return std::nullopt;
  }
  auto input = channelsFirst(operands[0], op.getLayout());
  auto gradient = channelsFirst(operands[1], op.getLayout());
  auto result = Tensor::allocate(type);
  if (!input || !gradient || !result) {
    return std::nullopt;
  }
  auto inSpatial = input->getShape().drop_front(2);
  auto outSpatial = gradient->getShape().drop_front(2);
  auto axes = getAxes(op, inSpatial, outSpatial, op.getKernel());
  int64_t inSize = *getNumElements(inSpatial);
  int64_t outSize = *getNumElements(outSpatial);
  int64_t kernel = *getNumElements(op.getKernel());
  int64_t batch = input->getShape()[0], channels = input->getShape()[1];
  int64_t outs = type.getShape()[0], groupIns = type.getShape()[1];
  int64_t groupOuts = outs / static_cast<int64_t>(op.getGroup());
  std::vector<double> in = getArray<double>(*input);
  std::vector<double> g = getArray<double>(*gradient);
  std::vector<double> sums(result->size(), 0);
  int64_t step = axes[2].stride;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t o = 0; o < outs; ++o) {
      const double *from = g.data() + (n * outs + o) * outSize;
      for (int64_t c = 0; c < groupIns; ++c) {
        int64_t channel = o / groupOuts * groupIns + c;
        const double *x = in.data() + (n * channels + channel) * inSize;
        double *to = sums.data() + (o * groupIns + c) * kernel;
        forWindow(axes, [&](int64_t element, int64_t big, int64_t small,
                            int64_t length) {
          for (int64_t i = 0; i < length; ++i) {
            to[element] += from[small + i] * x[big + i * step];
          }
        });
      }
    }
  }
  storeArray(result->getKind(), sums, result->mutableBytes());
  return result;
}
} // namespace

void ref::attachContraction(MLIRContext *context) {
  attach<matmul>(context);
  attach<conv>(context);
  attach<convTranspose>(context);
  attach<convWeightGradient>(context);
}
