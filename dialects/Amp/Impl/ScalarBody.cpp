//===- ScalarBody.cpp - Elementwise ops of one operand, on one element ----===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Impl/BodyBuilder.h"
#include "dialects/Amp/Impl/Conversion.h"
#include "dialects/Amp/Impl/MathExpansion.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

using Float = BodyBuilder::Float;
using Int = BodyBuilder::Int;

/// Defines OP::buildScalarBody with `m` to build with, the operand `x` and the
/// operand's tensor element type `type` in scope.
#define AMPC_UNARY_BODY(OP, ...)                                               \
  Value OP::buildScalarBody(OpBuilder &b, Location loc, ValueRange operands) { \
    BodyBuilder m(b, loc, operands[0]);                                        \
    Value x = operands[0];                                                     \
    [[maybe_unused]] Type type = getInput().getType().getElementType();        \
    __VA_ARGS__                                                                \
  }

//===----------------------------------------------------------------------===//
// Functions that `math` has, or that are expanded for f32
//===----------------------------------------------------------------------===//

AMPC_UNARY_BODY(CeilOp, return m.make<math::CeilOp>(x);)
AMPC_UNARY_BODY(FloorOp, return m.make<math::FloorOp>(x);)
AMPC_UNARY_BODY(RoundOp, return m.make<math::RoundEvenOp>(x);)
AMPC_UNARY_BODY(SqrtOp, return m.make<math::SqrtOp>(x);)
AMPC_UNARY_BODY(SinOp, return m.make<math::SinOp>(x);)
AMPC_UNARY_BODY(CosOp, return m.make<math::CosOp>(x);)
AMPC_UNARY_BODY(TanOp, return m.make<math::TanOp>(x);)
AMPC_UNARY_BODY(AsinOp, return m.make<math::AsinOp>(x);)
AMPC_UNARY_BODY(AcosOp, return m.make<math::AcosOp>(x);)
AMPC_UNARY_BODY(AtanOp, return m.make<math::AtanOp>(x);)
AMPC_UNARY_BODY(SinhOp, return m.make<math::SinhOp>(x);)
AMPC_UNARY_BODY(CoshOp, return m.make<math::CoshOp>(x);)
AMPC_UNARY_BODY(AsinhOp, return m.make<math::AsinhOp>(x);)
AMPC_UNARY_BODY(AcoshOp, return m.make<math::AcoshOp>(x);)
AMPC_UNARY_BODY(AtanhOp, return m.make<math::AtanhOp>(x);)
AMPC_UNARY_BODY(ExpOp, return buildExp(b, loc, x);)
AMPC_UNARY_BODY(LogOp, return buildLog(b, loc, x);)
AMPC_UNARY_BODY(TanhOp, return buildTanh(b, loc, x);)
AMPC_UNARY_BODY(ErfOp, return buildErf(b, loc, x);)
AMPC_UNARY_BODY(SigmoidOp, return buildSigmoid(b, loc, x);)
AMPC_UNARY_BODY(SoftplusOp, return buildSoftplus(b, loc, x);)

AMPC_UNARY_BODY(ReciprocalOp, return m.div(m.constantLike(x, 1.0), x);)
AMPC_UNARY_BODY(RsqrtOp,
                return m.div(m.constantLike(x, 1.0), m.make<math::SqrtOp>(x));)

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

AMPC_UNARY_BODY(AbsOp, {
  if (m.isFloat(x)) {
    return m.abs(x);
  }
  if (type.isUnsignedInteger()) {
    return x;
  }
  Value zero = m.intLike(x, 0);
  return m.select(m.compare(Int::slt, x, zero), m.sub(zero, x), x);
})

AMPC_UNARY_BODY(NegOp,
                { return m.isFloat(x) ? m.neg(x) : m.sub(m.intLike(x, 0), x); })

AMPC_UNARY_BODY(SignOp, {
  if (m.isFloat(x)) {
    Value zero = m.constantLike(x, 0.0);
    Value unit = m.make<math::CopySignOp>(m.constantLike(x, 1.0), x);
    Value sign = m.select(m.compare(Float::OEQ, x, zero), zero, unit);
    return m.select(m.isNan(x), x, sign);
  }
  Value zero = m.intLike(x, 0), one = m.intLike(x, 1);
  Int above = type.isUnsignedInteger() ? Int::ugt : Int::sgt;
  Value rest = type.isUnsignedInteger() ? zero
                                        : m.select(m.compare(Int::slt, x, zero),
                                                   m.intLike(x, -1), zero);
  return m.select(m.compare(above, x, zero), one, rest);
})

AMPC_UNARY_BODY(BitwiseNotOp, return m.bitXor(x, m.intLike(x, -1));)
AMPC_UNARY_BODY(LogicalNotOp, return m.bitXor(x, m.intLike(x, 1));)

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// min(max(x, low), high); NaN passes.
static Value bound(BodyBuilder &m, Value x, double low, double high) {
  Value lowValue = m.constantLike(x, low), highValue = m.constantLike(x, high);
  x = m.select(m.compare(Float::OLT, x, lowValue), lowValue, x);
  return m.select(m.compare(Float::OGT, x, highValue), highValue, x);
}

AMPC_UNARY_BODY(ReluOp, {
  if (m.isFloat(x)) {
    Value zero = m.constantLike(x, 0.0);
    return m.select(m.compare(Float::UGT, x, zero), x, zero);
  }
  return type.isUnsignedInteger() ? x : buildMax(b, loc, x, m.intLike(x, 0));
})

AMPC_UNARY_BODY(SiluOp, return m.mul(x, buildSigmoid(b, loc, x));)

AMPC_UNARY_BODY(HardSwishOp, {
  Value gate = m.fma(x, m.constantLike(x, 1.0 / 6.0), m.constantLike(x, 0.5));
  return m.mul(x, bound(m, gate, 0.0, 1.0));
})

AMPC_UNARY_BODY(HardSigmoidOp, {
  Value line = m.fma(x, m.constantLike(x, getAlpha().convertToDouble()),
                     m.constantLike(x, getBeta().convertToDouble()));
  return bound(m, line, 0.0, 1.0);
})

AMPC_UNARY_BODY(LeakyReluOp, {
  Value scaled = m.mul(x, m.constantLike(x, getAlpha().convertToDouble()));
  return m.select(m.compare(Float::OGE, x, m.constantLike(x, 0.0)), x, scaled);
})

AMPC_UNARY_BODY(GeluOp, {
  Value one = m.constantLike(x, 1.0), half = m.constantLike(x, 0.5);
  Value bounded;
  if (getForm() == GeluForm::Erf) {
    Value scaled = m.mul(x, m.constantLike(x, 0.70710678118654752));
    bounded = buildErf(b, loc, scaled);
  } else {
    Value cube = m.mul(m.mul(x, x), x);
    Value sum = m.fma(cube, m.constantLike(x, 0.044715), x);
    Value scaled = m.mul(sum, m.constantLike(x, 0.79788456080286536));
    bounded = buildTanh(b, loc, scaled);
  }
  return m.mul(m.mul(x, half), m.add(one, bounded));
})

AMPC_UNARY_BODY(ClipOp, {
  double largest =
      APFloat::getLargest(cast<FloatType>(type).getFloatSemantics())
          .convertToDouble();
  double low = getMin().convertToDouble(), high = getMax().convertToDouble();
  if (low >= -largest && low <= largest) {
    Value value = m.constantLike(x, low);
    x = m.select(m.compare(Float::OLT, x, value), value, x);
  }
  if (high >= -largest && high <= largest) {
    Value value = m.constantLike(x, high);
    x = m.select(m.compare(Float::OGT, x, value), value, x);
  }
  return x;
})

//===----------------------------------------------------------------------===//
// Tests and casts
//===----------------------------------------------------------------------===//

AMPC_UNARY_BODY(IsNanOp, return m.isNan(x);)

AMPC_UNARY_BODY(IsInfOp, {
  double infinity = std::numeric_limits<double>::infinity();
  Value positive = m.compare(Float::OEQ, x, m.constantLike(x, infinity));
  Value negative = m.compare(Float::OEQ, x, m.constantLike(x, -infinity));
  if (getPositive() && getNegative()) {
    return m.bitOr(positive, negative);
  }
  if (getPositive() || getNegative()) {
    return getPositive() ? positive : negative;
  }
  return m.constant(b.getI1Type(), APInt(1, 0));
})

AMPC_UNARY_BODY(CastOp, {
  return buildConversion(b, loc, x, type,
                         getResult().getType().getElementType(), getSaturate());
})
