//===- ScalarMath.h - Scalar functions of the reference evaluator ---------===//
// Floats in double; integers as sign- or zero-extended int64_t with a flag for
// unsigned types. Integer results are wrapped by whoever stores them.
#ifndef AMPC_DIALECTS_AMP_REFERENCE_SCALARMATH_H
#define AMPC_DIALECTS_AMP_REFERENCE_SCALARMATH_H

#include <cmath>
#include <cstdint>

namespace ampc::ref::math {

inline double abs(double x) { return std::fabs(x); }
inline double neg(double x) { return -x; }
inline double sign(double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }
inline double ceil(double x) { return std::ceil(x); }
inline double floor(double x) { return std::floor(x); }
inline double round(double x) { return std::nearbyint(x); }
inline double sqrt(double x) { return std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline double reciprocal(double x) { return 1 / x; }
inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }
inline double tan(double x) { return std::tan(x); }
inline double asin(double x) { return std::asin(x); }
inline double acos(double x) { return std::acos(x); }
inline double atan(double x) { return std::atan(x); }
inline double sinh(double x) { return std::sinh(x); }
inline double cosh(double x) { return std::cosh(x); }
inline double asinh(double x) { return std::asinh(x); }
inline double acosh(double x) { return std::acosh(x); }
inline double atanh(double x) { return std::atanh(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
inline double silu(double x) { return x * sigmoid(x); }

/// The larger value, +0 above -0; NaN if either is.
inline double max(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) {
    return x + y;
  }
  return x > y || (x == y && !std::signbit(x)) ? x : y;
}
inline double min(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) {
    return x + y;
  }
  return x < y || (x == y && std::signbit(x)) ? x : y;
}
inline double relu(double x) { return max(x, 0); }
inline double hardSwish(double x) { return x * max(0, min(1, x / 6 + 0.5)); }

// Both forms of GELU are written so that nothing cancels for negative x.
inline double geluErf(double x) {
  return 0.5 * x * std::erfc(-x * 0.70710678118654752440);
}
inline double geluTanh(double x) {
  double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
  return x * sigmoid(2 * u);
}

inline double add(double x, double y) { return x + y; }
inline double sub(double x, double y) { return x - y; }
inline double mul(double x, double y) { return x * y; }
inline double div(double x, double y) { return x / y; }
inline double pow(double x, double y) { return std::pow(x, y); }
inline double cRemainder(double x, double y) { return std::fmod(x, y); }
inline double pythonRemainder(double x, double y) {
  double rest = std::fmod(x, y);
  if (rest == 0) {
    return std::copysign(rest, y);
  }
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

inline int64_t wrap(uint64_t x) { return static_cast<int64_t>(x); }
inline uint64_t bits(int64_t x) { return static_cast<uint64_t>(x); }

inline int64_t neg(int64_t x, bool) { return wrap(0 - bits(x)); }
inline int64_t abs(int64_t x, bool isUnsigned) {
  return isUnsigned || x >= 0 ? x : wrap(0 - bits(x));
}
inline int64_t sign(int64_t x, bool isUnsigned) {
  return isUnsigned ? x != 0 : (x > 0) - (x < 0);
}
inline int64_t relu(int64_t x, bool isUnsigned) {
  return isUnsigned || x > 0 ? x : 0;
}

inline int64_t add(int64_t x, int64_t y, bool) {
  return wrap(bits(x) + bits(y));
}
inline int64_t sub(int64_t x, int64_t y, bool) {
  return wrap(bits(x) - bits(y));
}
inline int64_t mul(int64_t x, int64_t y, bool) {
  return wrap(bits(x) * bits(y));
}
inline int64_t div(int64_t x, int64_t y, bool isUnsigned) {
  if (y == 0) {
    return 0;
  }
  if (isUnsigned) {
    return wrap(bits(x) / bits(y));
  }
  return y == -1 ? wrap(0 - bits(x)) : x / y;
}
inline int64_t cRemainder(int64_t x, int64_t y, bool isUnsigned) {
  if (y == 0 || (y == -1 && !isUnsigned)) {
    return 0;
  }
  return isUnsigned ? wrap(bits(x) % bits(y)) : x % y;
}
inline int64_t pythonRemainder(int64_t x, int64_t y, bool isUnsigned) {
  int64_t rest = cRemainder(x, y, isUnsigned);
  bool away = !isUnsigned && rest != 0 && (rest < 0) != (y < 0);
  return away ? rest + y : rest;
}
inline int64_t pow(int64_t x, int64_t y, bool isUnsigned) {
  if (!isUnsigned && y < 0) {
    return x == 1 ? 1 : x == -1 ? (y % 2 != 0 ? -1 : 1) : 0;
  }
  uint64_t result = 1, base = bits(x);
  for (uint64_t exponent = bits(y); exponent != 0; exponent >>= 1) {
    result = exponent & 1 ? result * base : result;
    base *= base;
  }
  return wrap(result);
}
inline int64_t max(int64_t x, int64_t y, bool isUnsigned) {
  return (isUnsigned ? bits(x) > bits(y) : x > y) ? x : y;
}
inline int64_t min(int64_t x, int64_t y, bool isUnsigned) {
  return (isUnsigned ? bits(x) < bits(y) : x < y) ? x : y;
}
inline int64_t bitAnd(int64_t x, int64_t y, bool) { return x & y; }
inline int64_t bitOr(int64_t x, int64_t y, bool) { return x | y; }
inline int64_t bitXor(int64_t x, int64_t y, bool) { return x ^ y; }

} // namespace ampc::ref::math

#endif // AMPC_DIALECTS_AMP_REFERENCE_SCALARMATH_H
