//===- IndexedTest.cpp - Views, gathers and pools against loops -----------===//
#include "test/unit/Amp/OpRunner.h"
#include <cmath>
#include <functional>

using namespace ampc::test;

namespace {
using Floats = std::vector<float>;
using Index = std::vector<int64_t>;

int64_t linear(const Index &shape, const Index &index) {
  int64_t result = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    result = result * shape[i] + index[i];
  }
  return result;
}

/// The values of `element` at each index of `shape`, row-major.
Floats fill(const Index &shape,
            const std::function<float(const Index &)> &element) {
  Floats result;
  Index index(shape.size(), 0);
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim]) {
      index[dim] = rest % shape[dim];
    }
    result.push_back(element(index));
  }
  return result;
}

/// Expects the values of `expected`, and whether there is a vector form.
void check(const IndexedResult<float> &result, const Floats &expected,
           bool vectorized) {
  EXPECT_EQ(result.values, expected);
  EXPECT_EQ(result.vectorized, vectorized);
}
} // namespace

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

TEST(Indexed, TransposePermutes) {
  auto result = evaluateIndexed<float>(
      "amp.transpose", "{permutation = array<i64: 2, 0, 1>}",
      "(tensor<3x4x5xf32>) -> tensor<5x3x4xf32>", counting<float>(60));
  check(result,
        fill({5, 3, 4},
             [](const Index &i) {
               return linear({3, 4, 5}, {i[1], i[2], i[0]});
             }),
        true);
}

TEST(Indexed, SliceStepsBackwards) {
  auto result = evaluateIndexed<float>(
      "amp.slice",
      "{starts = array<i64: 1, 7>, sizes = array<i64: 2, 4>, "
      "strides = array<i64: 2, -2>}",
      "(tensor<4x8xf32>) -> tensor<2x4xf32>", counting<float>(32));
  check(result, {15, 13, 11, 9, 31, 29, 27, 25}, true);
}

TEST(Indexed, BroadcastRepeats) {
  auto result = evaluateIndexed<float>("amp.broadcast", "",
                                       "(tensor<3x1xf32>) -> tensor<2x3x4xf32>",
                                       counting<float>(3));
  check(result, fill({2, 3, 4}, [](const Index &i) { return i[1]; }), true);
}

TEST(Indexed, ReshapeKeepsLanesWhereRowsAgree) {
  struct {
    const char *type;
    bool vectorized;
  } cases[] = {
      {"(tensor<6x8xf32>) -> tensor<2x3x8xf32>", true}, // rows untouched
      {"(tensor<2x3x8xf32>) -> tensor<48xf32>", true},  // whole chunks
      {"(tensor<48xf32>) -> tensor<2x1x24xf32>", true}, // one input row
      {"(tensor<4x12xf32>) -> tensor<6x8xf32>", true},  // both hold chunks
      {"(tensor<8x6xf32>) -> tensor<6x8xf32>", false},  // chunks cross rows
      {"(tensor<1x16x3x1xf32>) -> tensor<48xf32>", false},
      {"(tensor<1x48x1xf32>) -> tensor<4x12xf32>", true},
  };
  for (auto &[type, vectorized] : cases) {
    SCOPED_TRACE(type);
    check(evaluateIndexed<float>("amp.reshape", "", type, counting<float>(48)),
          counting<float>(48), vectorized);
  }
}

TEST(Indexed, UnpackFindsPanels) {
  // 5 x 12 packed along dimension 1 in panels of 8: [2 panels][5][8].
  auto result = evaluateIndexed<float>(
      "amp.unpack",
      "{dimension = 1 : i64, panel = 8 : i64, outer = array<i64>, "
      "inner = array<i64: 0>}",
      "(tensor<2x5x8xf32>) -> tensor<5x12xf32>", counting<float>(80));
  check(result,
        fill({5, 12},
             [](const Index &i) {
               return linear({2, 5, 8}, {i[1] / 8, i[0], i[1] % 8});
             }),
        true);
}

//===----------------------------------------------------------------------===//
// Joins and padding
//===----------------------------------------------------------------------===//

TEST(Indexed, ConcatPicksItsOperand) {
  Floats a = counting<float>(2 * 4), b = {100, 101, 102, 103}, none;
  auto rows = evaluateIndexed<float>(
      "amp.concat", "{axis = 0 : i64}",
      "(tensor<2x4xf32>, tensor<0x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>",
      a, none, b);
  check(rows, {0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 102, 103}, true);
  auto columns = evaluateIndexed<float>(
      "amp.concat", "{axis = 0 : i64}",
      "(tensor<8xf32>, tensor<4xf32>) -> tensor<12xf32>", a, b);
  check(columns, rows.values, true);
  Floats c = {1, 2}, d = {3, 4, 5, 6, 7, 8};
  check(evaluateIndexed<float>(
            "amp.concat", "{axis = 0 : i64}",
            "(tensor<2xf32>, tensor<6xf32>) -> tensor<8xf32>", c, d),
        {1, 2, 3, 4, 5, 6, 7, 8}, false);
}

TEST(Indexed, PadFillsRepeatsAndCrops) {
  Floats x = {1, 2, 3}, value = {9};
  const char *type = "(tensor<3xf32>) -> tensor<8xf32>";
  auto pad = [&](const char *mode) {
    std::string attributes =
        std::string("{low = array<i64: 2>, high = "
                    "array<i64: 3>, mode = #amp.pad_mode<") +
        mode + ">}";
    return attributes;
  };
  check(evaluateIndexed<float>("amp.pad", pad("constant"), type, x),
        {0, 0, 1, 2, 3, 0, 0, 0}, false);
  check(evaluateIndexed<float>("amp.pad", pad("constant"),
                               "(tensor<3xf32>, tensor<f32>) -> tensor<8xf32>",
                               x, value),
        {9, 9, 1, 2, 3, 9, 9, 9}, false);
  check(evaluateIndexed<float>("amp.pad", pad("edge"), type, x),
        {1, 1, 1, 2, 3, 3, 3, 3}, false);
  check(evaluateIndexed<float>("amp.pad", pad("wrap"), type, x),
        {2, 3, 1, 2, 3, 1, 2, 3}, false);
  check(evaluateIndexed<float>("amp.pad",
                               "{low = array<i64: 2>, high = array<i64: 2>, "
                               "mode = #amp.pad_mode<reflect>}",
                               "(tensor<3xf32>) -> tensor<7xf32>", x),
        {3, 2, 1, 2, 3, 2, 1}, false);
  check(evaluateIndexed<float>(
            "amp.pad",
            "{low = array<i64: -1, 1>, high = array<i64: 1, -2>, "
            "mode = #amp.pad_mode<constant>}",
            "(tensor<2x3xf32>) -> tensor<2x2xf32>", Floats{1, 2, 3, 4, 5, 6}),
        {0, 4, 0, 0}, false);
}

TEST(Indexed, PadOfOuterDimensionsKeepsLanes) {
  auto result = evaluateIndexed<float>(
      "amp.pad",
      "{low = array<i64: 1, 4>, high = array<i64: 1, 0>, "
      "mode = #amp.pad_mode<constant>}",
      "(tensor<2x4xf32>) -> tensor<4x8xf32>", counting<float>(8));
  check(result,
        fill({4, 8},
             [](const Index &i) {
               bool inside = i[0] >= 1 && i[0] < 3 && i[1] >= 4;
               return inside ? (i[0] - 1) * 4 + i[1] - 4 : 0;
             }),
        true);
}

TEST(Indexed, PadOfAnEmptyTensorLoadsNothing) {
  check(evaluateIndexed<float>("amp.pad",
                               "{low = array<i64: 2>, high = array<i64: 2>, "
                               "mode = #amp.pad_mode<constant>}",
                               "(tensor<0xf32>) -> tensor<4xf32>", Floats{}),
        {0, 0, 0, 0}, false);
}

TEST(Indexed, IotaCounts) {
  check(evaluateIndexed<float>("amp.iota", "{dimension = 1 : i64}",
                               "() -> tensor<2x4xbf16>"),
        {0, 1, 2, 3, 0, 1, 2, 3}, true);
  auto rows = evaluateIndexed<uint8_t>("amp.iota", "{dimension = 0 : i64}",
                                       "() -> tensor<2x4xui8>");
  EXPECT_EQ(rows.values, (std::vector<uint8_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

TEST(Indexed, GatherClampsAndWrapsIndices) {
  std::vector<int64_t> at = {2, -1, INT64_MAX, INT64_MIN, -3, 0};
  auto rows = evaluateIndexed<float>(
      "amp.gather", "{axis = 0 : i64}",
      "(tensor<3x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>",
      counting<float>(12), at);
  const int64_t row[] = {2, 2, 2, 0, 0, 0};
  check(rows,
        fill({2, 3, 4},
             [&](const Index &i) { return row[i[0] * 3 + i[1]] * 4 + i[2]; }),
        true);
  std::vector<int32_t> narrow = {1, -1, 7, -9};
  check(evaluateIndexed<float>(
            "amp.gather", "{axis = 1 : i64}",
            "(tensor<2x3xf32>, tensor<4xi32>) -> tensor<2x4xf32>",
            counting<float>(6), narrow),
        {1, 2, 2, 0, 4, 5, 5, 3}, false);
}

TEST(Indexed, GatherElementsPicksAlongTheAxis) {
  std::vector<int64_t> at = {1, 0, -1, 5, 0, 2, -9, 1};
  check(evaluateIndexed<float>(
            "amp.gather_elements", "{axis = 0 : i64}",
            "(tensor<3x4xf32>, tensor<2x4xi64>) -> tensor<2x4xf32>",
            counting<float>(12), at),
        {4, 1, 10, 11, 0, 9, 2, 7}, false);
}

TEST(Indexed, GatherNdReadsTuples) {
  std::vector<int64_t> at = {0, 1, -1, 9};
  check(evaluateIndexed<float>(
            "amp.gather_nd", "{batch_dims = 0 : i64}",
            "(tensor<2x3x4xf32>, tensor<2x2xi64>) -> tensor<2x4xf32>",
            counting<float>(24), at),
        {4, 5, 6, 7, 20, 21, 22, 23}, true);
  std::vector<int64_t> batched = {2, 0};
  check(evaluateIndexed<float>(
            "amp.gather_nd", "{batch_dims = 1 : i64}",
            "(tensor<2x3x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>",
            counting<float>(24), batched),
        {8, 9, 10, 11, 12, 13, 14, 15}, true);
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

namespace {
struct PoolCase {
  Index in, kernel, strides, pads, dilations, out; ///< [N, C, H, W] and [H, W]
  bool ceilMode, countIncludePad;
};

std::string list(const Index &values) {
  std::string result = "array<i64";
  for (size_t i = 0; i < values.size(); ++i) {
    result += (i ? ", " : ": ") + std::to_string(values[i]);
  }
  return result + ">";
}

std::string tensorType(const Index &shape) {
  std::string result = "tensor<";
  for (int64_t size : shape) {
    result += std::to_string(size) + "x";
  }
  return result + "f32>";
}

Index channelsLast(const Index &shape) {
  return {shape[0], shape[2], shape[3], shape[1]};
}

/// The pool at a result index, from the definition.
float pool(const PoolCase &c, const Floats &x, const Index &i, bool isMax) {
  float best = -INFINITY, sum = 0;
  int64_t count = 0;
  for (int64_t kh = 0; kh < c.kernel[0]; ++kh) {
    for (int64_t kw = 0; kw < c.kernel[1]; ++kw) {
      int64_t h = i[2] * c.strides[0] + kh * c.dilations[0] - c.pads[0];
      int64_t w = i[3] * c.strides[1] + kw * c.dilations[1] - c.pads[1];
      bool inside = h >= 0 && h < c.in[2] && w >= 0 && w < c.in[3];
      bool padded = h < c.in[2] + c.pads[2] && w < c.in[3] + c.pads[3];
      count += inside || (c.countIncludePad && padded);
      if (inside) {
        float value = x[linear(c.in, {i[0], i[1], h, w})];
        best = value > best || std::isnan(value) ? value : best;
        sum += value;
      }
    }
  }
  return isMax ? best : sum / count;
}

void checkPool(const PoolCase &c, bool firstHasLanes, bool lastHasLanes) {
  Index out = {c.in[0], c.in[1], c.out[0], c.out[1]};
  Floats x = fill(c.in, [&](const Index &i) {
    return std::sin(static_cast<float>(linear(c.in, i)));
  });
  Floats moved = fill(channelsLast(c.in), [&](const Index &i) {
    return x[linear(c.in, {i[0], i[3], i[1], i[2]})];
  });
  for (bool isMax : {true, false}) {
    std::string attributes =
        "kernel = " + list(c.kernel) + ", strides = " + list(c.strides) +
        ", pads = " + list(c.pads) + ", dilations = " + list(c.dilations) +
        ", ceil_mode = " + (c.ceilMode ? "true" : "false");
    if (!isMax) {
      attributes += std::string(", count_include_pad = ") +
                    (c.countIncludePad ? "true" : "false");
    }
    const char *name = isMax ? "amp.max_pool" : "amp.avg_pool";
    check(evaluateIndexed<float>(
              name, "{" + attributes + "}",
              "(" + tensorType(c.in) + ") -> " + tensorType(out), x),
          fill(out, [&](const Index &i) { return pool(c, x, i, isMax); }),
          firstHasLanes);
    Index outLast = channelsLast(out);
    check(evaluateIndexed<float>(
              name, "{" + attributes + ", layout = #amp.layout<channels_last>}",
              "(" + tensorType(channelsLast(c.in)) + ") -> " +
                  tensorType(outLast),
              moved),
          fill(outLast,
               [&](const Index &i) {
                 return pool(c, x, {i[0], i[3], i[1], i[2]}, isMax);
               }),
          lastHasLanes);
  }
}
} // namespace

TEST(Indexed, PoolsWithoutPadding) {
  checkPool({{1, 4, 6, 8},
             {2, 2},
             {2, 2},
             {0, 0, 0, 0},
             {1, 1},
             {3, 4},
             false,
             false},
            true, true);
}

TEST(Indexed, PoolsWithPaddingAndDilation) {
  for (bool include : {false, true}) {
    checkPool({{2, 4, 7, 8},
               {3, 3},
               {2, 1},
               {1, 2, 1, 2},
               {1, 2},
               {4, 8},
               false,
               include},
              false, true);
  }
}

TEST(Indexed, PoolsWithCeilMode) {
  for (bool include : {false, true}) {
    // The last windows reach beyond the padding.
    checkPool({{1, 4, 6, 6},
               {3, 3},
               {2, 2},
               {0, 1, 0, 1},
               {1, 1},
               {3, 4},
               true,
               include},
              false, true);
  }
}

TEST(Indexed, MaxPoolPropagatesNanAndTakesIntegers) {
  auto result = evaluateIndexed<float>(
      "amp.max_pool",
      "{kernel = array<i64: 2>, strides = array<i64: 2>, "
      "pads = array<i64: 0, 0>, dilations = array<i64: 1>}",
      "(tensor<1x1x4xf32>) -> tensor<1x1x2xf32>", Floats{NAN, 1, -5, -4});
  EXPECT_TRUE(std::isnan(result.values[0]));
  EXPECT_EQ(result.values[1], -4);
  auto bytes = evaluateIndexed<uint8_t>(
      "amp.max_pool",
      "{kernel = array<i64: 2>, strides = array<i64: 2>, "
      "pads = array<i64: 0, 0>, dilations = array<i64: 1>}",
      "(tensor<1x1x4xui8>) -> tensor<1x1x2xui8>",
      std::vector<uint8_t>{200, 1, 3, 2});
  EXPECT_EQ(bytes.values, (std::vector<uint8_t>{200, 3}));
  auto least = evaluateIndexed<int64_t>(
      "amp.max_pool",
      "{kernel = array<i64: 2>, strides = array<i64: 2>, "
      "pads = array<i64: 0, 0>, dilations = array<i64: 1>}",
      "(tensor<1x1x4xi64>) -> tensor<1x1x2xi64>",
      std::vector<int64_t>{INT64_MIN, INT64_MIN, -3, -2});
  EXPECT_EQ(least.values, (std::vector<int64_t>{INT64_MIN, -2}));
}
