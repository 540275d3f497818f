/*===- numerics.h - The 16-bit formats and their rounding -----------------===*\
|*
|* One definition of IEEE binary16 (f16) and bfloat16 (bf16) conversion for the
|* compiler, the reference evaluator, the runtime and the tests. Plain C and
|* C++, integer arithmetic only: results do not depend on the target, on
|* compiler flags, nor on the floating-point environment.
|*
|* Narrowing rounds to nearest, ties to even, straight from the source format
|* (f64 is never rounded twice); overflow gives infinity, subnormals are exact.
|* A NaN stays a NaN: it becomes quiet and keeps its sign and leading payload.
|* 16-bit values travel as their bits in a uint16_t.
|*
\*===----------------------------------------------------------------------===*/
#ifndef AMPC_NUMERICS_H
#define AMPC_NUMERICS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Largest finite values, as bits and as numbers. */
#define AMPC_F16_MAX_BITS 0x7bffu  /* 65504 */
#define AMPC_BF16_MAX_BITS 0x7f7fu /* (2 - 2^-7) * 2^127 */
#define AMPC_F16_MAX 65504.0
#define AMPC_BF16_MAX 338953138925153547590470800371487866880.0

static inline uint32_t ampc_f32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float ampc_f32_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint64_t ampc_f64_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline double ampc_f64_from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/** Shifts `value` right by `shift` (1 to 63), rounding to nearest even. */
static inline uint64_t ampc_shift_right_rne(uint64_t value, unsigned shift) {
  uint64_t quotient = value >> shift;
  uint64_t rest = value & (((uint64_t)1 << shift) - 1);
  uint64_t half = (uint64_t)1 << (shift - 1);
  return quotient + (uint64_t)(rest > half || (rest == half && (quotient & 1)));
}

static inline float ampc_f16_to_f32(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t fraction = bits & 0x3ffu;
  if (exponent == 31) {
    uint32_t quiet = fraction ? 0x400000u : 0;
    return ampc_f32_from_bits(sign | 0x7f800000u | quiet | fraction << 13);
  }
  if (exponent) {
    return ampc_f32_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
  }
  /* Zero or subnormal: fraction * 2^-24, exact in f32. */
  float magnitude = (float)fraction * 5.9604644775390625e-8f;
  return ampc_f32_from_bits(sign | ampc_f32_bits(magnitude));
}

static inline uint16_t ampc_f32_to_f16(float value) {
  uint32_t bits = ampc_f32_bits(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  }
  if (magnitude >= 0x477ff000u) { /* 65520 and up round past the largest */
    return (uint16_t)(sign | 0x7c00u);
  }
  if (magnitude >= 0x38800000u) { /* normal in f16: 2^-14 and up */
    uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return (uint16_t)(sign | ((rounded - 0x38000000u) >> 13));
  }
  if (magnitude <= 0x33000000u) { /* 2^-25 ties to even, to zero */
    return (uint16_t)sign;
  }
  uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  unsigned shift = 126u - (magnitude >> 23); /* 14 to 24 */
  return (uint16_t)(sign | ampc_shift_right_rne(significand, shift));
}

static inline float ampc_bf16_to_f32(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  uint32_t quiet = (wide & 0x7fffffffu) > 0x7f800000u ? 0x400000u : 0;
  return ampc_f32_from_bits(wide | quiet);
}

static inline uint16_t ampc_f32_to_bf16(float value) {
  uint32_t bits = ampc_f32_bits(value);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  uint32_t quiet = bits >> 16 | 0x40u;
  return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

static inline double ampc_f16_to_f64(uint16_t bits) {
  return (double)ampc_f16_to_f32(bits);
}

static inline double ampc_bf16_to_f64(uint16_t bits) {
  return (double)ampc_bf16_to_f32(bits);
}

/** Rounds to the 16-bit format with `fraction_bits` (1 to 10) fraction bits;
 *  the other 15 - fraction_bits are its exponent. */
static inline uint16_t ampc_f64_to_16(double value, unsigned fraction_bits) {
  uint64_t bits = ampc_f64_bits(value);
  uint32_t sign = (uint32_t)(bits >> 48) & 0x8000u;
  uint64_t magnitude = bits & 0x7fffffffffffffffull;
  uint32_t infinity = 0x7fffu >> fraction_bits << fraction_bits;
  int bias = (int)(infinity >> fraction_bits >> 1);
  uint64_t fraction = magnitude & 0xfffffffffffffull;
  int exponent = (int)(magnitude >> 52) - 1023;
  unsigned drop = 52u - fraction_bits;
  if (exponent == 1024) {
    uint32_t quiet = fraction ? 1u << (fraction_bits - 1) : 0;
    return (uint16_t)(sign | infinity | quiet | (uint32_t)(fraction >> drop));
  }
  if (exponent > bias) {
    return (uint16_t)(sign | infinity);
  }
  /* Below half of the smallest subnormal; f64's own subnormals too. */
  if (exponent < -bias - (int)fraction_bits) {
    return (uint16_t)sign;
  }
  uint64_t significand = fraction | (uint64_t)1 << 52;
  uint32_t result;
  if (exponent >= 1 - bias) {
    /* The carry of a significand that rounds to 2 grows the exponent; out of
     * the largest exponent it gives infinity. */
    result = ((uint32_t)(exponent + bias - 1) << fraction_bits) +
             (uint32_t)ampc_shift_right_rne(significand, drop);
  } else {
    unsigned shift = drop + (unsigned)(1 - bias - exponent);
    result = (uint32_t)ampc_shift_right_rne(significand, shift);
  }
  return (uint16_t)(sign | result);
}

static inline uint16_t ampc_f64_to_f16(double value) {
  return ampc_f64_to_16(value, 10);
}

static inline uint16_t ampc_f64_to_bf16(double value) {
  return ampc_f64_to_16(value, 7);
}

/* Bulk forms: `count` elements, source and destination do not overlap. */

static inline void ampc_f16_to_f32_n(const uint16_t *from, float *to,
                                     size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = ampc_f16_to_f32(from[i]);
  }
}

static inline void ampc_f32_to_f16_n(const float *from, uint16_t *to,
                                     size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = ampc_f32_to_f16(from[i]);
  }
}

static inline void ampc_bf16_to_f32_n(const uint16_t *from, float *to,
                                      size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = ampc_bf16_to_f32(from[i]);
  }
}

static inline void ampc_f32_to_bf16_n(const float *from, uint16_t *to,
                                      size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = ampc_f32_to_bf16(from[i]);
  }
}

static inline void ampc_f64_to_f16_n(const double *from, uint16_t *to,
                                     size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = ampc_f64_to_f16(from[i]);
  }
}

static inline void ampc_f64_to_bf16_n(const double *from, uint16_t *to,
                                      size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = ampc_f64_to_bf16(from[i]);
  }
}

#ifdef __cplusplus
}
#endif

#endif /* AMPC_NUMERICS_H */
