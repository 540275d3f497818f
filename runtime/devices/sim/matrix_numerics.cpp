//===- matrix_numerics.cpp - Arithmetic of the matrix units ---------------===//
#include "runtime/devices/sim/matrix_numerics.h"

#include <string.h>

namespace ampc::runtime::sim {
namespace {

// Turing to Ada add eight 16-bit (four tf32) products in one step, so a K of 16
// takes two; Hopper and later add all products of an instruction at once.
constexpr MatrixUnit units[] = {
    {"Volta", 23, 4, 4}, {"Turing", 24, 8, 4},  {"Ampere", 24, 8, 4},
    {"Ada", 24, 8, 4},   {"Hopper", 25, 16, 8}, {"Blackwell", 25, 16, 8},
};

/// Bits of a format; the value of a number is significand * 2^(exponent -
/// fractionBits).
struct Format {
  uint32_t exponentBits, fractionBits;
  int32_t bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint32_t infinity() const {
    return ((1u << exponentBits) - 1) << fractionBits;
  }
};

constexpr Format formats[] = {{5, 10}, {8, 7}, {8, 10}, {8, 23}};

constexpr int32_t zeroExponent = -126;
constexpr uint32_t quietNaN16 = 0x7fff, quietNaN32 = 0x7fffffff;

const Format &formatOf(MatrixType type) {
  return formats[static_cast<uint32_t>(type)];
}

struct Decoded {
  enum Kind { number, infinity, nan } kind;
  bool negative;
  int32_t significand, exponent;
};

Decoded decodeBits(MatrixType type, uint32_t bits) {
  const Format &format = formatOf(type);
  if (type == MatrixType::tf32) {
    bits >>= 13; // the unit reads the upper 19 bits of the register
  }
  bool negative = bits >> (format.exponentBits + format.fractionBits) & 1;
  uint32_t biased = (bits & format.infinity()) >> format.fractionBits;
  auto fraction =
      static_cast<int32_t>(bits & ((1u << format.fractionBits) - 1));
  if (biased == (1u << format.exponentBits) - 1) {
    return {fraction ? Decoded::nan : Decoded::infinity, negative, 0, 0};
  }
  if (biased == 0) {
    return {Decoded::number, negative, fraction,
            fraction ? 1 - format.bias() : zeroExponent};
  }
  return {Decoded::number, negative, fraction | 1 << format.fractionBits,
          static_cast<int32_t>(biased) - format.bias()};
}

/// The bits of value * 2^scale in `type`: f32 truncates, f16 rounds to nearest
/// even.
uint32_t encode(int64_t value, int32_t scale, MatrixType type) {
  const Format &format = formatOf(type);
  if (value == 0) {
    return 0;
  }
  auto fractionBits = static_cast<int32_t>(format.fractionBits);
  uint32_t sign = static_cast<uint32_t>(value < 0)
                  << (format.exponentBits + format.fractionBits);
  uint64_t magnitude =
      value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  int32_t exponent = 63 - __builtin_clzll(magnitude) + scale;
  int32_t least = 1 - format.bias();
  exponent = exponent < least ? least : exponent;
  int32_t drop = exponent - fractionBits - scale;
  uint64_t significand;
  if (drop <= 0) {
    significand = magnitude << -drop;
  } else if (drop > 62) {
    significand = 0; // below half of the least subnormal
  } else {
    significand = magnitude >> drop;
    if (type == MatrixType::f16) {
      uint64_t rest = magnitude & ((1ull << drop) - 1);
      uint64_t half = 1ull << (drop - 1);
      significand += rest > half || (rest == half && (significand & 1));
    }
  }
  if (significand >> (fractionBits + 1)) {
    significand >>= 1;
    ++exponent;
  }
  if (exponent > format.bias()) {
    return sign | format.infinity();
  }
  bool normal = significand >> fractionBits != 0;
  uint32_t biased =
      normal ? static_cast<uint32_t>(exponent + format.bias()) : 0;
  auto fraction =
      static_cast<uint32_t>(significand) & ((1u << fractionBits) - 1);
  return sign | biased << fractionBits | fraction;
}

/// trunc(significand * 2^shift), toward zero.
int64_t aligned(int64_t significand, int32_t shift) {
  if (shift >= 0) {
    return significand << shift;
  }
  return shift <= -63 ? 0 : significand >> -shift;
}

/// One step of at most 16 products, by the rule's letter.
uint32_t dotStep(uint32_t fraction, MatrixType type, MatrixType out, uint32_t c,
                 const uint32_t *a, const uint32_t *b, uint32_t k) {
  uint32_t nan = out == MatrixType::f16 ? quietNaN16 : quietNaN32;
  auto fractionBits = static_cast<int32_t>(fraction);
  auto productBits = static_cast<int32_t>(2 * formatOf(type).fractionBits);
  Decoded addend = decodeBits(out, c);
  if (addend.kind == Decoded::nan) {
    return nan;
  }
  bool infinities[2] = {};
  if (addend.kind == Decoded::infinity) {
    infinities[addend.negative] = true;
  }
  int32_t exponents[16];
  int64_t products[16];
  int32_t top = addend.exponent;
  for (uint32_t i = 0; i < k; ++i) {
    Decoded x = decodeBits(type, a[i]), y = decodeBits(type, b[i]);
    if (x.kind == Decoded::nan || y.kind == Decoded::nan) {
      return nan;
    }
    bool negative = x.negative != y.negative;
    exponents[i] = zeroExponent * 2;
    products[i] = 0;
    if (x.kind == Decoded::infinity || y.kind == Decoded::infinity) {
      bool zero = (x.kind == Decoded::number && x.significand == 0) ||
                  (y.kind == Decoded::number && y.significand == 0);
      if (zero) {
        return nan;
      }
      infinities[negative] = true;
      continue;
    }
    exponents[i] = x.exponent + y.exponent;
    int64_t product = static_cast<int64_t>(x.significand) * y.significand;
    products[i] = negative ? -product : product;
    top = exponents[i] > top ? exponents[i] : top;
  }
  if (infinities[0] && infinities[1]) {
    return nan;
  }
  if (infinities[0] || infinities[1]) {
    const Format &format = formatOf(out);
    uint32_t sign = infinities[1] ? 1u : 0u;
    return sign << (format.exponentBits + format.fractionBits) |
           format.infinity();
  }
  auto addendBits = static_cast<int32_t>(formatOf(out).fractionBits);
  int64_t sum = aligned(addend.significand,
                        fractionBits - addendBits + addend.exponent - top);
  sum = addend.negative ? -sum : sum;
  for (uint32_t i = 0; i < k; ++i) {
    int32_t shift = fractionBits - productBits + exponents[i] - top;
    sum += products[i] < 0 ? -aligned(-products[i], shift)
                           : aligned(products[i], shift);
  }
  return encode(sum, top - fractionBits, out);
}

uint32_t stepOf(const MatrixUnit &unit, MatrixType type) {
  return type == MatrixType::tf32 ? unit.maxStep32 : unit.maxStep16;
}

/// Eight columns at once.
typedef int32_t Lanes __attribute__((vector_size(32)));
typedef uint32_t LaneBits __attribute__((vector_size(32)));

inline __attribute__((always_inline)) void load(Lanes &lanes,
                                                const void *from) {
  memcpy(&lanes, from, sizeof lanes);
}

/// The step of one row and eight columns where all operands are finite. Lanes
/// whose result is no normal number, or f16, take the scalar end.
inline __attribute__((always_inline)) void
laneStep(int32_t fraction, int32_t productShift, MatrixType out,
         const int32_t *aSignificands, const int32_t *aExponents,
         const int32_t *bSignificands, const int32_t *bExponents,
         uint32_t columns, uint32_t k, uint32_t *cd) {
  Lanes cBits, exponents[16], top, cSignificand, cExponent, cNegative;
  load(cBits, cd);
  if (out == MatrixType::f32) {
    Lanes biased = cBits >> 23 & 255;
    Lanes normal = biased != 0;
    cSignificand = (cBits & 0x7fffff) | (normal & 1 << 23);
    cSignificand <<= fraction - 23;
    cExponent = (normal ? biased : 1) - 127;
    cNegative = cBits >> 31;
  } else {
    Lanes biased = cBits >> 10 & 31;
    Lanes normal = biased != 0;
    cSignificand = (cBits & 0x3ff) | (normal & 1 << 10);
    cExponent = (normal ? biased : 1) - 15;
    cExponent = cSignificand == 0 ? zeroExponent : cExponent;
    cSignificand <<= fraction - 10;
    cNegative = (cBits & 0x8000) != 0;
  }
  top = cExponent;
  for (uint32_t i = 0; i < k; ++i) {
    load(exponents[i], bExponents + i * columns);
    exponents[i] += aExponents[i];
    top = exponents[i] > top ? exponents[i] : top;
  }
  auto shift = [](Lanes &magnitude, const Lanes &by) {
    Lanes distance = by < 31 ? by : 31;
    magnitude = reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(magnitude) >>
                                        reinterpret_cast<LaneBits>(distance));
  };
  // Two sums, since 17 terms of 27 bits need more than 31.
  Lanes term = cSignificand;
  shift(term, top - cExponent);
  Lanes sums[2] = {(term ^ cNegative) - cNegative, Lanes{}};
  for (uint32_t i = 0; i < k; ++i) {
    Lanes product;
    load(product, bSignificands + i * columns);
    product *= aSignificands[i];
    Lanes negative = product >> 31;
    term = ((product ^ negative) - negative) << productShift;
    shift(term, top - exponents[i]);
    sums[i >> 3] += (term ^ negative) - negative;
  }
  Lanes sum = sums[0] + sums[1];
  Lanes overflow = ((sums[0] ^ sum) & (sums[1] ^ sum)) >> 31;
  // Clearing the bit below the last one kept makes the conversion truncate.
  Lanes negative = sum >> 31;
  Lanes magnitude = (sum ^ negative) - negative;
  magnitude &= ~(magnitude >> 24);
  typedef float Floats __attribute__((vector_size(32)));
  Floats converted = __builtin_convertvector(magnitude, Floats);
  Lanes bits = reinterpret_cast<Lanes>(converted);
  Lanes exponent = (bits >> 23) + top - fraction;
  bits += (top - fraction) << 23;
  bits |= negative & static_cast<int32_t>(0x80000000u);
  Lanes zero = sum == 0;
  bits = zero ? 0 : bits;
  Lanes slow = overflow | (~zero & ((exponent < 1) | (exponent > 254)));
  if (out == MatrixType::f32) {
    bool anySlow = false;
    for (int lane = 0; lane < 8; ++lane) {
      anySlow |= slow[lane] != 0;
    }
    memcpy(cd, &bits, sizeof bits);
    if (!anySlow) {
      return;
    }
  }
  for (int lane = 0; lane < 8; ++lane) {
    if (out == MatrixType::f16 || slow[lane]) {
      int64_t total = static_cast<int64_t>(sums[0][lane]) + sums[1][lane];
      cd[lane] = encode(total, top[lane] - fraction, out);
    }
  }
}

bool hasSpecial(const uint32_t *bits, uint32_t count, MatrixType type) {
  uint32_t infinity = formatOf(type).infinity();
  bool special = false;
  for (uint32_t i = 0; i < count; ++i) {
    special |= (bits[i] & infinity) == infinity;
  }
  return special;
}

inline __attribute__((always_inline)) void
multiplyFinite(const MatrixUnit &unit, const MatrixProblem &problem) {
  auto fraction = static_cast<int32_t>(unit.fractionBits);
  int32_t shift =
      fraction - static_cast<int32_t>(2 * formatOf(problem.type).fractionBits);
  uint32_t most = stepOf(unit, problem.type);
  for (uint32_t row = 0; row < problem.rows; ++row) {
    uint32_t *cd = problem.cd + row * problem.columns;
    for (uint32_t column = 0; column < problem.columns; column += 8) {
      for (uint32_t k = 0; k < problem.k; k += most) {
        uint32_t count = problem.k - k < most ? problem.k - k : most;
        uint32_t a = row * problem.k + k, b = k * problem.columns + column;
        // An overflow to infinity ends the finite case.
        if (k > 0 && hasSpecial(cd + column, 8, problem.out)) {
          for (uint32_t j = column; j < column + 8; ++j) {
            uint32_t x[16], y[16];
            for (uint32_t i = 0; i < count; ++i) {
              x[i] = problem.aBits[a + i];
              y[i] = problem.bBits[(k + i) * problem.columns + j];
            }
            cd[j] = dotStep(unit.fractionBits, problem.type, problem.out, cd[j],
                            x, y, count);
          }
          continue;
        }
        laneStep(fraction, shift, problem.out, problem.a->significand + a,
                 problem.a->exponent + a, problem.b->significand + b,
                 problem.b->exponent + b, problem.columns, count, cd + column);
      }
    }
  }
}

void multiplyBaseline(const MatrixUnit &unit, const MatrixProblem &problem) {
  multiplyFinite(unit, problem);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void
multiplyAvx2(const MatrixUnit &unit, const MatrixProblem &problem) {
  multiplyFinite(unit, problem);
}
#endif

} // namespace

const MatrixUnit &matrixUnit(uint32_t arch) {
  if (arch < 75) {
    return units[0];
  }
  if (arch < 80) {
    return units[1];
  }
  if (arch < 89) {
    return units[2];
  }
  if (arch < 90) {
    return units[3];
  }
  return units[arch < 100 ? 4 : 5];
}

uint32_t matrixDot(const MatrixUnit &unit, MatrixType type, MatrixType out,
                   uint32_t c, const uint32_t *a, const uint32_t *b,
                   uint32_t k) {
  uint32_t most = stepOf(unit, type);
  for (uint32_t i = 0; i < k; i += most) {
    uint32_t count = k - i < most ? k - i : most;
    c = dotStep(unit.fractionBits, type, out, c, a + i, b + i, count);
  }
  return c;
}

void MatrixOperand::decode(uint32_t at, MatrixType type, uint32_t bits) {
  Decoded decoded = decodeBits(type, bits);
  special |= decoded.kind != Decoded::number;
  significand[at] =
      decoded.negative ? -decoded.significand : decoded.significand;
  exponent[at] = decoded.exponent;
}

void matrixMultiply(const MatrixUnit &unit, const MatrixProblem &problem) {
  if (!problem.a->special && !problem.b->special &&
      !hasSpecial(problem.cd, problem.rows * problem.columns, problem.out)) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
      multiplyAvx2(unit, problem);
      return;
    }
#endif
    multiplyBaseline(unit, problem);
    return;
  }
  for (uint32_t row = 0; row < problem.rows; ++row) {
    for (uint32_t column = 0; column < problem.columns; ++column) {
      uint32_t x[16], y[16];
      for (uint32_t i = 0; i < problem.k; ++i) {
        x[i] = problem.aBits[row * problem.k + i];
        y[i] = problem.bBits[i * problem.columns + column];
      }
      uint32_t &cd = problem.cd[row * problem.columns + column];
      cd = matrixDot(unit, problem.type, problem.out, cd, x, y, problem.k);
    }
  }
}

} // namespace ampc::runtime::sim
