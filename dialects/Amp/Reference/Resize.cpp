//===- Resize.cpp - Evaluation of interpolation ---------------------------===//
// Interpolation separates: each dimension in turn is resampled by a table of
// taps, input indices with weights, per output index.
#include "dialects/Amp/Reference/Arrays.h"
#include "dialects/Amp/Reference/Models.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

/// What one output index reads.
struct Taps {
  SmallVector<std::pair<int64_t, double>> taps;
  /// Whether its coordinate lies outside of the input.
  bool outside = false;
};

/// More taps than this are a scale that has nothing to do with the sizes.
constexpr double maxTaps = 1 << 20;

double getCoordinate(ResizeOp op, size_t dim, int64_t out, int64_t outSize,
                     int64_t inSize) {
  double scale = op.getScales()[dim], x = static_cast<double>(out);
  double in = static_cast<double>(inSize);
  switch (op.getCoordinateMode()) {
  case CoordinateMode::HalfPixel:
    return (x + 0.5) / scale - 0.5;
  case CoordinateMode::HalfPixelSymmetric: {
    double adjustment = static_cast<double>(outSize) / (scale * in);
    return in / 2 * (1 - adjustment) + (x + 0.5) / scale - 0.5;
  }
  case CoordinateMode::PytorchHalfPixel:
    return outSize > 1 ? (x + 0.5) / scale - 0.5 : 0;
  case CoordinateMode::AlignCorners:
    return outSize > 1 ? x * (in - 1) / static_cast<double>(outSize - 1) : 0;
  case CoordinateMode::Asymmetric:
    return x / scale;
  case CoordinateMode::TfCropAndResize: {
    ArrayRef<double> roi = op.getRoi().value_or(ArrayRef<double>());
    size_t rank = op.getScales().size();
    double start = roi.empty() ? 0 : roi[dim];
    double end = roi.empty() ? 1 : roi[dim + rank];
    return outSize > 1 ? start * (in - 1) + x * (end - start) * (in - 1) /
                                                static_cast<double>(outSize - 1)
                       : 0.5 * (start + end) * (in - 1);
  }
  case CoordinateMode::TfHalfPixelForNN:
    return (x + 0.5) / scale;
  }
  llvm_unreachable("all modes are named");
}

int64_t clampIndex(double index, int64_t size) {
  double last = static_cast<double>(size - 1);
  // NaN, of infinite products, picks the first element.
  return index > 0 ? static_cast<int64_t>(std::min(index, last)) : 0;
}

double roundCoordinate(NearestMode mode, double x) {
  switch (mode) {
  case NearestMode::RoundPreferFloor:
    return std::ceil(x - 0.5);
  case NearestMode::RoundPreferCeil:
    return std::floor(x + 0.5);
  case NearestMode::Floor:
    return std::floor(x);
  case NearestMode::Ceil:
    return std::ceil(x);
  }
  llvm_unreachable("all modes are named");
}

/// The weight of an element at `distance` from the coordinate.
double getWeight(ResizeOp op, double distance) {
  double x = std::abs(distance);
  if (op.getMode() == ResizeMode::Linear) {
    return std::max(0.0, 1 - x);
  }
  double a = op.getCubicCoeff().convertToDouble();
  if (x <= 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// The taps of an interpolated coordinate, or nullopt when they are too many.
std::optional<Taps> interpolate(ResizeOp op, size_t dim, double x,
                                int64_t inSize) {
  double squeeze = op.getAntialias() ? std::min(op.getScales()[dim], 1.0) : 1;
  double reach = (op.getMode() == ResizeMode::Linear ? 1 : 2) / squeeze;
  if (!std::isfinite(x) || std::abs(x) > 0x1p52 || !(reach < maxTaps)) {
    return std::nullopt;
  }
  Taps result;
  double sum = 0;
  for (double i = std::floor(x - reach) + 1; i < x + reach; ++i) {
    bool outside = i < 0 || i > static_cast<double>(inSize - 1);
    double weight = getWeight(op, (i - x) * squeeze);
    if (weight == 0 || (outside && op.getExcludeOutside())) {
      continue;
    }
    sum += weight;
    result.taps.emplace_back(clampIndex(i, inSize), weight);
  }
  // Weights of unsqueezed kernels sum to 1 unless some were left out.
  if (op.getAntialias() || op.getExcludeOutside()) {
    for (auto &tap : result.taps) {
      tap.second /= sum;
    }
  }
  return result;
}

std::optional<std::vector<Taps>> getTable(ResizeOp op, size_t dim,
                                          int64_t outSize, int64_t inSize) {
  std::vector<Taps> table;
  for (int64_t i = 0; i < outSize; ++i) {
    double x = getCoordinate(op, dim, i, outSize, inSize);
    if (op.getMode() == ResizeMode::Nearest) {
      Taps nearest;
      double index = roundCoordinate(op.getNearestMode(), x);
      nearest.taps.emplace_back(clampIndex(index, inSize), 1);
      table.push_back(std::move(nearest));
    } else {
      auto taps = interpolate(op, dim, x, inSize);
      if (!taps) {
        return std::nullopt;
      }
      table.push_back(std::move(*taps));
    }
    table.back().outside =
        op.getCoordinateMode() == CoordinateMode::TfCropAndResize &&
        !(x >= 0 && x <= static_cast<double>(inSize - 1));
  }
  return table;
}

/// Resamples dimension `dim` of `values` of `shape`.
std::vector<double> resample(ArrayRef<double> values, ArrayRef<int64_t> shape,
                             size_t dim, ArrayRef<Taps> table) {
  int64_t inner = *getNumElements(shape.drop_front(dim + 1));
  int64_t outer = *getNumElements(shape.take_front(dim));
  int64_t inSize = shape[dim];
  std::vector<double> result(outer * table.size() * inner, 0);
  double *to = result.data();
  for (int64_t o = 0; o < outer; ++o) {
    for (const Taps &taps : table) {
      for (auto [index, weight] : taps.taps) {
        const double *from = values.data() + (o * inSize + index) * inner;
        for (int64_t i = 0; i < inner; ++i) {
          // A copied element stays what it is, be it infinite.
          to[i] = weight == 1 && taps.taps.size() == 1
                      ? from[i]
                      : to[i] + weight * from[i];
        }
      }
      to += inner;
    }
  }
  return result;
}

std::optional<Tensor> resize(ResizeOp op, ArrayRef<Tensor> operands) {
  RankedTensorType type = getResultType(op);
  auto result = Tensor::allocate(type);
  if (!result || result->size() == 0) {
    return result;
  }
  std::vector<double> values = getArray<double>(operands[0]);
  Dims shape(operands[0].getShape());
  SmallVector<std::vector<Taps>> tables;
  for (size_t d = 0; d < shape.size(); ++d) {
    auto table = getTable(op, d, type.getDimSize(d), shape[d]);
    if (!table) {
      return std::nullopt;
    }
    bool crops = llvm::any_of(*table, [](const Taps &t) { return t.outside; });
    bool resized = op.getScales()[d] != 1 || type.getDimSize(d) != shape[d] ||
                   op.getCoordinateMode() == CoordinateMode::TfCropAndResize;
    if (resized) {
      values = resample(values, shape, d, *table);
    }
    shape[d] = type.getDimSize(d);
    tables.push_back(crops ? std::move(*table) : std::vector<Taps>());
  }
  double fill = op.getExtrapolationValue().convertToDouble();
  Dims strides = getStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    for (size_t i = 0; i < values.size() && !tables[d].empty(); ++i) {
      int64_t index = static_cast<int64_t>(i) / strides[d] % shape[d];
      values[i] = tables[d][index].outside ? fill : values[i];
    }
  }
  storeArray(result->getKind(), values, result->mutableBytes());
  return result;
}
} // namespace

void ref::attachResize(MLIRContext *context) { attach<resize>(context); }
