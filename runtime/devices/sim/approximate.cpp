//===- approximate.cpp - The .approx instructions -------------------------===//
#include "runtime/devices/sim/approximate.h"

#include "ampc/numerics.h"

#include <emmintrin.h>

namespace {

constexpr double infinity = __builtin_inf();
constexpr double ln2 = 0.69314718055994530942;
constexpr double pi = 3.14159265358979323846;

float flush(float value) {
  uint32_t bits = ampc_f32_bits(value);
  return bits & 0x7f800000u ? value : ampc_f32_from_bits(bits & 0x80000000u);
}

bool isNan(double x) { return x != x; }

double root(double x) {
  return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_set_sd(x), _mm_set_sd(x)));
}

/// The nearest integer of a number below 2^51.
double nearest(double x) {
  constexpr double shift = 6755399441055744.0; // 1.5 * 2^52
  volatile double shifted = x + shift;
  return shifted - shift;
}

/// 2^n, n from -1022 to 1023.
double powerOfTwo(int n) {
  return ampc_f64_from_bits(static_cast<uint64_t>(n + 1023) << 52);
}

double exp2(double x) {
  if (isNan(x)) {
    return x;
  }
  if (x > 1000) {
    return infinity;
  }
  if (x < -1000) {
    return 0;
  }
  double whole = nearest(x);
  double y = (x - whole) * ln2; // at most 0.35
  double sum = 1, term = 1;
  for (int i = 1; i <= 15; ++i) {
    term *= y / i;
    sum += term;
  }
  return sum * powerOfTwo(static_cast<int>(whole));
}

/// Of a positive, finite, normal number.
double log2(double x) {
  uint64_t bits = ampc_f64_bits(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m =
      ampc_f64_from_bits((bits & 0xfffffffffffffull) | 1023ull << 52); // [1, 2)
  if (m > 1.41421356) {
    m /= 2;
    ++exponent;
  }
  // log(m) = 2 atanh((m - 1) / (m + 1))
  double z = (m - 1) / (m + 1), square = z * z, power = z, sum = 0;
  for (int i = 1; i <= 31; i += 2) {
    sum += power / i;
    power *= square;
  }
  return exponent + 2 * sum / ln2;
}

double tanh(double x) {
  double magnitude = x < 0 ? -x : x, result;
  if (magnitude < 0.05) {
    double square = x * x;
    return x *
           (1 + square * (-1.0 / 3 +
                          square * (2.0 / 15 + square * (-17.0 / 315 +
                                                         square * 62 / 2835))));
  }
  if (magnitude > 20) {
    result = 1;
  } else {
    double decay = exp2(-2 * magnitude / ln2);
    result = (1 - decay) / (1 + decay);
  }
  return x < 0 ? -result : result;
}

/// sin(x + quarter * pi / 2), by the Taylor series about the nearest multiple.
double sine(double x, int quarter) {
  if (isNan(x) || x == infinity || x == -infinity) {
    return __builtin_nan("");
  }
  double turns = nearest(x * (2 / pi));
  double y = x - turns * (pi / 2);
  auto which = (static_cast<long long>(turns) + quarter) & 3;
  double square = y * y, term = which & 1 ? 1 : y, sum = 0;
  for (int i = which & 1 ? 1 : 2; i < 22; i += 2) {
    sum += term;
    term *= -square / (i * (i + 1));
  }
  return which & 2 ? -sum : sum;
}

float log2Of(float x) {
  if (isNan(x) || x < 0) {
    return __builtin_nanf("");
  }
  if (x == 0) {
    return -__builtin_inff();
  }
  return x == __builtin_inff() ? x : static_cast<float>(log2(x));
}

} // namespace

float ampc_sim_ex2(float x) { return static_cast<float>(exp2(x)); }
float ampc_sim_ex2_ftz(float x) { return flush(ampc_sim_ex2(flush(x))); }
float ampc_sim_lg2(float x) { return log2Of(x); }
float ampc_sim_lg2_ftz(float x) { return flush(log2Of(flush(x))); }
float ampc_sim_rcp_ftz(float x) {
  return flush(static_cast<float>(1.0 / static_cast<double>(flush(x))));
}
float ampc_sim_rsqrt(float x) {
  return static_cast<float>(1.0 / root(static_cast<double>(x)));
}
float ampc_sim_rsqrt_ftz(float x) { return flush(ampc_sim_rsqrt(flush(x))); }
float ampc_sim_sqrt(float x) {
  return static_cast<float>(root(static_cast<double>(x)));
}
float ampc_sim_sqrt_ftz(float x) { return flush(ampc_sim_sqrt(flush(x))); }
float ampc_sim_sin(float x) { return static_cast<float>(sine(x, 0)); }
float ampc_sim_cos(float x) { return static_cast<float>(sine(x, 1)); }
float ampc_sim_tanh(float x) { return static_cast<float>(tanh(x)); }
