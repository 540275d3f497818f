//===- ScalarBodyBinary.cpp - Elementwise ops of two and three operands ---===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Impl/BodyBuilder.h"
#include "dialects/Amp/Impl/MathExpansion.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

using Float = BodyBuilder::Float;
using Int = BodyBuilder::Int;

/// Defines OP::buildScalarBody with `m` to build with, the operands `x` and `y`
/// and whether their tensors hold unsigned integers in scope.
#define AMPC_BINARY_BODY(OP, ...)                                              \
  Value OP::buildScalarBody(OpBuilder &b, Location loc, ValueRange operands) { \
    BodyBuilder m(b, loc, operands[0]);                                        \
    Value x = operands[0], y = operands[1];                                    \
    [[maybe_unused]] bool isUnsigned =                                         \
        getLhs().getType().getElementType().isUnsignedInteger();               \
    __VA_ARGS__                                                                \
  }

AMPC_BINARY_BODY(AddOp, return m.add(x, y);)
AMPC_BINARY_BODY(SubOp, return m.sub(x, y);)
AMPC_BINARY_BODY(MulOp, return m.mul(x, y);)
AMPC_BINARY_BODY(MaxOp, return buildMax(b, loc, x, y, isUnsigned);)
AMPC_BINARY_BODY(MinOp, return buildMin(b, loc, x, y, isUnsigned);)
AMPC_BINARY_BODY(AndOp, return m.bitAnd(x, y);)
AMPC_BINARY_BODY(OrOp, return m.bitOr(x, y);)
AMPC_BINARY_BODY(XorOp, return m.bitXor(x, y);)

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// Shifts by an amount taken as unsigned; 0 where it reaches the width.
template <typename Op>
static Value shift(BodyBuilder &m, Value x, Value amount) {
  Value zero = m.intLike(x, 0);
  Value width = m.intLike(x, m.element(x).getIntOrFloatBitWidth());
  Value inside = m.compare(Int::ult, amount, width);
  Value shifted = m.make<Op>(x, m.select(inside, amount, zero));
  return m.select(inside, shifted, zero);
}

AMPC_BINARY_BODY(ShiftLeftOp, return shift<arith::ShLIOp>(m, x, y);)
AMPC_BINARY_BODY(ShiftRightOp, return shift<arith::ShRUIOp>(m, x, y);)

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// The quotient or remainder with every case defined: a divisor of zero gives
/// 0, and the smallest integer divided by -1 wraps.
template <typename SignedOp, typename UnsignedOp>
static Value divideInts(BodyBuilder &m, Value x, Value y, bool isUnsigned) {
  Value zero = m.intLike(x, 0), one = m.intLike(x, 1);
  Value byZero = m.compare(Int::eq, y, zero), unsafe = byZero;
  if (!isUnsigned) {
    unsigned width = m.element(x).getIntOrFloatBitWidth();
    Value smallest =
        m.constant(m.b.getIntegerType(width), APInt::getSignedMinValue(width));
    Value overflows = m.bitAnd(m.compare(Int::eq, x, smallest),
                               m.compare(Int::eq, y, m.intLike(y, -1)));
    unsafe = m.bitOr(byZero, overflows);
  }
  // By 1, the quotient wraps as it should and the remainder is 0.
  Value divisor = m.select(unsafe, one, y);
  Value result = isUnsigned ? m.make<UnsignedOp>(x, divisor)
                            : m.make<SignedOp>(x, divisor);
  return m.select(byZero, zero, result);
}

AMPC_BINARY_BODY(DivOp, {
  return m.isFloat(x)
             ? m.div(x, y)
             : divideInts<arith::DivSIOp, arith::DivUIOp>(m, x, y, isUnsigned);
})

AMPC_BINARY_BODY(ModOp, {
  if (m.isFloat(x)) {
    Value rest = m.make<arith::RemFOp>(x, y);
    if (getFmod()) {
      return rest;
    }
    // A remainder of the other sign moves into the divisor's range; one of
    // zero takes the divisor's sign.
    Value zero = m.constantLike(x, 0.0);
    Value differs = m.bitXor(m.compare(Float::OLT, rest, zero),
                             m.compare(Float::OLT, y, zero));
    Value isZero = m.compare(Float::OEQ, rest, zero);
    Value moved = m.select(differs, m.add(rest, y), rest);
    return m.select(isZero, m.make<math::CopySignOp>(zero, y), moved);
  }
  Value rest = divideInts<arith::RemSIOp, arith::RemUIOp>(m, x, y, isUnsigned);
  if (getFmod() || isUnsigned) {
    return rest;
  }
  Value zero = m.intLike(x, 0);
  Value differs = m.compare(Int::slt, m.bitXor(rest, y), zero);
  Value move = m.bitAnd(differs, m.compare(Int::ne, rest, zero));
  return m.select(move, m.add(rest, y), rest);
})

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// x^y by squaring; wraps. `y` counts as unsigned.
static Value powerBySquaring(BodyBuilder &m, Value x, Value y) {
  unsigned width = m.element(x).getIntOrFloatBitWidth();
  Value zero = m.intLike(x, 0), one = m.intLike(x, 1);
  auto bound = [&](int64_t value) {
    return m.make<arith::ConstantIndexOp>(value);
  };
  auto loop = scf::ForOp::create(
      m.b, m.loc, bound(0), bound(width), bound(1), ValueRange{one, x, y},
      [&](OpBuilder &b, Location loc, Value, ValueRange state) {
        BodyBuilder inner(b, loc, x);
        Value product = state[0], square = state[1], rest = state[2];
        Value odd = inner.compare(Int::ne, inner.bitAnd(rest, one), zero);
        product = inner.select(odd, inner.mul(product, square), product);
        square = inner.mul(square, square);
        rest = inner.make<arith::ShRUIOp>(rest, one);
        scf::YieldOp::create(b, loc, ValueRange{product, square, rest});
      });
  return loop.getResult(0);
}

/// x^y where `y` is one of the exponents that models use, else null.
static Value powerOfConstant(BodyBuilder &m, Value x, Value y) {
  APFloat constant(0.0);
  if (!matchPattern(y, m_ConstantFloat(&constant))) {
    return {};
  }
  bool lost;
  constant.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  double exponent = constant.convertToDouble();
  if (exponent == 1.0) {
    return x;
  }
  if (exponent == 2.0) {
    return m.mul(x, x);
  }
  if (exponent == 3.0) {
    return m.mul(m.mul(x, x), x);
  }
  if (exponent == -1.0) {
    return m.div(m.constantLike(x, 1.0), x);
  }
  if (exponent == 0.5) {
    // Unlike sqrt, the power of -0 is 0 and that of -inf is inf.
    double infinity = std::numeric_limits<double>::infinity();
    Value root = m.make<math::SqrtOp>(m.add(x, m.constantLike(x, 0.0)));
    return m.select(m.compare(Float::OEQ, x, m.constantLike(x, -infinity)),
                    m.constantLike(x, infinity), root);
  }
  return {};
}

AMPC_BINARY_BODY(PowOp, {
  if (m.isFloat(x)) {
    Value simple = powerOfConstant(m, x, y);
    return simple ? simple : m.make<math::PowFOp>(x, y);
  }
  Value power = powerBySquaring(m, x, y);
  if (isUnsigned) {
    return power;
  }
  // A negative exponent: 1/x truncated, so 0 but for the units.
  Value zero = m.intLike(x, 0), one = m.intLike(x, 1);
  Value minusOne = m.intLike(x, -1);
  Value odd = m.compare(Int::ne, m.bitAnd(y, one), zero);
  Value unit = m.select(m.compare(Int::eq, x, one), one, zero);
  unit = m.select(m.compare(Int::eq, x, minusOne), m.select(odd, minusOne, one),
                  unit);
  return m.select(m.compare(Int::slt, y, zero), unit, power);
})

//===----------------------------------------------------------------------===//
// Comparison and choice
//===----------------------------------------------------------------------===//

AMPC_BINARY_BODY(CompareOp, {
  static const Float floats[] = {Float::OEQ, Float::UNE, Float::OLT,
                                 Float::OLE, Float::OGT, Float::OGE};
  static const Int signedInts[] = {Int::eq,  Int::ne,  Int::slt,
                                   Int::sle, Int::sgt, Int::sge};
  static const Int unsignedInts[] = {Int::eq,  Int::ne,  Int::ult,
                                     Int::ule, Int::ugt, Int::uge};
  auto which = static_cast<unsigned>(getPredicate());
  if (m.isFloat(x)) {
    return m.compare(floats[which], x, y);
  }
  // Of booleans, false is the smaller.
  bool asUnsigned = isUnsigned || m.element(x).isInteger(1);
  return m.compare(asUnsigned ? unsignedInts[which] : signedInts[which], x, y);
})

Value SelectOp::buildScalarBody(OpBuilder &b, Location loc,
                                ValueRange operands) {
  return arith::SelectOp::create(b, loc, operands[0], operands[1], operands[2]);
}
