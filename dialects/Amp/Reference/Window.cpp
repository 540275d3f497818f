//===- Window.cpp - Evaluation of pools -----------------------------------===//
#include "dialects/Amp/Reference/Convert.h"
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Amp/Reference/ScalarMath.h"
#include "dialects/Amp/Reference/Strided.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

/// One position of a window along one dimension.
struct Span {
  /// The first input index inside, and how many of the kernel's are.
  int64_t first = 0, count = 0;
  /// How many are inside of the input and its padding.
  int64_t padded = 0;
};

Span getSpan(int64_t start, int64_t kernel, int64_t dilation, int64_t size,
             int64_t padEnd) {
  // Kernel indices k with 0 <= start + k * dilation < end; start >= -padBegin.
  auto countBelow = [&](int64_t end) {
    int64_t last = llvm::divideFloorSigned(end - 1 - start, dilation);
    return std::min(kernel, std::max<int64_t>(last + 1, 0));
  };
  int64_t skipped = start >= 0 ? 0 : llvm::divideCeilSigned(-start, dilation);
  Span span;
  span.first = start + skipped * dilation;
  span.count = std::max<int64_t>(countBelow(size) - skipped, 0);
  span.padded = countBelow(size + padEnd);
  return span;
}

/// What a pool makes of the elements in its window.
struct MaxFold {
  static double initial(Kind, double) { return -HUGE_VAL; }
  static int64_t initial(Kind kind, int64_t) {
    if (isUnsigned(kind)) {
      return 0;
    }
    return std::numeric_limits<int64_t>::min() >> (64 - 8 * getByteWidth(kind));
  }
  static double step(double x, double y, bool) { return math::max(x, y); }
  static int64_t step(int64_t x, int64_t y, bool u) {
    return math::max(x, y, u);
  }
  static double finish(double x, int64_t, bool) { return x; }
  static int64_t finish(int64_t x, int64_t, bool) { return x; }
};
struct MeanFold {
  static double initial(Kind, double) { return 0; }
  static int64_t initial(Kind, int64_t) { return 0; }
  static double step(double x, double y, bool) { return x + y; }
  static int64_t step(int64_t x, int64_t y, bool u) {
    return math::add(x, y, u);
  }
  static double finish(double x, int64_t n, bool) {
    return x / static_cast<double>(n);
  }
  static int64_t finish(int64_t x, int64_t n, bool u) {
    return math::div(x, n, u);
  }
};

void loadOne(Kind kind, const char *from, double &to) {
  loadDoubles(kind, from, 1, 1, &to);
}
void loadOne(Kind kind, const char *from, int64_t &to) {
  loadInts(kind, from, 1, 1, &to);
}
void storeOne(Kind kind, double value, char *to) {
  storeDoubles(kind, &value, 1, to);
}
void storeOne(Kind kind, int64_t value, char *to) {
  storeInts(kind, &value, 1, to);
}

template <typename T, typename Fold, typename Op>
std::optional<Tensor> poolAs(Op op, const Tensor &input, bool countPadding) {
  auto result = Tensor::allocate(getResultType(op));
  if (!result) {
    return std::nullopt;
  }
  size_t rank = op.getKernel().size();
  size_t first = op.getLayout() == Layout::ChannelsFirst ? 2 : 1;
  Dims strides = getStoredStrides(input), index(input.getRank(), 0);
  ArrayRef<int64_t> shape = result->getShape();
  Kind kind = input.getKind();
  bool isUnsignedKind = isUnsigned(kind);
  int64_t width = input.getByteWidth();
  const char *from = input.getBytes().data();
  char *to = result->mutableBytes();
  Dims counts(rank), steps(rank);
  for (int64_t i = 0; i < result->size(); ++i, to += width) {
    int64_t base = 0, padded = 1, inside = 1;
    for (size_t d = 0; d < index.size(); ++d) {
      if (d < first || d >= first + rank) {
        base += index[d] * strides[d];
        continue;
      }
      size_t s = d - first;
      Span span = getSpan(index[d] * op.getStrides()[s] - op.getPads()[s],
                          op.getKernel()[s], op.getDilations()[s],
                          input.getShape()[d], op.getPads()[s + rank]);
      base += span.count ? span.first * strides[d] : 0;
      counts[s] = span.count;
      steps[s] = op.getDilations()[s] * strides[d];
      inside *= span.count;
      padded *= span.padded;
    }
    T value = Fold::initial(kind, T());
    walkRows(
        counts, steps,
        [&](ArrayRef<int64_t> offsets, int64_t length, ArrayRef<int64_t> step) {
          for (int64_t j = 0; j < length; ++j) {
            T element;
            loadOne(kind, from + (base + offsets[0] + j * step[0]) * width,
                    element);
            value = Fold::step(value, element, isUnsignedKind);
          }
        });
    storeOne(
        kind,
        Fold::finish(value, countPadding ? padded : inside, isUnsignedKind),
        to);
    for (size_t d = index.size(); d > 0 && ++index[d - 1] == shape[d - 1];
         --d) {
      index[d - 1] = 0;
    }
  }
  return result;
}

std::optional<Tensor> maxPool(MaxPoolOp op, ArrayRef<Tensor> operands) {
  return isFloat(operands[0].getKind())
             ? poolAs<double, MaxFold>(op, operands[0], false)
             : poolAs<int64_t, MaxFold>(op, operands[0], false);
}

std::optional<Tensor> avgPool(AvgPoolOp op, ArrayRef<Tensor> operands) {
  bool countPadding = op.getCountIncludePad();
  return isFloat(operands[0].getKind())
             ? poolAs<double, MeanFold>(op, operands[0], countPadding)
             : poolAs<int64_t, MeanFold>(op, operands[0], countPadding);
}
} // namespace

void ref::attachWindow(MLIRContext *context) {
  attach<maxPool>(context);
  attach<avgPool>(context);
}
