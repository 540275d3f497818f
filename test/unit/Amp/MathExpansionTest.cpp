//===- MathExpansionTest.cpp - Errors of the expanded functions -----------===//
#include "dialects/Amp/Impl/MathExpansion.h"
#include "test/unit/Amp/Jit.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::test;

namespace {
using Build = Value (*)(OpBuilder &, Location, Value);

struct Function {
  const char *name;
  Build build;
  double (*reference)(double);
  double low, high; ///< the range sampled besides all bit patterns
  double ulps;
};

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

const Function functions[] = {
    {"exp", buildExp, std::exp, -105, 90, 1.0},
    {"log", buildLog, std::log, 0, 4, 1.1},
    {"erf", buildErf, std::erf, -5, 5, 1.5},
    {"tanh", buildTanh, std::tanh, -10, 10, 1.6},
    {"sigmoid", buildSigmoid, sigmoid, -105, 30, 2.5},
    {"softplus", buildSoftplus, softplus, -105, 30, 2.0},
};

/// Bit patterns spread over all floats, points spread over the range, specials.
std::vector<float> samples(const Function &function) {
  std::vector<float> result;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 1009) {
    uint32_t word = bits;
    float value;
    memcpy(&value, &word, 4);
    result.push_back(value);
  }
  for (int i = 0; i <= 1 << 21; ++i) {
    double part = double(i) / (1 << 21);
    result.push_back(function.low + part * (function.high - function.low));
  }
  float infinity = std::numeric_limits<float>::infinity();
  for (float special :
       {0.0f, 1.0f, infinity, std::nanf(""), std::numeric_limits<float>::max(),
        std::numeric_limits<float>::min(),
        std::numeric_limits<float>::denorm_min(), 88.72283f, 88.72284f,
        87.33654f, 103.9721f, 103.9722f, 0.92f, 0.55f, 4.0f}) {
    result.push_back(special);
    result.push_back(-special);
  }
  result.resize((result.size() + 7) / 8 * 8, 1.0f);
  return result;
}

double errorInUlps(float got, double expected) {
  if (std::isnan(expected) || std::isinf(float(expected)) ||
      !std::isfinite(got)) {
    bool same = std::isnan(expected) ? std::isnan(got) : got == float(expected);
    // Rounding may decide about overflow either way next to the limit.
    return same ? 0 : 1e9;
  }
  int exponent = std::max(std::ilogb(expected == 0 ? 1e-300 : expected), -126);
  return std::fabs(got - expected) / std::ldexp(1.0, exponent - 23);
}

class MathExpansion : public testing::TestWithParam<Function> {};
} // namespace

TEST_P(MathExpansion, StaysWithinItsBound) {
  const Function &function = GetParam();
  Type f32 = Float32Type::get(&getContext());
  auto build = [&](OpBuilder &b, Location loc, ValueRange operands) {
    return function.build(b, loc, operands[0]);
  };
  auto vector = compileMap({f32}, 8, build),
       scalar = compileMap({f32}, 1, build);
  std::vector<float> in = samples(function), out(in.size()), one(in.size());
  vector->run({in.data(), out.data()}, in.size());
  scalar->run({in.data(), one.data()}, in.size());
  double worst = 0;
  float where = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    double error = errorInUlps(out[i], function.reference(in[i]));
    if (error > worst) {
      worst = error;
      where = in[i];
    }
    bool sameBits = memcmp(&out[i], &one[i], 4) == 0;
    ASSERT_TRUE(sameBits || (std::isnan(out[i]) && std::isnan(one[i])))
        << "at " << in[i];
  }
  EXPECT_LE(worst, function.ulps) << "at " << where;
  RecordProperty("worst", std::to_string(worst));
}

TEST_P(MathExpansion, KeepsTheSignOfZero) {
  const Function &function = GetParam();
  Type f32 = Float32Type::get(&getContext());
  auto map =
      compileMap({f32}, 1, [&](OpBuilder &b, Location loc, ValueRange v) {
        return function.build(b, loc, v[0]);
      });
  float in = -0.0f, out;
  map->run({&in, &out}, 1);
  EXPECT_EQ(std::signbit(out), std::signbit(function.reference(-0.0)));
}

TEST_P(MathExpansion, TakesDoubles) {
  const Function &function = GetParam();
  Type f64 = Float64Type::get(&getContext());
  auto map =
      compileMap({f64}, 4, [&](OpBuilder &b, Location loc, ValueRange v) {
        return function.build(b, loc, v[0]);
      });
  std::vector<double> in, out(400);
  for (int i = 0; i < 400; ++i) {
    in.push_back((i - 199.5) / 10);
  }
  map->run({in.data(), out.data()}, 400);
  for (int i = 0; i < 400; ++i) {
    double expected = function.reference(in[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(out[i]));
    } else {
      EXPECT_NEAR(out[i], expected, 1e-14 * std::fabs(expected));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MathExpansion, testing::ValuesIn(functions),
                         [](const auto &info) { return info.param.name; });
