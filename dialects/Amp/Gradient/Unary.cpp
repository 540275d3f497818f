//===- Unary.cpp - Gradients of functions of one number -------------------===//
#include "dialects/Amp/Gradient/Models.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

namespace {
using P = ComparePredicate;

/// Gives the gradient times a derivative `derive(c, x, y)` of y = f(x).
template <typename OpT, Value (*derive)(Calculus &, Value, Value)>
void byDerivative(OpT op, Calculus &c) {
  Value x = c.wide(op.getInput()), y = c.wide(op.getResult());
  c.give(op.getInput(), c.mul(c.of(op.getResult()), derive(c, x, y)));
}

#define AMPC_DERIVATIVE(OP, FORMULA)                                           \
  Value derive##OP(Calculus &c, [[maybe_unused]] Value x,                      \
                   [[maybe_unused]] Value y) {                                 \
    return FORMULA;                                                            \
  }

AMPC_DERIVATIVE(AbsOp, c.apply<SignOp>(x))
AMPC_DERIVATIVE(SqrtOp, c.div(c.constant(y, 0.5), y))
AMPC_DERIVATIVE(RsqrtOp, c.scale(c.mul(y, c.square(y)), -0.5))
AMPC_DERIVATIVE(ReciprocalOp, c.neg(c.square(y)))
AMPC_DERIVATIVE(ExpOp, y)
AMPC_DERIVATIVE(LogOp, c.apply<ReciprocalOp>(x))
AMPC_DERIVATIVE(SinOp, c.apply<CosOp>(x))
AMPC_DERIVATIVE(CosOp, c.neg(c.apply<SinOp>(x)))
AMPC_DERIVATIVE(TanOp, c.plus(c.square(y), 1))
AMPC_DERIVATIVE(AsinOp, c.apply<RsqrtOp>(c.plus(c.neg(c.square(x)), 1)))
AMPC_DERIVATIVE(AcosOp, c.neg(c.apply<RsqrtOp>(c.plus(c.neg(c.square(x)), 1))))
AMPC_DERIVATIVE(AtanOp, c.apply<ReciprocalOp>(c.plus(c.square(x), 1)))
AMPC_DERIVATIVE(SinhOp, c.apply<CoshOp>(x))
AMPC_DERIVATIVE(CoshOp, c.apply<SinhOp>(x))
AMPC_DERIVATIVE(AsinhOp, c.apply<RsqrtOp>(c.plus(c.square(x), 1)))
// (x - 1) (x + 1) rather than x^2 - 1: exact near 1.
AMPC_DERIVATIVE(AcoshOp, c.apply<RsqrtOp>(c.mul(c.plus(x, -1), c.plus(x, 1))))
AMPC_DERIVATIVE(AtanhOp,
                c.apply<ReciprocalOp>(c.mul(c.plus(c.neg(x), 1), c.plus(x, 1))))
AMPC_DERIVATIVE(TanhOp, c.plus(c.neg(c.square(y)), 1))
AMPC_DERIVATIVE(ErfOp, c.scale(c.apply<ExpOp>(c.neg(c.square(x))),
                               2 * llvm::numbers::inv_sqrtpi))
AMPC_DERIVATIVE(SigmoidOp, c.mul(y, c.plus(c.neg(y), 1)))
AMPC_DERIVATIVE(SoftplusOp, c.apply<SigmoidOp>(x))
#undef AMPC_DERIVATIVE

/// s (1 + x (1 - s)) with s = sigmoid(x).
void differentiateSilu(SiluOp op, Calculus &c) {
  Value x = c.wide(op.getInput()), s = c.apply<SigmoidOp>(x);
  Value inner = c.plus(c.mul(x, c.plus(c.neg(s), 1)), 1);
  c.give(op.getInput(), c.mul(c.of(op.getResult()), c.mul(s, inner)));
}

/// 0 below -3, 1 above 3, x / 3 + 1/2 between.
void differentiateHardSwish(HardSwishOp op, Calculus &c) {
  Value x = c.wide(op.getInput()), g = c.of(op.getResult());
  Value inner = c.mul(g, c.plus(c.scale(x, 1.0 / 3), 0.5));
  Value upper = c.select(c.compare(x, P::LT, 3), inner, g);
  c.give(op.getInput(), c.where(c.compare(x, P::GT, -3), upper));
}

void differentiateRelu(ReluOp op, Calculus &c) {
  // Of the result, which is usually kept for the next operation anyway.
  Value y = c.wide(op.getResult());
  c.give(op.getInput(), c.where(c.compare(y, P::GT, 0), c.of(op.getResult())));
}

void differentiateLeakyRelu(LeakyReluOp op, Calculus &c) {
  Value x = c.wide(op.getInput()), g = c.of(op.getResult());
  double alpha = op.getAlpha().convertToDouble();
  c.give(op.getInput(), c.select(c.compare(x, P::GT, 0), g, c.scale(g, alpha)));
}

/// alpha strictly between the two ends.
void differentiateHardSigmoid(HardSigmoidOp op, Calculus &c) {
  Value y = c.wide(op.getResult()), g = c.of(op.getResult());
  Value inside = c.both(c.compare(y, P::GT, 0), c.compare(y, P::LT, 1));
  double alpha = op.getAlpha().convertToDouble();
  c.give(op.getInput(), c.where(inside, c.scale(g, alpha)));
}

/// Bounds let the gradient pass, as PyTorch's clamp does.
void differentiateClip(ClipOp op, Calculus &c) {
  Value x = c.wide(op.getInput());
  Value inside = c.both(c.compare(x, P::GE, op.getMin().convertToDouble()),
                        c.compare(x, P::LE, op.getMax().convertToDouble()));
  c.give(op.getInput(), c.where(inside, c.of(op.getResult())));
}

/// erf: P(x) + x p(x) with the normal distribution P and its density p.
/// tanh: (1 + t) / 2 + x (1 - t^2) u' / 2 with t = tanh(u(x)).
void differentiateGelu(GeluOp op, Calculus &c) {
  Value x = c.wide(op.getInput());
  Value derivative;
  if (op.getForm() == GeluForm::Erf) {
    Value t = c.apply<ErfOp>(c.scale(x, 1 / llvm::numbers::sqrt2));
    Value half = c.plus(c.scale(t, 0.5), 0.5);
    Value density = c.scale(c.apply<ExpOp>(c.scale(c.square(x), -0.5)),
                            llvm::numbers::inv_sqrtpi / llvm::numbers::sqrt2);
    derivative = c.add(half, c.mul(x, density));
  } else {
    constexpr double a = 0.044715;
    double k = llvm::numbers::sqrt2 * llvm::numbers::inv_sqrtpi;
    Value square = c.square(x);
    Value u = c.scale(c.mul(x, c.plus(c.scale(square, a), 1)), k);
    Value t = c.apply<TanhOp>(u);
    Value slope = c.scale(c.plus(c.scale(square, 3 * a), 1), 0.5 * k);
    Value rest = c.mul(c.mul(x, c.plus(c.neg(c.square(t)), 1)), slope);
    derivative = c.add(c.plus(c.scale(t, 0.5), 0.5), rest);
  }
  c.give(op.getInput(), c.mul(c.of(op.getResult()), derivative));
}

void differentiateNeg(NegOp op, Calculus &c) {
  c.give(op.getInput(), c.neg(c.of(op.getResult())));
}

/// Steps: flat wherever they have a derivative.
template <typename OpT>
void contributeNothing(OpT, Calculus &) {}

void differentiateCast(CastOp op, Calculus &c) {
  c.give(op.getInput(), c.stored(op.getResult()));
}
} // namespace

void grad::attachUnary(MLIRContext *context) {
#define AMPC_DERIVATIVE(OP) attach<byDerivative<OP, derive##OP>>(context);
  AMPC_DERIVATIVE(AbsOp)
  AMPC_DERIVATIVE(SqrtOp)
  AMPC_DERIVATIVE(RsqrtOp)
  AMPC_DERIVATIVE(ReciprocalOp)
  AMPC_DERIVATIVE(ExpOp)
  AMPC_DERIVATIVE(LogOp)
  AMPC_DERIVATIVE(SinOp)
  AMPC_DERIVATIVE(CosOp)
  AMPC_DERIVATIVE(TanOp)
  AMPC_DERIVATIVE(AsinOp)
  AMPC_DERIVATIVE(AcosOp)
  AMPC_DERIVATIVE(AtanOp)
  AMPC_DERIVATIVE(SinhOp)
  AMPC_DERIVATIVE(CoshOp)
  AMPC_DERIVATIVE(AsinhOp)
  AMPC_DERIVATIVE(AcoshOp)
  AMPC_DERIVATIVE(AtanhOp)
  AMPC_DERIVATIVE(TanhOp)
  AMPC_DERIVATIVE(ErfOp)
  AMPC_DERIVATIVE(SigmoidOp)
  AMPC_DERIVATIVE(SoftplusOp)
#undef AMPC_DERIVATIVE
  attach<differentiateSilu, differentiateHardSwish, differentiateRelu,
         differentiateLeakyRelu, differentiateHardSigmoid, differentiateClip,
         differentiateGelu, differentiateNeg, contributeNothing<SignOp>,
         contributeNothing<CeilOp>, contributeNothing<FloorOp>,
         contributeNothing<RoundOp>, differentiateCast>(context);
}
