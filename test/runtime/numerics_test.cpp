//===- numerics_test.cpp - 16-bit conversion against the definition -------===//
#include "ampc/numerics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace {

struct Format {
  const char *name;
  int fractionBits;
  uint16_t infinity;
  double (*widen)(uint16_t);
  uint16_t (*narrow)(float);
  uint16_t (*narrow64)(double);
};
const Format formats[] = {
    {"f16", 10, 0x7c00, ampc_f16_to_f64, ampc_f32_to_f16, ampc_f64_to_f16},
    {"bf16", 7, 0x7f80, ampc_bf16_to_f64, ampc_f32_to_bf16, ampc_f64_to_bf16},
};

/// The value of a finite 16-bit pattern by the definition of the format.
double valueOf(const Format &format, uint16_t bits) {
  int fraction = bits & ((1 << format.fractionBits) - 1);
  int exponent = (bits & 0x7fff) >> format.fractionBits;
  int bias = (format.infinity >> format.fractionBits) / 2;
  double significand =
      exponent ? (1 << format.fractionBits) + fraction : fraction;
  int scale = (exponent ? exponent : 1) - bias - format.fractionBits;
  double magnitude = std::ldexp(significand, scale);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Numerics, widenEveryPattern) {
  for (const Format &format : formats) {
    for (uint32_t i = 0; i < 65536; ++i) {
      uint16_t bits = static_cast<uint16_t>(i);
      double wide = format.widen(bits);
      uint16_t magnitude = bits & 0x7fff;
      if (magnitude > format.infinity) {
        ASSERT_TRUE(std::isnan(wide)) << format.name << " " << i;
      } else if (magnitude == format.infinity) {
        ASSERT_EQ(wide, bits & 0x8000 ? -INFINITY : INFINITY);
      } else {
        ASSERT_EQ(ampc_f64_bits(wide), ampc_f64_bits(valueOf(format, bits)))
            << format.name << " " << i;
      }
    }
  }
}

TEST(Numerics, roundTripEveryPattern) {
  for (const Format &format : formats) {
    for (uint32_t i = 0; i < 65536; ++i) {
      uint16_t bits = static_cast<uint16_t>(i);
      double wide = format.widen(bits);
      // A NaN comes back quiet, with sign and payload.
      uint16_t quiet = static_cast<uint16_t>(1 << (format.fractionBits - 1));
      uint16_t expected = (bits & 0x7fff) > format.infinity
                              ? static_cast<uint16_t>(bits | quiet)
                              : bits;
      ASSERT_EQ(format.narrow(static_cast<float>(wide)), expected);
      ASSERT_EQ(format.narrow64(wide), expected);
    }
  }
}

/// Around every representable value and every midpoint, both types of source.
TEST(Numerics, nearestEvenEverywhere) {
  for (const Format &format : formats) {
    for (uint32_t i = 0; i < format.infinity; ++i) {
      uint16_t below = static_cast<uint16_t>(i);
      uint16_t above = static_cast<uint16_t>(i + 1);
      double low = valueOf(format, below);
      // Past the largest value, the next step decides between it and infinity.
      double high = above == format.infinity
                        ? 2 * low - valueOf(format, below - 1)
                        : valueOf(format, above);
      double middle = low + (high - low) / 2;
      uint16_t even = below & 1 ? above : below;
      ASSERT_EQ(format.narrow64(middle), even) << format.name << " " << i;
      ASSERT_EQ(format.narrow64(-middle), even | 0x8000);
      ASSERT_EQ(format.narrow64(std::nextafter(middle, 0.0)), below);
      ASSERT_EQ(format.narrow64(std::nextafter(middle, INFINITY)), above);
      float middleF = static_cast<float>(middle);
      if (static_cast<double>(middleF) != middle) {
        continue; // below f32's own subnormals
      }
      ASSERT_EQ(format.narrow(middleF), even);
      ASSERT_EQ(format.narrow(-middleF), even | 0x8000);
      ASSERT_EQ(format.narrow(std::nextafterf(middleF, 0.0f)), below);
      ASSERT_EQ(format.narrow(std::nextafterf(middleF, INFINITY)), above);
    }
  }
}

TEST(Numerics, f64IsRoundedOnce) {
  // Through f32 this becomes a tie, and goes to the even neighbour below.
  double justAboveTie = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(ampc_f64_to_f16(justAboveTie), 0x3c01);
  EXPECT_EQ(ampc_f32_to_f16(static_cast<float>(justAboveTie)), 0x3c00);
  double justAboveTieB = 1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40);
  EXPECT_EQ(ampc_f64_to_bf16(justAboveTieB), 0x3f81);
}

TEST(Numerics, extremes) {
  EXPECT_EQ(ampc_f32_to_f16(65504.0f), AMPC_F16_MAX_BITS);
  EXPECT_EQ(ampc_f32_to_f16(65519.0f), AMPC_F16_MAX_BITS);
  EXPECT_EQ(ampc_f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(ampc_f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(ampc_f64_to_bf16(AMPC_BF16_MAX), AMPC_BF16_MAX_BITS);
  EXPECT_EQ(ampc_f64_to_f16(1e300), 0x7c00);
  EXPECT_EQ(ampc_f64_to_f16(-1e300), 0xfc00);
  EXPECT_EQ(ampc_f64_to_f16(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(ampc_f64_to_bf16(-std::numeric_limits<double>::denorm_min()),
            0x8000);
  // A signaling f32 NaN whose payload lies only in the bits that are cut off.
  EXPECT_EQ(ampc_f32_to_bf16(ampc_f32_from_bits(0x7f800001)), 0x7fc0);
  EXPECT_EQ(ampc_f32_to_f16(ampc_f32_from_bits(0xff800001)), 0xfe00);
}

#ifdef __FLT16_MANT_DIG__
/// The compiler's own type, over a walk that meets every exponent.
TEST(Numerics, agreesWithFloat16) {
  for (uint64_t i = 0; i < (1ull << 32); i += 65521) {
    float value = ampc_f32_from_bits(static_cast<uint32_t>(i));
    if (std::isnan(value)) {
      continue;
    }
    _Float16 half = static_cast<_Float16>(value);
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    ASSERT_EQ(ampc_f32_to_f16(value), bits) << value;
  }
}
#endif

TEST(Numerics, bulkFormsEqualSingleForms) {
  std::vector<float> wide;
  std::vector<double> wider;
  for (uint32_t i = 0; i < 1000; ++i) {
    wide.push_back(ampc_f32_from_bits(i * 4294967u));
    wider.push_back(wide.back());
  }
  std::vector<uint16_t> narrow(wide.size());
  std::vector<float> back(wide.size());
  auto check = [&](uint16_t (*one)(float), float (*widen)(uint16_t)) {
    for (size_t i = 0; i < wide.size(); ++i) {
      ASSERT_EQ(narrow[i], one(wide[i]));
      ASSERT_EQ(ampc_f32_bits(back[i]), ampc_f32_bits(widen(narrow[i])));
    }
  };
  ampc_f32_to_f16_n(wide.data(), narrow.data(), wide.size());
  ampc_f16_to_f32_n(narrow.data(), back.data(), wide.size());
  check(ampc_f32_to_f16, ampc_f16_to_f32);
  ampc_f64_to_f16_n(wider.data(), narrow.data(), wide.size());
  check(ampc_f32_to_f16, ampc_f16_to_f32);
  ampc_f32_to_bf16_n(wide.data(), narrow.data(), wide.size());
  ampc_bf16_to_f32_n(narrow.data(), back.data(), wide.size());
  check(ampc_f32_to_bf16, ampc_bf16_to_f32);
  ampc_f64_to_bf16_n(wider.data(), narrow.data(), wide.size());
  check(ampc_f32_to_bf16, ampc_bf16_to_f32);
}

} // namespace
