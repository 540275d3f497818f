//===- approximate_test.cpp - The .approx instructions, within bounds -----===//
#include "runtime/devices/sim/approximate.h"
#include "runtime/devices/sim/convert.h"

#include "ampc/numerics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace {

/// The largest of |got - want| / scale(want) over random arguments.
template <typename Want, typename Scale>
double worst(float (*got)(float), Want want, Scale scale, float low,
             float high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> draw(low, high);
  double most = 0;
  for (int i = 0; i < 100000; ++i) {
    float x = draw(random);
    double exact = want(static_cast<double>(x));
    double error = std::fabs(static_cast<double>(got(x)) - exact);
    most = std::fmax(most, error / scale(exact));
  }
  return most;
}

double relative(double exact) { return std::fabs(exact); }
double absolute(double) { return 1; }

TEST(Approximate, StaysWithinTheBounds) {
  auto rcp = [](double x) { return 1 / x; };
  auto rsqrt = [](double x) { return 1 / std::sqrt(x); };
  EXPECT_LE(worst(ampc_sim_ex2, exp2, relative, -100, 100), 0x1p-22);
  EXPECT_LE(worst(ampc_sim_lg2, log2, absolute, 0.5f, 2), 0x1p-22);
  EXPECT_LE(worst(ampc_sim_lg2, log2, relative, 3, 1e30f), 0x1p-22);
  EXPECT_LE(worst(ampc_sim_rcp_ftz, rcp, relative, 1e-3f, 1e3f), 0x1p-23);
  EXPECT_LE(worst(ampc_sim_rsqrt, rsqrt, relative, 1e-3f, 1e3f), 0x1p-22);
  EXPECT_LE(worst(ampc_sim_tanh, tanh, relative, -10, 10), 0x1p-11);
  EXPECT_LE(worst(ampc_sim_tanh, tanh, relative, -0.1f, 0.1f), 0x1p-11);
  EXPECT_LE(worst(ampc_sim_sin, sin, absolute, -3.14f, 3.14f), 0x1p-20);
  EXPECT_LE(worst(ampc_sim_cos, cos, absolute, -3.14f, 3.14f), 0x1p-20);
}

TEST(Approximate, SpecialValues) {
  EXPECT_EQ(ampc_sim_ex2(-INFINITY), 0);
  EXPECT_EQ(ampc_sim_ex2(INFINITY), INFINITY);
  EXPECT_EQ(ampc_sim_ex2(-140), 0x1p-140f);
  EXPECT_EQ(ampc_sim_ex2_ftz(-140), 0);
  EXPECT_TRUE(std::isnan(ampc_sim_ex2(NAN)));
  EXPECT_EQ(ampc_sim_lg2(0), -INFINITY);
  EXPECT_TRUE(std::isnan(ampc_sim_lg2(-1)));
  EXPECT_EQ(ampc_sim_rcp_ftz(0), INFINITY);
  EXPECT_EQ(ampc_sim_rcp_ftz(-0x1p-130f), -INFINITY);
  EXPECT_EQ(ampc_sim_tanh(100), 1);
  EXPECT_EQ(ampc_sim_tanh(-INFINITY), -1);
  EXPECT_TRUE(std::signbit(ampc_sim_tanh(-0.0f)));
}

TEST(Convert, Tf32) {
  EXPECT_EQ(ampc_sim_to_tf32_away(ampc_f32_from_bits(0x3f801000)), 0x3f802000u);
  EXPECT_EQ(ampc_sim_to_tf32_even(ampc_f32_from_bits(0x3f801000)), 0x3f800000u);
  EXPECT_EQ(ampc_sim_to_tf32_even(ampc_f32_from_bits(0x3f803000)), 0x3f804000u);
  EXPECT_EQ(ampc_sim_to_tf32_away(NAN), 0x7fffffffu);
}

/// The product 2049 * 2^-12 and an addend that makes a tie in f32.
TEST(Convert, FmaRoundsOnce) {
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    uint16_t bits[3];
    long double value[3];
    for (int j = 0; j < 3; ++j) {
      bits[j] = static_cast<uint16_t>((random() & 0x83ff) | (8 + random() % 14)
                                                                << 10);
      value[j] = ampc_f16_to_f32(bits[j]);
    }
    // Exact in 64 bits of significand for these exponents.
    long double exact = value[0] * value[1] + value[2];
    float lower = static_cast<float>(exact);
    uint16_t got = ampc_sim_fma_f16(bits[0], bits[1], bits[2]);
    uint16_t near = ampc_f32_to_f16(lower);
    long double best = 1e30L;
    for (int step = -1; step <= 1; ++step) {
      auto candidate = static_cast<uint16_t>(near + step);
      long double distance = fabsl(ampc_f16_to_f32(candidate) - exact);
      best = distance < best ? distance : best;
    }
    EXPECT_EQ(fabsl(ampc_f16_to_f32(got) - exact), best);
  }
}

TEST(Convert, FmaOfBf16) {
  // 1 * 1 + 2^-8 ties to even; a little more goes up.
  EXPECT_EQ(ampc_sim_fma_bf16(0x3f80, 0x3f80, 0x3b80), 0x3f80);
  // (1 + 2^-7)(2^-8) + 1 = 1 + 2^-8 + 2^-15
  EXPECT_EQ(ampc_sim_fma_bf16(0x3f81, 0x3b80, 0x3f80), 0x3f81);
  // 2^-60 + (1 + 2^-8 is no bf16): 2^-30 * 2^-30 + 1 is 1
  EXPECT_EQ(ampc_sim_fma_bf16(0x3080, 0x3080, 0x3f80), 0x3f80);
  EXPECT_EQ(ampc_sim_fma_bf16(0x7f80, 0, 0x3f80), 0x7fff);
}

TEST(Convert, Permute) {
  EXPECT_EQ(ampc_sim_permute(0x33221100, 0x77665544, 0x5410), 0x55441100u);
  EXPECT_EQ(ampc_sim_permute(0x000080ff, 0, 0x3298), 0x0000ffffu);
}

} // namespace
