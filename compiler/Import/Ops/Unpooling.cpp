//===- Unpooling.cpp - Pool indices and what undoes windows ---------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "compiler/Import/Ops/Windows.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace ampc::importer {

/// The lowest value of a number type.
static Value buildLowest(Node &n, Type element) {
  if (isa<FloatType>(element)) {
    return n.scalar(element, -std::numeric_limits<double>::infinity());
  }
  auto type = cast<IntegerType>(element);
  return n.scalar(element,
                  type.isUnsigned() ? 0 : -std::exp2(type.getWidth() - 1));
}

Value buildMaxPoolIndices(Node &n, Value x, const Window &window,
                          ArrayRef<int64_t> resultShape, bool isColumnMajor) {
  size_t rank = window.kernel.size();
  constexpr int64_t maxTaps = 1024;
  int64_t taps = 1;
  for (int64_t size : window.kernel) {
    taps = std::min(taps * size, maxTaps + 1);
  }
  if (taps > maxTaps) {
    (void)n.unsupported("indices of a window of so many elements");
    return {};
  }
  ArrayRef<int64_t> spatial = n.shape(x).drop_front(2);
  ArrayRef<int64_t> result = resultShape.drop_front(2);
  Type index = n.b.getI64Type();
  auto number = [&](int64_t value) { return n.scalar(index, value); };
  // Padded so that each window lies inside; nothing there ever wins.
  SmallVector<int64_t> low(rank + 2, 0), high(rank + 2, 0);
  for (size_t i = 0; i < rank; ++i) {
    int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    low[i + 2] = window.pads[i];
    high[i + 2] =
        (result[i] - 1) * window.strides[i] + span - spatial[i] - low[i + 2];
  }
  Value padded = n.build<amp::PadOp>(x, buildLowest(n, n.element(x)), low, high,
                                     amp::PadMode::Constant);
  SmallVector<int64_t> weights(rank, 1);
  int64_t plane = 1;
  for (size_t i = 0; i < rank; ++i) {
    size_t dim = isColumnMajor ? i : rank - 1 - i;
    weights[dim] = plane;
    plane *= spatial[dim];
  }
  // Where the window of each result starts, as a flat index.
  Value origin = n.reshape(
      n.build<amp::MulOp>(n.iota(index, {resultShape[0] * resultShape[1]}, 0),
                          number(plane)),
      [&] {
        SmallVector<int64_t> shape(rank + 2, 1);
        shape[0] = resultShape[0];
        shape[1] = resultShape[1];
        return shape;
      }());
  for (size_t i = 0; i < rank; ++i) {
    SmallVector<int64_t> row(rank + 2, 1);
    row[i + 2] = result[i];
    Value place = n.build<amp::MulOp>(n.iota(index, row, i + 2),
                                      number(window.strides[i] * weights[i]));
    place = n.build<amp::SubOp>(place, number(window.pads[i] * weights[i]));
    origin = n.build<amp::AddOp>(origin, place);
  }
  Value best, bestIndex;
  SmallVector<int64_t> tap(rank, 0);
  for (int64_t t = 0; t < taps && !n.hasFailed(); ++t) {
    SmallVector<int64_t> starts(rank + 2, 0), strides(rank + 2, 1);
    int64_t offset = 0;
    for (size_t i = 0; i < rank; ++i) {
      starts[i + 2] = tap[i] * window.dilations[i];
      strides[i + 2] = window.strides[i];
      offset += starts[i + 2] * weights[i];
    }
    Value candidate =
        n.build<amp::SliceOp>(padded, starts, resultShape, strides);
    Value place = n.build<amp::AddOp>(origin, number(offset));
    if (!best) {
      best = candidate;
      bestIndex = place;
    } else {
      Value isBetter =
          n.build<amp::CompareOp>(candidate, best, amp::ComparePredicate::GT);
      best = n.build<amp::SelectOp>(isBetter, candidate, best);
      bestIndex = n.build<amp::SelectOp>(isBetter, place, bestIndex);
    }
    for (size_t i = rank; i > 0 && ++tap[i - 1] == window.kernel[i - 1]; --i) {
      tap[i - 1] = 0;
    }
  }
  return n.broadcast(bestIndex, resultShape);
}

/// Puts each element back where the pool found it, zeros elsewhere.
static LogicalResult convertMaxUnpool(Node &n) {
  Value x = n.in(0), indices = n.in(1);
  auto window = readWindow(n, x, {});
  if (!window) {
    return failure();
  }
  size_t rank = window->kernel.size();
  SmallVector<int64_t> shape(n.shape(x).take_front(2));
  for (size_t i = 0; i < rank; ++i) {
    shape.push_back((n.shape(x)[i + 2] - 1) * window->strides[i] +
                    window->kernel[i] - window->pads[i] -
                    window->pads[i + rank]);
  }
  auto total = countElements(shape);
  auto count = countElements(n.shape(x));
  if (!total || n.shape(indices) != n.shape(x)) {
    return n.invalid("its indices or pads do not fit its input");
  }
  std::optional<SmallVector<int64_t>> wanted;
  if (n.has(2)) {
    auto read = n.constantInts(2, "output_shape");
    if (!read) {
      return failure();
    }
    wanted.emplace(read->begin(), read->end());
    if (wanted->size() != shape.size() || !countElements(*wanted)) {
      return n.invalid("its output_shape does not fit its input");
    }
  }
  // One operation, since the zeros are a tensor of no type of their own.
  n.set(0, n.composite1({x, indices}, [&](ArrayRef<Value> in) {
    Value zeros = n.splat(RankedTensorType::get({*total}, n.element(in[0])), 0);
    Value y = n.build<amp::ScatterElementsOp>(
        zeros, n.reshape(in[1], {*count}), n.reshape(in[0], {*count}),
        /*axis=*/0, amp::ScatterReduction::None);
    y = n.reshape(y, shape);
    if (!wanted) {
      return y;
    }
    SmallVector<int64_t> low(shape.size(), 0), high;
    for (auto [size, now] : llvm::zip_equal(*wanted, shape)) {
      high.push_back(size - now);
    }
    return n.build<amp::PadOp>(y, Value(), low, high, amp::PadMode::Constant);
  }));
  return success();
}

/// Sums columns of blocks into an image: a transposed convolution whose weight
/// puts each row of a block at its place.
static LogicalResult convertCol2Im(Node &n) {
  Value x = n.in(0);
  auto image = n.constantInts(1, "image_shape");
  auto block = n.constantInts(2, "block_shape");
  if (!image || !block) {
    return failure();
  }
  size_t rank = image->size();
  SmallVector<int64_t> strides = n.attrs.getInts("strides");
  SmallVector<int64_t> dilations = n.attrs.getInts("dilations");
  SmallVector<int64_t> pads = n.attrs.getInts("pads");
  strides.resize(strides.empty() ? rank : strides.size(), 1);
  dilations.resize(dilations.empty() ? rank : dilations.size(), 1);
  pads.resize(pads.empty() ? 2 * rank : pads.size(), 0);
  auto area = countElements(*block);
  if (n.rank(x) != 3 || rank < 1 || block->size() != rank ||
      strides.size() != rank || dilations.size() != rank ||
      pads.size() != 2 * rank || !area || *area == 0 ||
      !countElements(*image) || n.shape(x)[1] % *area != 0) {
    return n.invalid("its block does not fit its input");
  }
  if (rank > 3) {
    return n.unsupported("more than 3 spatial dimensions");
  }
  constexpr int64_t maxParameter = 1 << 20;
  SmallVector<int64_t> columns{n.shape(x)[0], n.shape(x)[1]}, extra;
  for (size_t i = 0; i < rank; ++i) {
    if (strides[i] < 1 || dilations[i] < 1 || pads[i] < 0 ||
        pads[i + rank] < 0 ||
        std::max({strides[i], dilations[i], pads[i], pads[i + rank]}) >
            maxParameter) {
      return n.invalid("a stride, dilation or pad is out of range");
    }
    int64_t rest = (*image)[i] + pads[i] + pads[i + rank] -
                   (dilations[i] * ((*block)[i] - 1) + 1);
    if (rest < 0) {
      return n.invalid("its block does not fit its image");
    }
    columns.push_back(rest / strides[i] + 1);
    extra.push_back(rest % strides[i]);
  }
  if (countElements(columns) != countElements(n.shape(x))) {
    return n.invalid("its columns do not fit its image");
  }
  int64_t channels = n.shape(x)[1] / *area;
  if (*area > 4096) {
    return n.unsupported("block of " + Twine(*area) + " elements");
  }
  SmallVector<int64_t> unit{1, *area, 1}, weightShape{n.shape(x)[1], 1};
  unit.append(block->begin(), block->end());
  weightShape.append(block->begin(), block->end());
  n.set(0, n.composite1({x}, [&](ArrayRef<Value> in) {
    Type element = n.element(in[0]), index = n.b.getI64Type();
    Value row = n.iota(index, {*area, 1}, 0);
    Value column = n.iota(index, {1, *area}, 1);
    Value identity =
        n.cast(n.build<amp::CompareOp>(row, column, amp::ComparePredicate::EQ),
               element);
    SmallVector<int64_t> spread{channels, *area, *area};
    Value weight =
        n.reshape(n.broadcast(n.reshape(identity, {1, *area, *area}), spread),
                  weightShape);
    return n.build<amp::ConvTransposeOp>(
        n.reshape(in[0], columns), weight, Value(), strides, pads, dilations,
        extra, channels, amp::Layout::ChannelsFirst);
  }));
  return success();
}

void addUnpoolingOps(OpTable &table) {
  table.add({
      {"Col2Im", convertCol2Im, AutocastClass::Follow, 3, 3},
      {"MaxUnpool", convertMaxUnpool, AutocastClass::Follow, 2, 3},
  });
}

} // namespace ampc::importer
