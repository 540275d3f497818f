//===- ConstantsTest.cpp - The loss of narrowing, against APFloat ---------===//
#include "passes/Precision/Constants.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace ampc::precision;

namespace {
RankedTensorType vectorOf(MLIRContext &context, int64_t size) {
  return RankedTensorType::get({size}, Float32Type::get(&context));
}

/// The loss of one value, by rounding it.
NarrowingLoss roundOne(float value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool inexact;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  NarrowingLoss loss;
  loss.elements = 1;
  loss.overflow = std::isfinite(value) && !number.isFinite();
  loss.flushed = value != 0 && number.isZero();
  loss.subnormal = number.isDenormal();
  return loss;
}

void expectEqual(const NarrowingLoss &actual, const NarrowingLoss &expected,
                 float value) {
  EXPECT_EQ(actual.overflow, expected.overflow) << value;
  EXPECT_EQ(actual.subnormal, expected.subnormal) << value;
  EXPECT_EQ(actual.flushed, expected.flushed) << value;
}
} // namespace

TEST(Constants, lossIsThatOfRounding) {
  MLIRContext context;
  std::vector<float> values = {0.0f, -0.0f, 1.0f, 0.1f};
  // Both sides of every bound of both types, and every power of two.
  for (double bound :
       {65504.0, 65520.0, 0x1p-14, 0x1p-24, 0x1p-25, 0x1.fep127, 0x1.ffp127,
        0x1p-126, 0x1p-133, 0x1p-134, 0x1.ffcp-15, 0x1.ffep-15, 0x1.fcp-127}) {
    float at = static_cast<float>(bound);
    for (float value :
         {std::nextafter(at, 0.0f), at, std::nextafter(at, INFINITY)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  for (int exponent = -149; exponent < 128; ++exponent) {
    values.push_back(std::ldexp(1.0f, exponent));
  }
  values.push_back(INFINITY);
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  for (FloatType type : {FloatType(Float16Type::get(&context)),
                         FloatType(BFloat16Type::get(&context))}) {
    for (float value : values) {
      auto attr = DenseElementsAttr::get(vectorOf(context, 1), value);
      auto loss = measureNarrowing(attr, type);
      ASSERT_TRUE(loss);
      expectEqual(*loss, roundOne(value, type.getFloatSemantics()), value);
    }
  }
}

TEST(Constants, splatsCountEachElement) {
  MLIRContext context;
  auto attr = DenseElementsAttr::get(vectorOf(context, 1000), 1.0e6f);
  auto loss = measureNarrowing(attr, Float16Type::get(&context));
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->elements, 1000);
  EXPECT_EQ(loss->overflow, 1000);
}

TEST(Constants, resourcesAreReadAtAnyAlignment) {
  MLIRContext context;
  alignas(8) char data[1 + 3 * sizeof(float)];
  const float values[3] = {1.0f, -1.0e6f, 1.0e-7f};
  std::memcpy(data + 1, values, sizeof(values));
  auto blob = UnmanagedAsmResourceBlob::allocateWithAlign(
      ArrayRef<char>(data + 1, sizeof(values)), 1);
  auto attr = DenseResourceElementsAttr::get(vectorOf(context, 3), "w",
                                             std::move(blob));
  auto loss = measureNarrowing(attr, Float16Type::get(&context));
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->overflow, 1);
  EXPECT_EQ(loss->subnormal, 1);
  EXPECT_EQ(loss->flushed, 0);
}

TEST(Constants, negative_dataOfAnotherSizeIsNotRead) {
  MLIRContext context;
  alignas(4) char data[sizeof(float)] = {};
  auto blob = UnmanagedAsmResourceBlob::allocateWithAlign(
      ArrayRef<char>(data, sizeof(data)), 4);
  auto attr = DenseResourceElementsAttr::get(vectorOf(context, 3), "w",
                                             std::move(blob));
  EXPECT_FALSE(measureNarrowing(attr, Float16Type::get(&context)));
}

TEST(Constants, negative_integersAreNotMeasured) {
  MLIRContext context;
  auto type = RankedTensorType::get({1}, IntegerType::get(&context, 32));
  auto attr = DenseElementsAttr::get(type, 7);
  EXPECT_FALSE(measureNarrowing(attr, Float16Type::get(&context)));
}
