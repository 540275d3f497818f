//===- ExpandMath.cpp - Functions that a target has no library for --------===//
// The methods are those of FreeBSD's msun (e_log.c, k_sin.c, k_cos.c, s_atan.c,
// e_asin.c), with FMA where it saves an operation; exp and pow are named where
// they stand.
#include "compiler/Targets/Codegen/ExpandMath.h"

#include "compiler/Targets/Codegen/ReduceAngle.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::codegen;

using Float = BodyBuilder::Float;
using Int = BodyBuilder::Int;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double nan64 = std::numeric_limits<double>::quiet_NaN();

namespace {

/// high + low, of which high is the sum rounded.
struct Pair {
  Value high, low;
};

/// Functions of f64 scalars.
class DoubleMath {
public:
  DoubleMath(OpBuilder &b, Location loc, Value like) : m(b, loc, like) {}

  Value exp(Value x) { return exp(Pair{x, f(0)}); }
  Value exp(Pair x, int64_t halvings = 0);
  Value expm1(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value asin(Value x);
  Value acos(Value x);
  Value atan(Value x);
  Value sinh(Value x);
  Value cosh(Value x);
  Value tanh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value pow(Value x, Value y);

private:
  Value f(double value) { return m.constant(m.b.getF64Type(), value); }
  Value i(int64_t value) {
    return m.constant(cast<IntegerType>(m.b.getI64Type()),
                      APInt(64, static_cast<uint64_t>(value)));
  }
  Value powerOfTwo(Value n) {
    return m.floatOfBits(m.b.getF64Type(),
                         m.make<arith::ShLIOp>(m.add(n, i(1023)), i(52)));
  }
  Value sqrt(Value x) { return m.make<math::SqrtOp>(x); }
  Value signed_(Value magnitude, Value sign) {
    return m.make<math::CopySignOp>(magnitude, sign);
  }
  Value less(Value x, double y) { return m.compare(Float::OLT, x, f(y)); }
  Value smaller(Value x, double y) { return m.select(less(x, y), x, f(y)); }

  struct Reduced {
    Value r;        ///< x - n log 2 for the n that makes it smallest
    Value exponent; ///< n, as i64
  };
  Reduced reduceExp(Pair x);
  Value expm1Tail(Value r);
  struct Split {
    Value f; ///< of x = 2^k (1 + f), 1 + f in [sqrt 1/2, sqrt 2)
    Value k;
  };
  Split splitLog(Value x);
  Value finishLog(Value x, Value log);
  Pair logPair(Value x);
  Value asinTail(Value z);
  Value rootRest(Value z, Value root);

  BodyBuilder m;
};
} // namespace

//===----------------------------------------------------------------------===//
// Exponential functions
//===----------------------------------------------------------------------===//

DoubleMath::Reduced DoubleMath::reduceExp(Pair x) {
  // Adding 1.5 * 2^52 leaves the nearest integer in the low bits of the sum.
  Value magic = f(0x1.8p+52);
  Value shifted = m.fma(x.high, f(0x1.71547652b82fep+0), magic);
  Value n = m.sub(shifted, magic);
  Value exponent = m.sub(m.bits(shifted), m.bits(magic));
  Value r = m.fma(n, f(-0x1.62e42fefa39efp-1), x.high);
  r = m.fma(n, f(-0x1.abc9e3b39803fp-56), r);
  return {m.add(r, x.low), exponent};
}

/// (e^r - 1 - r) / r^2, by its series: the first term left out is below 2^-58
/// of e^r.
Value DoubleMath::expm1Tail(Value r) {
  SmallVector<double> terms;
  double factorial = 2;
  for (int64_t k = 2; k <= 13; ++k) {
    terms.push_back(1 / factorial);
    factorial *= static_cast<double>(k + 1);
  }
  return m.polynomial(r, terms);
}

/// e^(high + low) / 2^halvings, at most one.
Value DoubleMath::exp(Pair x, int64_t halvings) {
  // Beyond these the result is infinity or zero; NaN passes both.
  Value high = f(712), low = f(-746);
  Value isHigh = m.compare(Float::OGT, x.high, high);
  Value isLow = m.compare(Float::OLT, x.high, low);
  Value bounded = m.select(isLow, low, m.select(isHigh, high, x.high));
  // An infinite part leaves no rest.
  Value outside = m.make<arith::OrIOp>(isHigh, isLow);
  auto [r, n] = reduceExp({bounded, m.select(outside, f(0), x.low)});
  Value mantissa = m.add(m.fma(expm1Tail(r), m.mul(r, r), r), f(1));
  // Two steps, as 2^n may be no normal number; only the last one rounds.
  Value whole = m.sub(n, i(halvings));
  Value half = m.make<arith::ShRSIOp>(whole, i(1));
  Value rest = m.sub(whole, half);
  return m.mul(m.mul(mantissa, powerOfTwo(half)), powerOfTwo(rest));
}

/// For x in [-40, 700].
Value DoubleMath::expm1(Value x) {
  auto [r, n] = reduceExp({x, f(0)});
  Value q = m.fma(expm1Tail(r), m.mul(r, r), r);
  Value scale = powerOfTwo(n);
  return m.fma(scale, q, m.sub(scale, f(1)));
}

Value DoubleMath::sinh(Value x) {
  Value a = m.abs(x);
  Value e = expm1(smaller(a, 22));
  Value inner = m.mul(f(0.5), m.add(e, m.div(e, m.add(e, f(1)))));
  Value outer = exp(Pair{a, f(0)}, /*halvings=*/1);
  return signed_(m.select(less(a, 22), inner, outer), x);
}

Value DoubleMath::cosh(Value x) {
  Value a = m.abs(x);
  Value e = exp(smaller(a, 22));
  Value inner = m.mul(f(0.5), m.add(e, m.div(f(1), e)));
  Value outer = exp(Pair{a, f(0)}, /*halvings=*/1);
  return m.select(less(a, 22), inner, outer);
}

Value DoubleMath::tanh(Value x) {
  Value a = m.abs(x);
  Value e = expm1(m.mul(smaller(a, 22), f(2)));
  Value inner = m.div(e, m.add(e, f(2)));
  // The select lets NaN through, which no comparison holds for.
  Value isLarge = m.compare(Float::OGE, a, f(22));
  Value value = m.select(isLarge, f(1), inner);
  return signed_(m.select(m.isNan(x), x, value), x);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

DoubleMath::Split DoubleMath::splitLog(Value x) {
  Value tiny = less(x, 0x1p-1022);
  Value bits = m.bits(m.select(tiny, m.mul(x, f(0x1p+54)), x));
  Value above = m.sub(bits, i(0x3fe6a09e00000000));
  Value k = m.make<arith::ShRSIOp>(above, i(52));
  Value mantissa = m.sub(bits, m.bitAnd(above, i(~((int64_t(1) << 52) - 1))));
  Value f1 = m.sub(m.floatOfBits(m.b.getF64Type(), mantissa), f(1));
  Value power = m.make<arith::SIToFPOp>(x.getType(), k);
  return {f1, m.add(power, m.select(tiny, f(-54), f(0)))};
}

/// `log`, or what log(x) is where x is not positive and finite.
Value DoubleMath::finishLog(Value x, Value log) {
  Value outside =
      m.select(m.compare(Float::OEQ, x, f(0)), f(-infinity), f(nan64));
  log = m.select(m.compare(Float::OGT, x, f(0)), log, outside);
  return m.select(m.compare(Float::OEQ, x, f(infinity)), x, log);
}

Value DoubleMath::log(Value x) {
  auto [f1, k] = splitLog(x);
  Value s = m.div(f1, m.add(f1, f(2))), z = m.mul(s, s);
  static const double c[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                             2.857142874366239149e-01, 2.222219843214978396e-01,
                             1.818357216161805012e-01, 1.531383769920937332e-01,
                             1.479819860511658591e-01};
  Value r = m.mul(z, m.polynomial(z, c));
  Value half = m.mul(m.mul(f1, f1), f(0.5));
  // k * ln2_hi is exact.
  Value low = m.fma(k, f(1.90821492927058770002e-10), m.mul(s, m.add(half, r)));
  Value sum = m.sub(f1, m.sub(half, low));
  return finishLog(x, m.fma(k, f(6.93147180369123816490e-01), sum));
}

Value DoubleMath::log1p(Value x) {
  // The rounding error of 1 + x, divided by it, repairs the logarithm.
  Value u = m.add(x, f(1));
  Value isLarge = m.compare(Float::OGT, x, f(1));
  Value lost =
      m.select(isLarge, m.sub(f(1), m.sub(u, x)), m.sub(x, m.sub(u, f(1))));
  Value repaired = m.add(log(u), m.div(lost, u));
  Value isEnd = m.make<arith::OrIOp>(m.compare(Float::OEQ, u, f(0)),
                                     m.compare(Float::OEQ, u, f(infinity)));
  return m.select(isEnd, log(u), repaired);
}

Value DoubleMath::asinh(Value x) {
  Value a = m.abs(x), t = m.mul(a, a);
  Value inner = log1p(m.add(a, m.div(t, m.add(sqrt(m.add(t, f(1))), f(1)))));
  Value outer = m.add(log(a), f(0x1.62e42fefa39efp-1));
  return signed_(m.select(less(a, 0x1p+28), inner, outer), x);
}

Value DoubleMath::acosh(Value x) {
  Value t = m.sub(x, f(1));
  Value inner = log1p(m.add(t, sqrt(m.mul(t, m.add(t, f(2))))));
  Value outer = m.add(log(x), f(0x1.62e42fefa39efp-1));
  Value value = m.select(less(x, 0x1p+28), inner, outer);
  return m.select(less(x, 1), f(nan64), value);
}

Value DoubleMath::atanh(Value x) {
  Value a = m.abs(x);
  Value t = m.div(m.add(a, a), m.sub(f(1), a));
  return signed_(m.mul(f(0.5), log1p(t)), x);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// log(x) for x > 0, finite, to about 2^-64 of it.
Pair DoubleMath::logPair(Value x) {
  auto [f1, k] = splitLog(x);
  auto fastSum = [&](Value a, Value b) -> Pair { // |a| >= |b|
    Value sum = m.add(a, b);
    return {sum, m.sub(b, m.sub(sum, a))};
  };
  auto product = [&](Value a, Value b) -> Pair {
    Value p = m.mul(a, b);
    return {p, m.fma(a, b, m.neg(p))};
  };
  // s = f / (2 + f); log(1 + f) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...).
  Pair divisor = fastSum(f(2), f1);
  Value s = m.div(f1, divisor.high);
  Value rest = m.fma(m.neg(s), divisor.high, f1);
  Value sLow = m.div(m.fma(m.neg(s), divisor.low, rest), divisor.high);
  Pair square = product(s, s);
  square.low = m.fma(m.add(s, s), sLow, square.low);
  Value z = square.high;
  SmallVector<double> terms;
  for (int64_t n = 5; n <= 23; n += 2) {
    terms.push_back(2.0 / static_cast<double>(n));
  }
  Value tail = m.mul(m.mul(z, z), m.polynomial(z, terms));
  // 2/3 s^2 in two parts, then the tail: the factor of s beyond 2.
  Value third = f(0x1.5555555555555p-1), thirdLow = f(0x1.5555555555555p-55);
  Pair factor = product(z, third);
  factor.low = m.fma(z, thirdLow, m.fma(square.low, third, factor.low));
  Pair beyond = fastSum(factor.high, tail);
  beyond.low = m.add(beyond.low, factor.low);
  Pair cubic = product(s, beyond.high);
  cubic.low = m.fma(s, beyond.low, m.fma(sLow, beyond.high, cubic.low));
  Pair sum = fastSum(m.add(s, s), cubic.high);
  sum.low = m.add(sum.low, m.add(m.add(sLow, sLow), cubic.low));
  // k log 2, whose first part is exact.
  Value first = m.mul(k, f(6.93147180369123816490e-01));
  Pair total = fastSum(first, sum.high);
  Pair small = fastSum(sum.high, first);
  Value isZero = m.compare(Float::OEQ, k, f(0));
  total = {m.select(isZero, small.high, total.high),
           m.select(isZero, small.low, total.low)};
  Pair second = product(k, f(0x1.a39ef35793c76p-33));
  // The first part of log 2 leaves 1.9082149292705877e-10 and more.
  second.low = m.fma(k, f(0x1.cc01f97b57a08p-88), second.low);
  Pair joined = fastSum(total.high, second.high);
  joined.low = m.add(joined.low, m.add(m.add(total.low, second.low), sum.low));
  return fastSum(joined.high, joined.low);
}

Value DoubleMath::pow(Value x, Value y) {
  Value a = m.abs(x);
  // The ends of log are infinite, with no rest.
  Value isEnd = m.make<arith::OrIOp>(m.compare(Float::OEQ, a, f(0)),
                                     m.compare(Float::OEQ, a, f(infinity)));
  Pair l = logPair(m.select(isEnd, f(1), a));
  Value endLog =
      m.select(m.compare(Float::OEQ, a, f(0)), f(-infinity), f(infinity));
  Value high = m.select(isEnd, endLog, l.high);
  Value p = m.mul(y, high);
  Value low = m.fma(y, high, m.neg(p));
  low = m.fma(y, l.low, low);
  // Where the product is too large for a result, it has no rest either.
  low = m.select(less(m.abs(p), 800), low, f(0));
  Value value = exp(Pair{p, low});
  auto isInteger = [&](Value v) {
    return m.compare(Float::OEQ, m.make<math::RoundEvenOp>(v), v);
  };
  auto both = [&](Value c, Value d) { return m.bitAnd(c, d); };
  Value whole = isInteger(y);
  Value even = isInteger(m.mul(y, f(0.5)));
  Value one = m.make<arith::ConstantOp>(m.b.getBoolAttr(true));
  Value odd = both(whole, m.bitXor(even, one));
  Value isMinus = m.compare(Int::slt, m.bits(x), i(0));
  value = m.select(both(odd, isMinus), m.neg(value), value);
  // A negative number has no power in between.
  Value between = both(both(less(x, 0), m.compare(Float::OGT, x, f(-infinity))),
                       m.bitXor(whole, one));
  value = m.select(between, f(nan64), value);
  value =
      m.select(m.make<arith::OrIOp>(m.isNan(x), m.isNan(y)), f(nan64), value);
  // 1 to any power, anything to the power 0, and -1 to an infinite power.
  Value isOne = m.compare(Float::OEQ, x, f(1));
  isOne = m.make<arith::OrIOp>(isOne, m.compare(Float::OEQ, y, f(0)));
  Value minusOne = both(m.compare(Float::OEQ, x, f(-1)),
                        m.compare(Float::OEQ, m.abs(y), f(infinity)));
  return m.select(m.make<arith::OrIOp>(isOne, minusOne), f(1), value);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// Of x + tail, |x| <= pi / 4.
static Value kernelSine(BodyBuilder &m, Value x, Value tail) {
  auto c = [&](double value) { return m.constantLike(x, value); };
  Value z = m.mul(x, x), v = m.mul(z, x);
  if (m.element(x).isF32()) {
    static const double terms[] = {-1.66666672e-1, 8.33338592e-3,
                                   -1.98559923e-4, 2.86567956e-6};
    return m.fma(m.polynomial(z, terms), v, x);
  }
  static const double terms[] = {
      8.33333333332248946124e-03, -1.98412698298579493134e-04,
      2.75573137070700676789e-06, -2.50507602534068634195e-08,
      1.58969099521155010221e-10};
  Value r = m.polynomial(z, terms);
  Value inner = m.sub(m.mul(c(0.5), tail), m.mul(v, r));
  Value outer = m.sub(m.mul(z, inner), tail);
  return m.sub(x, m.sub(outer, m.mul(v, c(-1.66666666666666324348e-01))));
}

static Value kernelCosine(BodyBuilder &m, Value x, Value tail) {
  auto c = [&](double value) { return m.constantLike(x, value); };
  Value z = m.mul(x, x), half = m.mul(z, c(0.5));
  if (m.element(x).isF32()) {
    static const double terms[] = {4.16666567e-2, -1.38877297e-3,
                                   2.44677067e-5};
    Value r = m.fma(m.polynomial(z, terms), z, c(-0.5));
    return m.fma(r, z, c(1));
  }
  static const double terms[] = {
      4.16666666666666019037e-02, -1.38888888888741095749e-03,
      2.48015872894767294178e-05, -2.75573143513906633035e-07,
      2.08757232129817482790e-09, -1.13596475577881948265e-11};
  Value r = m.mul(z, m.polynomial(z, terms));
  Value w = m.sub(c(1), half);
  Value lost = m.sub(m.sub(c(1), w), half);
  return m.add(w, m.add(lost, m.sub(m.mul(z, r), m.mul(x, tail))));
}

namespace {
/// The sine and cosine of an angle of f32 or f64.
struct SineCosine {
  Value sine, cosine;
};
} // namespace

static SineCosine buildSineCosine(BodyBuilder &m, Value x) {
  ReducedAngle angle = reduceAngle(m, x);
  Value s = kernelSine(m, angle.high, angle.low);
  Value c = kernelCosine(m, angle.high, angle.low);
  Value q = angle.quadrant;
  auto bit = [&](int64_t mask, Value of) {
    return m.compare(Int::ne, m.bitAnd(of, m.intLike(of, mask)),
                     m.intLike(of, 0));
  };
  Value swap = bit(1, q);
  Value sine = m.select(swap, c, s), cosine = m.select(swap, s, c);
  sine = m.select(bit(2, q), m.neg(sine), sine);
  Value minus = bit(2, m.add(q, m.intLike(q, 1)));
  return {sine, m.select(minus, m.neg(cosine), cosine)};
}

Value DoubleMath::atan(Value x) {
  Value a = m.abs(x);
  // atan(a) = base + atan(t), with t in [-7/16, 7/16] or so.
  struct Range {
    double from;           // of a
    double n0, n1, d0, d1; // t = (n0 + n1 a) / (d0 + d1 a)
    double base, baseLow;
  };
  static const Range ranges[] = {
      {0.4375, -1, 2, 2, 1, 4.63647609000806093515e-01,
       2.26987774529616870924e-17},
      {0.6875, -1, 1, 1, 1, 7.85398163397448278999e-01,
       3.06161699786838301793e-17},
      {1.1875, -1.5, 1, 1, 1.5, 9.82793723247329054082e-01,
       1.39033110312309984516e-17},
      {2.4375, -1, 0, 0, 1, 1.57079632679489655800e+00,
       6.12323399573676603587e-17}};
  Value numerator = a, denominator = f(1), base = f(0), baseLow = f(0);
  for (const Range &range : ranges) {
    Value here = m.compare(Float::OGE, a, f(range.from));
    numerator = m.select(here, m.fma(a, f(range.n1), f(range.n0)), numerator);
    denominator =
        m.select(here, m.fma(a, f(range.d1), f(range.d0)), denominator);
    base = m.select(here, f(range.base), base);
    baseLow = m.select(here, f(range.baseLow), baseLow);
  }
  // -1 + 0 * infinity is no number; -1 / infinity is 0.
  Value isLarge = m.compare(Float::OGE, a, f(2.4375));
  numerator = m.select(isLarge, f(-1), numerator);
  denominator = m.select(isLarge, a, denominator);
  Value t = m.div(numerator, denominator), z = m.mul(t, t);
  static const double c[] = {
      3.33333333333329318027e-01, -1.99999999998764832476e-01,
      1.42857142725034663711e-01, -1.11111104054623557880e-01,
      9.09088713343650656196e-02, -7.69187620504482999495e-02,
      6.66107313738753120669e-02, -5.83357013379057348645e-02,
      4.97687799461593236017e-02, -3.65315727442169155270e-02,
      1.62858201153657823623e-02};
  Value tail = m.mul(t, m.mul(z, m.polynomial(z, c)));
  Value value = m.sub(base, m.sub(m.sub(tail, baseLow), t));
  return signed_(value, x);
}

/// (asin(v) - v) / v of z = v^2 <= 1/4.
Value DoubleMath::asinTail(Value z) {
  static const double p[] = {
      1.66666666666666657415e-01, -3.25565818622400915405e-01,
      2.01212532134862925881e-01, -4.00555345006794114027e-02,
      7.91534994289814532176e-04, 3.47933107596021167570e-05};
  static const double q[] = {
      1.0, -2.40339491173441421878e+00, 2.02094576023350569471e+00,
      -6.88283971605453293030e-01, 7.70381505559019352791e-02};
  return m.div(m.mul(z, m.polynomial(z, p)), m.polynomial(z, q));
}

/// What is left of the square root of z after rounding it to `root`.
Value DoubleMath::rootRest(Value z, Value root) {
  Value rest = m.div(m.fma(m.neg(root), root, z), m.add(root, root));
  return m.select(m.compare(Float::OEQ, root, f(0)), f(0), rest);
}

Value DoubleMath::asin(Value x) {
  Value a = m.abs(x);
  Value isSmall = less(a, 0.5);
  // asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2)).
  Value z = m.select(isSmall, m.mul(a, a), m.mul(m.sub(f(1), a), f(0.5)));
  Value tail = asinTail(z);
  Value inner = m.fma(a, tail, a);
  Value root = sqrt(z);
  Value rest = rootRest(z, root);
  Value twice = m.fma(m.add(root, root), tail, m.add(rest, rest));
  Value outer =
      m.sub(f(0x1.921fb54442d18p+0), m.sub(m.add(m.add(root, root), twice),
                                           f(6.12323399573676603587e-17)));
  return signed_(m.select(isSmall, inner, outer), x);
}

Value DoubleMath::acos(Value x) {
  Value a = m.abs(x);
  Value isSmall = less(a, 0.5);
  Value z = m.select(isSmall, m.mul(a, a), m.mul(m.sub(f(1), a), f(0.5)));
  Value tail = asinTail(z);
  Value half = f(0x1.921fb54442d18p+0), halfLow = f(6.12323399573676603587e-17);
  Value inner = m.sub(half, m.sub(x, m.sub(halfLow, m.mul(x, tail))));
  Value root = sqrt(z);
  Value rest = rootRest(z, root);
  Value twice = m.fma(m.add(root, root), tail, m.add(rest, rest));
  Value angle = m.add(m.add(root, root), twice); // of a
  // pi - angle, in the same way.
  Value behind = m.sub(f(0x1.921fb54442d18p+1),
                       m.sub(angle, f(2 * 6.12323399573676603587e-17)));
  Value outer = m.select(less(x, 0), behind, angle);
  return m.select(isSmall, inner, outer);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

bool isScalar(Value x, bool alsoSingle) {
  return x.getType().isF64() || (alsoSingle && x.getType().isF32());
}

/// An op on f64 (or f32) vectors as ops on their elements.
template <typename Op>
struct TakeApart final : OpRewritePattern<Op> {
  TakeApart(MLIRContext *context, bool alsoSingle)
      : OpRewritePattern<Op>(context, /*benefit=*/100), alsoSingle(alsoSingle) {
  }
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 ||
        !(type.getElementType().isF64() ||
          (alsoSingle && type.getElementType().isF32()))) {
      return failure();
    }
    SmallVector<Value> results;
    for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        operands.push_back(
            vector::ExtractOp::create(rewriter, op.getLoc(), operand, lane));
      }
      results.push_back(Op::create(rewriter, op.getLoc(),
                                   TypeRange{type.getElementType()}, operands)
                            ->getResult(0));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, results);
    return success();
  }
  bool alsoSingle;
};

template <typename Op>
struct Expand final : OpRewritePattern<Op> {
  using Build = Value (*)(DoubleMath &m, Op op);
  Expand(MLIRContext *context, Build build)
      : OpRewritePattern<Op>(context, /*benefit=*/100), build(build) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isScalar(op->getResult(0), /*alsoSingle=*/false)) {
      return failure();
    }
    DoubleMath m(rewriter, op.getLoc(), op->getResult(0));
    rewriter.replaceOp(op, build(m, op));
    return success();
  }
  Build build;
};

/// Of an angle, in f32 or f64.
template <typename Op>
struct ExpandAngle final : OpRewritePattern<Op> {
  using Build = Value (*)(BodyBuilder &m, SineCosine both);
  ExpandAngle(MLIRContext *context, Build build)
      : OpRewritePattern<Op>(context, /*benefit=*/100), build(build) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isScalar(op->getResult(0), /*alsoSingle=*/true)) {
      return failure();
    }
    BodyBuilder m(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOp(op, build(m, buildSineCosine(m, op.getOperand())));
    return success();
  }
  Build build;
};

template <typename Op>
void add(RewritePatternSet &patterns, typename Expand<Op>::Build build) {
  patterns.add<TakeApart<Op>>(patterns.getContext(), /*alsoSingle=*/false);
  patterns.add<Expand<Op>>(patterns.getContext(), build);
}

template <typename Op>
void addAngle(RewritePatternSet &patterns,
              typename ExpandAngle<Op>::Build build) {
  patterns.add<TakeApart<Op>>(patterns.getContext(), /*alsoSingle=*/true);
  patterns.add<ExpandAngle<Op>>(patterns.getContext(), build);
}

} // namespace

void codegen::populateMathExpansion(RewritePatternSet &patterns) {
#define AMPC_EXPAND(OP, METHOD)                                                \
  add<math::OP>(patterns, [](DoubleMath &m, math::OP op) {                     \
    return m.METHOD(op.getOperand());                                          \
  });
  AMPC_EXPAND(ExpOp, exp)

  AMPC_EXPAND(LogOp, log)
  AMPC_EXPAND(Log1pOp, log1p)
  AMPC_EXPAND(AsinOp, asin)
  AMPC_EXPAND(AcosOp, acos)
  AMPC_EXPAND(AtanOp, atan)
  AMPC_EXPAND(SinhOp, sinh)
  AMPC_EXPAND(CoshOp, cosh)
  AMPC_EXPAND(TanhOp, tanh)
  AMPC_EXPAND(AsinhOp, asinh)
  AMPC_EXPAND(AcoshOp, acosh)
  AMPC_EXPAND(AtanhOp, atanh)
#undef AMPC_EXPAND
  add<math::PowFOp>(patterns, [](DoubleMath &m, math::PowFOp op) {
    return m.pow(op.getLhs(), op.getRhs());
  });
  addAngle<math::SinOp>(
      patterns, [](BodyBuilder &, SineCosine both) { return both.sine; });
  addAngle<math::CosOp>(
      patterns, [](BodyBuilder &, SineCosine both) { return both.cosine; });
  addAngle<math::TanOp>(patterns, [](BodyBuilder &m, SineCosine both) {
    return m.div(both.sine, both.cosine);
  });
}
