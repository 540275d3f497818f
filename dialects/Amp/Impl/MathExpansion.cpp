//===- MathExpansion.cpp - Functions as plain arithmetic ------------------===//
// The coefficients are minimax fits (Remez exchange) of the function named at
// each, with the relative error of the whole result as the weight.
#include "dialects/Amp/Impl/MathExpansion.h"

#include "dialects/Amp/Impl/BodyBuilder.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

using Float = BodyBuilder::Float;
using Int = BodyBuilder::Int;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

namespace {
/// e^x = mantissa * 2^exponent, mantissa in [0.7, 1.42].
struct SplitExp {
  Value mantissa;
  Value exponent; ///< i32
};
} // namespace

/// For |x| < 2^20 or NaN (then the mantissa is NaN, the exponent any number).
static SplitExp splitExp(BodyBuilder &m, Value x) {
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits of the sum.
  Value magic = m.constantLike(x, 12582912.0);
  Value shifted = m.fma(x, m.constantLike(x, 0x1.715476p+0), magic);
  Value exponent = m.sub(m.bits(shifted), m.bits(magic));
  Value n = m.sub(shifted, magic);
  // ln 2 in two parts, the first short enough for exact products.
  Value r = m.fma(n, m.constantLike(x, -0x1.62e4p-1), x);
  r = m.fma(n, m.constantLike(x, -0x1.7f7d1cp-20), r);
  // (e^r - 1 - r) / r^2 on [-ln 2 / 2, ln 2 / 2], error 3e-9.
  static const double c[] = {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558f2p-5,
                             0x1.1239e4p-7, 0x1.6a245ep-10};
  Value tail = m.fma(m.polynomial(r, c), m.mul(r, r), r);
  return {m.add(tail, m.constantLike(x, 1.0)), exponent};
}

/// 2^n for n in [-126, 127].
static Value powerOfTwo(BodyBuilder &m, Value n) {
  Value biased = m.add(n, m.intLike(n, 127));
  return m.floatOfBits(m.b.getF32Type(),
                       m.make<arith::ShLIOp>(biased, m.intLike(n, 23)));
}

Value amp::buildExp(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  if (!m.element(x).isF32()) {
    return m.make<math::ExpOp>(x);
  }
  // Beyond these the result is infinity or zero; NaN passes both.
  Value high = m.constantLike(x, 89.0), low = m.constantLike(x, -104.0);
  Value bounded = m.select(m.compare(Float::OGT, x, high), high, x);
  bounded = m.select(m.compare(Float::OLT, x, low), low, bounded);
  SplitExp split = splitExp(m, bounded);
  // Two steps, as 2^n may be no normal number; only the last one rounds.
  Value half =
      m.make<arith::ShRSIOp>(split.exponent, m.intLike(split.exponent, 1));
  Value rest = m.sub(split.exponent, half);
  return m.mul(m.mul(split.mantissa, powerOfTwo(m, half)), powerOfTwo(m, rest));
}

Value amp::buildLog(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  if (!m.element(x).isF32()) {
    return m.make<math::LogOp>(x);
  }
  // x = 2^k * (1 + f) with 1 + f in [sqrt 1/2, sqrt 2); subnormals scaled up.
  Value tiny = m.compare(Float::OLT, x, m.constantLike(x, 0x1p-126));
  Value scaled = m.select(tiny, m.mul(x, m.constantLike(x, 0x1p+23)), x);
  Value bits = m.bits(scaled);
  Value above = m.sub(bits, m.intLike(bits, 0x3f3504f3));
  Value k = m.make<arith::ShRSIOp>(above, m.intLike(bits, 23));
  Value mantissa = m.sub(bits, m.bitAnd(above, m.intLike(bits, 0xff800000)));
  Value f =
      m.sub(m.floatOfBits(b.getF32Type(), mantissa), m.constantLike(x, 1.0));
  Value power = m.make<arith::SIToFPOp>(x.getType(), k);
  power = m.add(
      power, m.select(tiny, m.constantLike(x, -23.0), m.constantLike(x, 0.0)));
  // (log(1 + f) - f + f^2 / 2) / f^3, error 6e-9.
  static const double c[] = {0x1.555554p-2,  -0x1.000226p-2, 0x1.99a008p-3,
                             -0x1.547244p-3, 0x1.22da18p-3,  -0x1.0d853cp-3,
                             0x1.055b82p-3,  -0x1.38b5d4p-4};
  Value tail = m.fma(m.polynomial(f, c), f, m.constantLike(x, -0.5));
  Value log = m.fma(tail, m.mul(f, f), f);
  log = m.fma(power, m.constantLike(x, 0x1.62e43p-1), log);
  Value zero = m.constantLike(x, 0.0), infinity = m.constantLike(x, kInfinity);
  Value outside =
      m.select(m.compare(Float::OEQ, x, zero), m.constantLike(x, -kInfinity),
               m.constantLike(x, kNan));
  log = m.select(m.compare(Float::OGT, x, zero), log, outside);
  return m.select(m.compare(Float::OEQ, x, infinity), x, log);
}

Value amp::buildLog1pOfUnit(OpBuilder &b, Location loc, Value u) {
  BodyBuilder m(b, loc, u);
  // The rounding error of 1 + u, divided by 1 + u, repairs the logarithm.
  Value one = m.constantLike(u, 1.0), sum = m.add(one, u);
  Value lost = m.sub(u, m.sub(sum, one));
  return m.add(buildLog(b, loc, sum), m.div(lost, sum));
}

Value amp::buildErf(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  if (!m.element(x).isF32()) {
    return m.make<math::ErfOp>(x);
  }
  Value a = m.abs(x), square = m.mul(x, x);
  // erf(x) / x - 1 in x^2 for |x| < 0.92, error 2e-8.
  static const double small[] = {0x1.06eba6p-3, -0x1.8126e8p-2,
                                 0x1.ce1ab6p-4, -0x1.b68d5cp-6,
                                 0x1.473d44p-8, -0x1.39fbcp-11};
  Value inner = m.fma(m.polynomial(square, small), x, x);
  // -log(erfc(a)) on [0.92, 4], error of erf 2e-9; erf(4) is 1 in f32.
  static const double large[] = {0x1.9a5fdep-13, 0x1.20af5ap+0,  0x1.463cc2p-1,
                                 0x1.a9b42p-4,   -0x1.6c2a5ap-6, 0x1.8ee134p-9,
                                 -0x1.9ae896p-13};
  Value four = m.constantLike(x, 4.0);
  Value bounded = m.select(m.compare(Float::OGT, a, four), four, a);
  SplitExp split = splitExp(m, m.neg(m.polynomial(bounded, large)));
  Value one = m.constantLike(x, 1.0);
  Value outer =
      m.fma(m.neg(split.mantissa), powerOfTwo(m, split.exponent), one);
  Value isSmall = m.compare(Float::OLT, a, m.constantLike(x, 0.92));
  return m.make<math::CopySignOp>(m.select(isSmall, inner, outer), x);
}

Value amp::buildTanh(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  if (!m.element(x).isF32()) {
    return m.make<math::TanhOp>(x);
  }
  Value a = m.abs(x), square = m.mul(x, x);
  // (tanh(x) / x - 1) / x^2 in x^2 for |x| < 0.55, error 2e-9.
  static const double c[] = {-0x1.55554ap-2, 0x1.110cep-3, -0x1.b91b78p-5,
                             0x1.58c7c6p-6, -0x1.98659ap-8};
  Value inner = m.fma(m.mul(m.polynomial(square, c), square), x, x);
  // 1 - 2 / (e^2a + 1), which is 1 in f32 from 10 on.
  Value ten = m.constantLike(x, 10.0), one = m.constantLike(x, 1.0);
  Value bounded = m.select(m.compare(Float::OGT, a, ten), ten, a);
  SplitExp split = splitExp(m, m.add(bounded, bounded));
  Value denominator = m.fma(split.mantissa, powerOfTwo(m, split.exponent), one);
  Value outer = m.sub(one, m.div(m.constantLike(x, 2.0), denominator));
  Value isSmall = m.compare(Float::OLT, a, m.constantLike(x, 0.55));
  return m.make<math::CopySignOp>(m.select(isSmall, inner, outer), x);
}

Value amp::buildSigmoid(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  // With e = e^-|x|: 1 / (1 + e), or e / (1 + e) for negative x.
  Value e = buildExp(b, loc, m.neg(m.abs(x)));
  Value one = m.constantLike(x, 1.0);
  Value negative = m.compare(Float::OLT, x, m.constantLike(x, 0.0));
  return m.div(m.select(negative, e, one), m.add(one, e));
}

Value amp::buildSoftplus(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  // max(x, 0) + log(1 + e^-|x|); the second term is NaN for NaN.
  Value zero = m.constantLike(x, 0.0);
  Value positive = m.select(m.compare(Float::OGT, x, zero), x, zero);
  Value e = buildExp(b, loc, m.neg(m.abs(x)));
  return m.add(positive, buildLog1pOfUnit(b, loc, e));
}

static Value choose(BodyBuilder &m, Value x, Value y, Float floats, Int ints) {
  if (!m.isFloat(x)) {
    return m.select(m.compare(ints, x, y), x, y);
  }
  // The comparison holds for NaN, which picks x; so only a NaN in y is left.
  Value chosen = m.select(m.compare(floats, x, y), x, y);
  return m.select(m.isNan(y), y, chosen);
}

Value amp::buildMax(OpBuilder &b, Location loc, Value x, Value y,
                    bool isUnsigned) {
  BodyBuilder m(b, loc, x);
  return choose(m, x, y, Float::UGT, isUnsigned ? Int::ugt : Int::sgt);
}

Value amp::buildMin(OpBuilder &b, Location loc, Value x, Value y,
                    bool isUnsigned) {
  BodyBuilder m(b, loc, x);
  return choose(m, x, y, Float::ULT, isUnsigned ? Int::ult : Int::slt);
}
