//===- TensorDataTest.cpp - When two tensors are equal --------------------===//
#include "compiler/Driver/TensorData.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace ampc;
using namespace ampc::driver;

template <typename T>
static Comparison compare(uint32_t dtype, const std::vector<T> &got,
                          const std::vector<T> &expected,
                          Tolerance tolerance = {}) {
  int64_t dims[] = {static_cast<int64_t>(got.size())};
  ampc_tensor_desc desc{"t", dtype, 1, dims, got.size() * sizeof(T)};
  runtime::Tensor tensor;
  tensor.dtype = dtype;
  tensor.dims.push(expected.size());
  EXPECT_TRUE(tensor.data.allocate(expected.size() * sizeof(T)).ok());
  if (!expected.empty()) {
    memcpy(tensor.data.data(), expected.data(), expected.size() * sizeof(T));
  }
  return compareTensors(desc, reinterpret_cast<const uint8_t *>(got.data()),
                        tensor, tolerance);
}

static Comparison compareF32(const std::vector<float> &got,
                             const std::vector<float> &expected,
                             Tolerance tolerance = {}) {
  return compare(AMPC_DTYPE_F32, got, expected, tolerance);
}

static constexpr float infinite = std::numeric_limits<float>::infinity();
static constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();

TEST(Compare, FloatsWithinTolerance) {
  EXPECT_TRUE(compareF32({1, 2}, {1, 2.0019f}).isEqual());
  EXPECT_FALSE(compareF32({1, 2}, {1, 2.0021f}).isEqual());
  EXPECT_TRUE(compareF32({0.9e-7f}, {0}).isEqual());
  EXPECT_FALSE(compareF32({1.1e-7f}, {0}).isEqual());
  EXPECT_TRUE(compareF32({}, {}).isEqual());
}

TEST(Compare, SpecialValues) {
  EXPECT_TRUE(compareF32({notANumber, infinite, -infinite},
                         {notANumber, infinite, -infinite})
                  .isEqual());
  EXPECT_FALSE(compareF32({notANumber}, {1}).isEqual());
  EXPECT_FALSE(compareF32({1}, {notANumber}).isEqual());
  EXPECT_FALSE(compareF32({infinite}, {-infinite}).isEqual());
  EXPECT_FALSE(compareF32({infinite}, {notANumber}).isEqual());
  EXPECT_FALSE(compareF32({3e38f}, {infinite}).isEqual());
  // Whatever the norm allows, too.
  Tolerance loose;
  loose.bound = {tune::Metric::Relative, 1e9};
  EXPECT_FALSE(compareF32({notANumber, 1}, {1, 1}, loose).isEqual());
  EXPECT_TRUE(compareF32({notANumber, 5}, {notANumber, 1}, loose).isEqual());
}

TEST(Compare, Frobenius) {
  Tolerance bound;
  bound.bound = {tune::Metric::Relative, 0.1};
  Comparison close = compareF32({3, 4.5f}, {3, 4}, bound);
  EXPECT_TRUE(close.isEqual());
  EXPECT_DOUBLE_EQ(close.frobenius, 0.1);
  EXPECT_FALSE(compareF32({3, 4.6f}, {3, 4}, bound).isEqual());
  // An expected norm of 0 makes the bound absolute.
  EXPECT_TRUE(compareF32({0.05f}, {0}, bound).isEqual());
  EXPECT_FALSE(compareF32({0.2f}, {0}, bound).isEqual());
}

TEST(Compare, OtherMetrics) {
  Tolerance tolerance;
  tolerance.bound = {tune::Metric::Maximum, 0.5};
  EXPECT_TRUE(compareF32({1, 2.5f}, {1, 2}, tolerance).isEqual());
  EXPECT_EQ(compareF32({1, 3}, {1, 2}, tolerance).problem,
            "expected a maximum absolute error of at most 5.00e-01, got "
            "1.00e+00");
  tolerance.bound = {tune::Metric::Cosine, 1e-9};
  EXPECT_TRUE(compareF32({2, 4}, {1, 2}, tolerance).isEqual());
  EXPECT_FALSE(compareF32({2, 1}, {1, 2}, tolerance).isEqual());
  tolerance.bound = {tune::Metric::TopOne, 0};
  EXPECT_TRUE(compareF32({1, 9}, {1, 2}, tolerance).isEqual());
  EXPECT_FALSE(compareF32({3, 2}, {1, 2}, tolerance).isEqual());
}

TEST(Compare, NarrowFloats) {
  // 1.0 and its successor: 2^-10 apart in f16, 2^-7 in bf16.
  Tolerance tolerance{/*rtol=*/1e-3, /*atol=*/0, {}};
  using Bits = std::vector<uint16_t>;
  EXPECT_TRUE(
      compare(AMPC_DTYPE_F16, Bits{0x3c01}, Bits{0x3c00}, tolerance).isEqual());
  EXPECT_FALSE(
      compare(AMPC_DTYPE_F16, Bits{0x3c02}, Bits{0x3c00}, tolerance).isEqual());
  EXPECT_FALSE(compare(AMPC_DTYPE_BF16, Bits{0x3f81}, Bits{0x3f80}, tolerance)
                   .isEqual());
}

TEST(Compare, IntegersExactly) {
  using Ints = std::vector<int64_t>;
  Tolerance loose{1, 1, tune::ErrorBound{tune::Metric::Relative, 1e9}};
  EXPECT_TRUE(compare(AMPC_DTYPE_I64, Ints{-5}, Ints{-5}, loose).isEqual());
  Comparison other = compare(AMPC_DTYPE_I64, Ints{1, -5}, Ints{1, -6}, loose);
  EXPECT_EQ(other.problem,
            "1 of 2 elements differ; at [1]: expected -6, got -5");
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(compare(AMPC_DTYPE_U8, Bytes{255}, Bytes{254}).problem,
            "1 of 1 elements differ; at [0]: expected 254, got 255");
}

TEST(Compare, ShapesAndTypes) {
  EXPECT_EQ(compareF32({1}, {1, 2}).problem, "expected the shape [2], got [1]");
  int64_t dims[] = {1};
  ampc_tensor_desc desc{"t", AMPC_DTYPE_F32, 1, dims, 4};
  runtime::Tensor tensor;
  tensor.dtype = AMPC_DTYPE_F64;
  float got = 1;
  EXPECT_EQ(compareTensors(desc, reinterpret_cast<uint8_t *>(&got), tensor, {})
                .problem,
            "expected elements of f64, got f32");
}
