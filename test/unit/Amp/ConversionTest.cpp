//===- ConversionTest.cpp - amp.cast between all element types ------------===//
#include "test/unit/Amp/OpRunner.h"
#include <cmath>
#include <random>

using namespace ampc::test;

namespace {
/// A binary float format, and `x` rounded to it, ties to even, in exact
/// arithmetic.
struct Format {
  int bits;        ///< of the significand
  int minExponent; ///< of normal numbers
  long double largest;

  long double round(long double x) const {
    if (x == 0 || std::isnan(x) || std::isinf(x)) {
      return x;
    }
    int exponent = std::max(std::ilogb(x), minExponent) - (bits - 1);
    long double result =
        std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
    return std::fabs(result) > largest ? std::copysign(INFINITY, x) : result;
  }
};
const Format bf16 = {8, -126, 0x1.fep127L}, f16 = {11, -14, 65504.0L};

/// Numbers around the points where rounding to the formats changes.
std::vector<double> nearTies() {
  std::mt19937_64 random(7);
  std::vector<double> result = {0.0,      -0.0,      1e-320, 1e300,  -1e300,
                                INFINITY, -INFINITY, NAN,    65504., 65519.9999,
                                65520.,   3.39e38,   3.4e38, 1e-8,   5.9e-8};
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random();
    double x = std::ldexp(1.0 + (bits >> 56) / 256.0, int(bits % 60) - 30);
    // On a tie of bf16 or f16, and just beside it in f64 and in f32.
    x += std::ldexp(x, (bits >> 20) % 2 ? -9 : -12);
    double offsets[] = {0, std::ldexp(x, -50), std::ldexp(x, -23)};
    x += ((bits >> 22) % 2 ? 1 : -1) * offsets[(bits >> 24) % 3];
    result.push_back((bits >> 30) % 2 ? x : -x);
  }
  return result;
}

template <typename From>
void checkRounding(const char *from, const std::vector<From> &x) {
  for (auto [to, format] :
       {std::make_pair("bf16", bf16), std::make_pair("f16", f16)}) {
    std::string type =
        std::string("(tensor<1x") + from + ">) -> tensor<1x" + to + ">";
    auto out = evaluate<float>("amp.cast", "", type, x);
    auto bounded = evaluate<float>("amp.cast", "{saturate}", type, x);
    for (size_t i = 0; i < x.size(); ++i) {
      long double value = x[i], expected = format.round(value);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(out[i]) && std::isnan(bounded[i]));
        continue;
      }
      EXPECT_TRUE(out[i] == float(expected))
          << type << " of " << double(value) << " gives " << out[i];
      if (std::fabs(expected) > format.largest) {
        expected = std::copysign(format.largest, expected);
      }
      EXPECT_TRUE(bounded[i] == float(expected))
          << type << " saturating of " << double(value) << " gives "
          << bounded[i];
    }
  }
}

template <typename To>
To truncated(double x) {
  if (std::isnan(x)) {
    return 0;
  }
  constexpr bool narrow =
      sizeof(To) <= 2 || (sizeof(To) == 4 && std::is_signed_v<To>);
  constexpr bool top = sizeof(To) == 8 && !std::is_signed_v<To>;
  __int128 low = narrow ? INT32_MIN : INT64_MIN;
  __int128 high = narrow ? INT32_MAX : top ? UINT64_MAX : INT64_MAX;
  double limit = narrow ? 0x1p31 : top ? 0x1p64 : 0x1p63;
  __int128 whole = x >= limit         ? high
                   : x <= double(low) ? low
                                      : static_cast<__int128>(x);
  return static_cast<To>(whole);
}

template <typename From, typename To>
void checkTruncation(const char *from, const char *to) {
  std::vector<From> x = {0,
                         From(0.9),
                         From(-0.9),
                         From(127.5),
                         From(-129.9),
                         From(255.9),
                         300,
                         -1,
                         65536,
                         From(1e9),
                         From(2147483648.0),
                         From(-2147483648.0),
                         From(3e9),
                         From(1e12),
                         From(9.3e18),
                         From(-9.3e18),
                         From(1.8e19),
                         From(1e30),
                         From(-1e30),
                         INFINITY,
                         -INFINITY,
                         NAN};
  std::string type =
      std::string("(tensor<1x") + from + ">) -> tensor<1x" + to + ">";
  auto out = evaluate<To>("amp.cast", "", type, x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(out[i], truncated<To>(x[i])) << type << " of " << x[i];
  }
}

template <typename From>
void checkAllTruncations(const char *from) {
  checkTruncation<From, int8_t>(from, "i8");
  checkTruncation<From, int16_t>(from, "i16");
  checkTruncation<From, int32_t>(from, "i32");
  checkTruncation<From, int64_t>(from, "i64");
  checkTruncation<From, uint8_t>(from, "ui8");
  checkTruncation<From, uint16_t>(from, "ui16");
  checkTruncation<From, uint32_t>(from, "ui32");
  checkTruncation<From, uint64_t>(from, "ui64");
}
} // namespace

TEST(Conversion, RoundsDoublesOnce) { checkRounding("f64", nearTies()); }

TEST(Conversion, RoundsFloats) {
  std::vector<double> wide = nearTies();
  checkRounding("f32", std::vector<float>(wide.begin(), wide.end()));
}

TEST(Conversion, RoundsIntegersOnce) {
  std::vector<int64_t> x = {0, 1, -1, INT64_MIN, INT64_MAX};
  std::vector<uint64_t> u = {0, 1, UINT64_MAX};
  std::vector<int32_t> w = {0, INT32_MIN, INT32_MAX};
  for (int shift = 9; shift < 62; ++shift) {
    for (int64_t offset : {-1, 0, 1}) {
      // 1.5 units of the last of 8 (or 11) bits: a tie, or just beside it.
      for (int64_t tie : {0x101, 0x103, 0x801, 0x803}) {
        int length = tie > 0x400 ? 11 : 8;
        if (shift > length) {
          int64_t value = (tie << (shift - length)) + offset;
          x.push_back(value);
          x.push_back(-value);
          u.push_back(uint64_t(value) << 1);
          w.push_back(static_cast<int32_t>(value));
        }
      }
    }
  }
  checkRounding("i64", x);
  checkRounding("ui64", u);
  checkRounding("i32", w);
}

TEST(Conversion, TruncatesWithoutUndefinedCases) {
  checkAllTruncations<float>("f32");
  checkAllTruncations<double>("f64");
}

TEST(Conversion, ExtendsBySignedness) {
  std::vector<int8_t> s = {-1, 127};
  EXPECT_EQ(
      evaluate<int32_t>("amp.cast", "", "(tensor<1xi8>) -> tensor<1xi32>", s),
      (std::vector<int32_t>{-1, 127}));
  EXPECT_EQ(evaluate<uint32_t>("amp.cast", "",
                               "(tensor<1xui8>) -> tensor<1xui32>", s),
            (std::vector<uint32_t>{255, 127}));
  EXPECT_EQ(
      evaluate<float>("amp.cast", "", "(tensor<1xui8>) -> tensor<1xf32>", s),
      (std::vector<float>{255, 127}));
  std::vector<uint64_t> u = {UINT64_MAX, 5};
  EXPECT_EQ(
      evaluate<double>("amp.cast", "", "(tensor<1xui64>) -> tensor<1xf64>", u),
      (std::vector<double>{0x1p64, 5}));
  std::vector<int32_t> wide = {300, -1};
  EXPECT_EQ(evaluate<uint8_t>("amp.cast", "",
                              "(tensor<1xi32>) -> tensor<1xui8>", wide),
            (std::vector<uint8_t>{44, 255}));
}

TEST(Conversion, TakesBooleans) {
  std::vector<float> x = {0.0f, -0.0f, 0.5f, NAN};
  EXPECT_EQ(
      evaluate<uint8_t>("amp.cast", "", "(tensor<1xf32>) -> tensor<1xi1>", x),
      (std::vector<uint8_t>{0, 0, 1, 1}));
  std::vector<uint8_t> b = {0, 1};
  EXPECT_EQ(
      evaluate<float>("amp.cast", "", "(tensor<1xi1>) -> tensor<1xbf16>", b),
      (std::vector<float>{0, 1}));
  EXPECT_EQ(
      evaluate<int64_t>("amp.cast", "", "(tensor<1xi1>) -> tensor<1xi64>", b),
      (std::vector<int64_t>{0, 1}));
}
