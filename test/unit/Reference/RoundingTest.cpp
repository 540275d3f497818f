//===- RoundingTest.cpp - Each conversion rounds once, as APFloat does ----===//
#include "dialects/Amp/Reference/Convert.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace llvm;
using namespace ampc::ref;

namespace {

const fltSemantics &getSemantics(Kind kind) {
  switch (kind) {
  case Kind::F16:
    return APFloat::IEEEhalf();
  case Kind::BF16:
    return APFloat::BFloat();
  case Kind::F32:
    return APFloat::IEEEsingle();
  default:
    return APFloat::IEEEdouble();
  }
}

/// The stored bits of one element.
uint64_t getBits(Kind kind, const char *bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, getByteWidth(kind));
  return bits;
}

uint64_t getExpected(Kind kind, APFloat value) {
  bool inexact;
  value.convert(getSemantics(kind), APFloat::rmNearestTiesToEven, &inexact);
  return value.bitcastToAPInt().getZExtValue();
}

void expectStored(Kind kind, double value) {
  char bytes[8];
  storeDoubles(kind, &value, 1, bytes);
  EXPECT_EQ(getBits(kind, bytes), getExpected(kind, APFloat(value)))
      << "of " << value << " as kind " << static_cast<int>(kind);
}

constexpr Kind floats[] = {Kind::F16, Kind::BF16, Kind::F32};

// All 16-bit values, what lies halfway to the next one, and the f64 numbers on
// both sides of that.
TEST(Rounding, TiesOf16BitFloats) {
  for (Kind kind : {Kind::F16, Kind::BF16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      uint16_t raw = bits;
      double value;
      loadDoubles(kind, reinterpret_cast<const char *>(&raw), 1, 1, &value);
      APFloat expected(getSemantics(kind), APInt(16, bits));
      bool inexact;
      expected.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                       &inexact);
      if (std::isnan(value)) {
        EXPECT_TRUE(expected.isNaN()) << bits;
        continue;
      }
      ASSERT_EQ(value, expected.convertToDouble()) << bits;
      uint16_t nextRaw = bits + 1;
      double next;
      loadDoubles(kind, reinterpret_cast<const char *>(&nextRaw), 1, 1, &next);
      double tie = value + (next - value) / 2;
      if (!std::isfinite(tie)) {
        continue;
      }
      expectStored(kind, tie);
      expectStored(kind, std::nextafter(tie, -HUGE_VAL));
      expectStored(kind, std::nextafter(tie, HUGE_VAL));
    }
  }
}

TEST(Rounding, Doubles) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    // Exponents around the ranges of the narrow types, subnormals included.
    uint64_t exponent = 1023 - 160 + random() % 320;
    uint64_t bits = (random() >> 12) | exponent << 52 | (random() & 1) << 63;
    // Many trailing zeros make ties frequent.
    bits &= ~uint64_t(0) << (random() % 52);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    for (Kind kind : floats) {
      expectStored(kind, value);
    }
  }
  for (double special : {0.0, -0.0, HUGE_VAL, -HUGE_VAL, 65519.999, 65520.0}) {
    for (Kind kind : floats) {
      expectStored(kind, special);
    }
  }
}

// Through `convert`, which reads integers beyond 2^53.
TEST(Rounding, Integers) {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  std::mt19937_64 random(2);
  for (bool isUnsigned : {false, true}) {
    std::vector<uint64_t> values{0, ~uint64_t(0), uint64_t(1) << 63,
                                 (uint64_t(1) << 54) + (1 << 30) + 1};
    for (int i = 0; i < 20000; ++i) {
      uint64_t value = random() >> (random() % 64);
      value &= ~uint64_t(0) << (random() % 64);
      // One more or less than a tie.
      values.push_back(value + random() % 3 - 1);
    }
    auto integer = b.getIntegerType(64, /*isSigned=*/!isUnsigned);
    auto type = mlir::RankedTensorType::get(
        {static_cast<int64_t>(values.size())},
        isUnsigned ? mlir::Type(integer) : mlir::Type(b.getI64Type()));
    auto tensor =
        Tensor::borrow(type, reinterpret_cast<const char *>(values.data()));
    for (mlir::Type element :
         {mlir::Type(b.getF16Type()), mlir::Type(b.getBF16Type()),
          mlir::Type(b.getF32Type()), mlir::Type(b.getF64Type())}) {
      auto result = convert(tensor, element);
      ASSERT_TRUE(result);
      Kind kind = result->getKind();
      for (size_t i = 0; i < values.size(); ++i) {
        APFloat expected(getSemantics(kind));
        expected.convertFromAPInt(APInt(64, values[i]), !isUnsigned,
                                  APFloat::rmNearestTiesToEven);
        ASSERT_EQ(
            getBits(kind, result->getBytes().data() + i * getByteWidth(kind)),
            expected.bitcastToAPInt().getZExtValue())
            << values[i] << " as kind " << static_cast<int>(kind);
      }
    }
  }
}

// The direct paths between f32 and the 16-bit floats agree with the general
// one.
TEST(Rounding, DirectCasts) {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  std::mt19937_64 random(3);
  std::vector<float> values;
  for (int i = 0; i < 100000; ++i) {
    uint32_t bits = static_cast<uint32_t>(random());
    bits &= ~uint32_t(0) << (random() % 23);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isnan(value)) {
      values.push_back(value);
    }
  }
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())},
                                          b.getF32Type());
  auto tensor =
      Tensor::borrow(type, reinterpret_cast<const char *>(values.data()));
  for (mlir::Type element :
       {mlir::Type(b.getF16Type()), mlir::Type(b.getBF16Type())}) {
    auto narrow = convert(tensor, element);
    ASSERT_TRUE(narrow);
    auto wide = convert(*narrow, b.getF32Type());
    ASSERT_TRUE(wide);
    Kind kind = narrow->getKind();
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(getBits(kind, narrow->getBytes().data() + 2 * i),
                getExpected(kind, APFloat(values[i])))
          << values[i];
      ASSERT_EQ(wide->getDouble(i), narrow->getDouble(i));
    }
  }
}

} // namespace
