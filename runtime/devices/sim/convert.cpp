//===- convert.cpp - cvt of packed and narrow formats ---------------------===//
#include "runtime/devices/sim/convert.h"

#include "ampc/numerics.h"

// The hardware's NaN of these formats is canonical; payloads are lost.
uint16_t ampc_sim_to_bf16(float x) {
  return x != x ? 0x7fff : ampc_f32_to_bf16(x);
}

uint16_t ampc_sim_to_f16(float x) {
  return x != x ? 0x7fff : ampc_f32_to_f16(x);
}

static constexpr uint32_t tf32Mask = 0xffffe000u;

uint32_t ampc_sim_to_tf32_away(float x) {
  uint32_t bits = ampc_f32_bits(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) {
    return x != x ? 0x7fffffffu : bits;
  }
  return (bits + 0x1000u) & tf32Mask;
}

uint32_t ampc_sim_to_tf32_even(float x) {
  uint32_t bits = ampc_f32_bits(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) {
    return x != x ? 0x7fffffffu : bits;
  }
  return (bits + 0xfffu + (bits >> 13 & 1)) & tf32Mask;
}

/// a * b + c, where a * b is exact. An inexact sum is made odd, which keeps a
/// second rounding from meeting a false tie.
static double fmaToOdd(double a, double b, double c) {
  double product = a * b;
  double sum = product + c;
  double other = sum - product;
  double error = (product - (sum - other)) + (c - other);
  uint64_t bits = ampc_f64_bits(sum);
  if (error != 0 && error == error && !(bits & 1)) {
    bool away = (error > 0) == (sum > 0);
    return ampc_f64_from_bits(away ? bits + 1 : bits - 1);
  }
  return sum;
}

uint16_t ampc_sim_fma_f16(uint16_t a, uint16_t b, uint16_t c) {
  double sum =
      fmaToOdd(ampc_f16_to_f64(a), ampc_f16_to_f64(b), ampc_f16_to_f64(c));
  return sum != sum ? 0x7fff : ampc_f64_to_f16(sum);
}

uint16_t ampc_sim_fma_bf16(uint16_t a, uint16_t b, uint16_t c) {
  double sum =
      fmaToOdd(ampc_bf16_to_f64(a), ampc_bf16_to_f64(b), ampc_bf16_to_f64(c));
  return sum != sum ? 0x7fff : ampc_f64_to_bf16(sum);
}

uint32_t ampc_sim_permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t pick = selector >> (4 * i);
    auto byte = static_cast<uint32_t>(bytes >> (8 * (pick & 7)) & 0xff);
    if (pick & 8) {
      byte = byte & 0x80 ? 0xff : 0; // its sign
    }
    result |= byte << (8 * i);
  }
  return result;
}
