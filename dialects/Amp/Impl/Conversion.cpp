//===- Conversion.cpp - Conversions between element types -----------------===//
#include "dialects/Amp/Impl/Conversion.h"

#include "dialects/Amp/Impl/BodyBuilder.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

using Float = BodyBuilder::Float;
using Int = BodyBuilder::Int;

//===----------------------------------------------------------------------===//
// Rounding to the 16-bit floats
//===----------------------------------------------------------------------===//

/// The bits of `x` with the upper half rounded to bf16, the lower undefined.
static Value roundUpperHalf(BodyBuilder &m, Value x) {
  Value bits = m.bits(x);
  Value odd = m.bitAnd(m.make<arith::ShRUIOp>(bits, m.intLike(bits, 16)),
                       m.intLike(bits, 1));
  Value rounded = m.add(m.add(bits, m.intLike(bits, 0x7fff)), odd);
  Value quiet = m.bitOr(bits, m.intLike(bits, 0x400000));
  return m.select(m.isNan(x), quiet, rounded);
}

Value amp::roundToBf16(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  Value bits = roundUpperHalf(m, x);
  return m.floatOfBits(b.getF32Type(),
                       m.bitAnd(bits, m.intLike(bits, 0xffff0000)));
}

Value amp::roundToF16(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  Value half = m.make<arith::TruncFOp>(m.shaped(b.getF16Type()), x);
  return m.make<arith::ExtFOp>(x.getType(), half);
}

Value amp::roundTo16Bit(OpBuilder &b, Location loc, Value x, Type element) {
  if (element.isBF16()) {
    return roundToBf16(b, loc, x);
  }
  return element.isF16() ? roundToF16(b, loc, x) : x;
}

Value amp::packBf16(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  Value bits = roundUpperHalf(m, x);
  return m.make<arith::TruncIOp>(
      m.shaped(b.getI16Type()),
      m.make<arith::ShRUIOp>(bits, m.intLike(bits, 16)));
}

Value amp::unpackBf16(OpBuilder &b, Location loc, Value x) {
  BodyBuilder m(b, loc, x);
  Value wide = m.make<arith::ExtUIOp>(m.shaped(b.getI32Type()), x);
  return m.floatOfBits(b.getF32Type(),
                       m.make<arith::ShLIOp>(wide, m.intLike(wide, 16)));
}

/// f64 to f32, rounded to odd: rounding the result to a 16-bit float then is
/// one rounding of `x`.
static Value truncateToOdd(BodyBuilder &m, Value x) {
  Value near = m.make<arith::TruncFOp>(m.shaped(m.b.getF32Type()), x);
  Value back = m.make<arith::ExtFOp>(x.getType(), near);
  Value bits = m.bits(near), one = m.intLike(bits, 1);
  Value isOdd = m.compare(Int::ne, m.bitAnd(bits, one), m.intLike(bits, 0));
  // An even inexact result moves to its neighbour on the other side of x.
  Value away = m.compare(Float::OGT, m.abs(back), m.abs(x));
  Value moved = m.select(away, m.sub(bits, one), m.add(bits, one));
  Value exact = m.compare(Float::UEQ, back, x);
  Value keep = m.bitOr(exact, isOdd);
  return m.floatOfBits(m.b.getF32Type(), m.select(keep, bits, moved));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// `x`, f32 or f64, to the compute type of the float type `to`.
static Value floatToFloat(BodyBuilder &m, Value x, FloatType to,
                          bool saturate) {
  auto from = cast<FloatType>(m.element(x));
  bool narrows = to.getWidth() < from.getWidth();
  if (saturate && narrows) {
    double largest =
        APFloat::getLargest(to.getFloatSemantics()).convertToDouble();
    Value high = m.constant(from, largest), low = m.constant(from, -largest);
    x = m.select(m.compare(Float::OGT, x, high), high, x);
    x = m.select(m.compare(Float::OLT, x, low), low, x);
  }
  if (to.isF64()) {
    return from.isF64() ? x : m.make<arith::ExtFOp>(m.shaped(to), x);
  }
  if (to.isF32()) {
    return from.isF32() ? x : m.make<arith::TruncFOp>(m.shaped(to), x);
  }
  return roundTo16Bit(m.b, m.loc, from.isF64() ? truncateToOdd(m, x) : x, to);
}

/// Integers to `to` without a second rounding.
static Value intToFloat(BodyBuilder &m, Value x, bool isUnsigned, FloatType to,
                        bool saturate) {
  unsigned width = m.element(x).getIntOrFloatBitWidth();
  bool is16Bit = to.getWidth() == 16;
  if (is16Bit && width == 64) {
    // To 53 bits, rounded to odd, where f64 would round.
    Value low = m.bitAnd(x, m.intLike(x, 0x7ff));
    Value sticky = m.select(m.compare(Int::ne, low, m.intLike(x, 0)),
                            m.intLike(x, 0x800), m.intLike(x, 0));
    Value odd = m.bitOr(m.bitAnd(x, m.intLike(x, ~int64_t(0x7ff))), sticky);
    Value limit = m.intLike(x, int64_t(1) << 52);
    Value shifted = isUnsigned ? x : m.add(x, limit);
    Value range = isUnsigned ? limit : m.intLike(x, int64_t(1) << 53);
    x = m.select(m.compare(Int::ult, shifted, range), x, odd);
  }
  FloatType exact = to;
  if (is16Bit) {
    exact = width <= 16 ? cast<FloatType>(m.b.getF32Type())
                        : cast<FloatType>(m.b.getF64Type());
  }
  Value result = isUnsigned ? m.make<arith::UIToFPOp>(m.shaped(exact), x)
                            : m.make<arith::SIToFPOp>(m.shaped(exact), x);
  return is16Bit ? floatToFloat(m, result, to, saturate) : result;
}

/// Truncation towards zero, bounded to the range of i32 or i64 so that every
/// input has a result, then wrapped to the width of `to`.
static Value floatToInt(BodyBuilder &m, Value x, IntegerType to) {
  unsigned width = to.getWidth();
  bool fromI32 = width <= 16 || (width == 32 && !to.isUnsigned());
  IntegerType wide = m.b.getIntegerType(fromI32 ? 32 : 64);
  Value high = m.constantLike(x, fromI32 ? 0x1p31 : 0x1p63);
  Value low = m.constantLike(x, fromI32 ? -0x1p31 : -0x1p63);
  Value zero = m.constantLike(x, 0.0);
  // Values from 2^63 on, which only u64 has, lose that bit until converted.
  Value upper;
  if (width == 64 && to.isUnsigned()) {
    upper = m.compare(Float::OGE, x, high);
    x = m.select(upper, m.sub(x, high), x);
  }
  Value inside = m.select(m.compare(Float::OLT, x, high), x, zero);
  inside = m.select(m.compare(Float::OLT, inside, low), low, inside);
  Value result = m.make<arith::FPToSIOp>(m.shaped(wide), inside);
  Value largest = m.constant(wide, APInt::getSignedMaxValue(wide.getWidth()));
  result = m.select(m.compare(Float::OGE, x, high), largest, result);
  if (upper) {
    Value top = m.constant(wide, APInt::getSignMask(64));
    result = m.select(upper, m.bitXor(result, top), result);
  }
  Type narrow = m.shaped(m.b.getIntegerType(width));
  return width < wide.getWidth() ? m.make<arith::TruncIOp>(narrow, result)
                                 : result;
}

static Value intToInt(BodyBuilder &m, Value x, bool isUnsigned,
                      unsigned width) {
  unsigned from = m.element(x).getIntOrFloatBitWidth();
  Type type = m.shaped(m.b.getIntegerType(width));
  if (width == from) {
    return x;
  }
  if (width < from) {
    return m.make<arith::TruncIOp>(type, x);
  }
  return isUnsigned ? m.make<arith::ExtUIOp>(type, x)
                    : m.make<arith::ExtSIOp>(type, x);
}

Value amp::buildConversion(OpBuilder &b, Location loc, Value x, Type from,
                           Type to, bool saturate) {
  BodyBuilder m(b, loc, x);
  if (from == to) {
    return x;
  }
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (to.isInteger(1)) {
    return m.isFloat(x) ? m.compare(Float::UNE, x, m.constantLike(x, 0.0))
                        : m.compare(Int::ne, x, m.intLike(x, 0));
  }
  if (auto toFloat = dyn_cast<FloatType>(to)) {
    return m.isFloat(x) ? floatToFloat(m, x, toFloat, saturate)
                        : intToFloat(m, x, isUnsigned, toFloat, saturate);
  }
  auto toInt = cast<IntegerType>(to);
  return m.isFloat(x) ? floatToInt(m, x, toInt)
                      : intToInt(m, x, isUnsigned, toInt.getWidth());
}
