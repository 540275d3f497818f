//===- Binary.cpp - Gradients of functions of several numbers -------------===//
#include "dialects/Amp/Gradient/Models.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

namespace {
using P = ComparePredicate;

void differentiateAdd(AddOp op, Calculus &c) {
  for (Value operand : {op.getLhs(), op.getRhs()}) {
    if (c.wants(operand)) {
      c.give(operand, c.of(op.getResult()));
    }
  }
}

void differentiateSub(SubOp op, Calculus &c) {
  if (c.wants(op.getLhs())) {
    c.give(op.getLhs(), c.of(op.getResult()));
  }
  if (c.wants(op.getRhs())) {
    c.give(op.getRhs(), c.neg(c.of(op.getResult())));
  }
}

void differentiateMul(MulOp op, Calculus &c) {
  Value g = c.of(op.getResult());
  if (c.wants(op.getLhs())) {
    c.give(op.getLhs(), c.mul(g, c.wide(op.getRhs())));
  }
  if (c.wants(op.getRhs())) {
    c.give(op.getRhs(), c.mul(g, c.wide(op.getLhs())));
  }
}

/// d(a / b) = da / b - (a / b) / b db.
void differentiateDiv(DivOp op, Calculus &c) {
  Value quotient = c.div(c.of(op.getResult()), c.wide(op.getRhs()));
  if (c.wants(op.getLhs())) {
    c.give(op.getLhs(), quotient);
  }
  if (c.wants(op.getRhs())) {
    c.give(op.getRhs(), c.neg(c.mul(quotient, c.wide(op.getResult()))));
  }
}

/// d(a^b) = b a^(b - 1) da + a^b log(a) db; 0 where b is 0 and where a is 0
/// with b not negative, as PyTorch's pow has it.
void differentiatePow(PowOp op, Calculus &c) {
  Value a = c.wide(op.getLhs()), b = c.wide(op.getRhs());
  Value g = c.of(op.getResult());
  if (c.wants(op.getLhs())) {
    Value power = PowOp::create(c.b, c.loc, a, c.plus(b, -1));
    c.give(op.getLhs(),
           c.where(c.compare(b, P::NE, 0), c.mul(g, c.mul(b, power))));
  }
  if (c.wants(op.getRhs())) {
    Value flat = c.both(c.compare(a, P::EQ, 0), c.compare(b, P::GE, 0));
    Value slope = c.mul(g, c.mul(c.wide(op.getResult()), c.apply<LogOp>(a)));
    c.give(op.getRhs(), c.select(flat, c.constant(slope, 0), slope));
  }
}

/// The chosen operand takes all, equal ones half each, as PyTorch's maximum.
template <typename OpT>
void differentiateExtremum(OpT op, Calculus &c) {
  Value a = c.wide(op.getLhs()), b = c.wide(op.getRhs());
  Value g = c.of(op.getResult());
  P better = std::is_same_v<OpT, MaxOp> ? P::GT : P::LT;
  Value shared = c.where(c.compare(a, P::EQ, b), c.scale(g, 0.5));
  if (c.wants(op.getLhs())) {
    c.give(op.getLhs(), c.select(c.compare(a, better, b), g, shared));
  }
  if (c.wants(op.getRhs())) {
    c.give(op.getRhs(), c.select(c.compare(b, better, a), g, shared));
  }
}

/// a mod b = a - b q with a quotient q that is flat.
void differentiateMod(ModOp op, Calculus &c) {
  Value g = c.of(op.getResult());
  if (c.wants(op.getLhs())) {
    c.give(op.getLhs(), g);
  }
  if (c.wants(op.getRhs())) {
    Value rest = c.sub(c.wide(op.getLhs()), c.wide(op.getResult()));
    Value q = c.apply<RoundOp>(c.div(rest, c.wide(op.getRhs())));
    c.give(op.getRhs(), c.neg(c.mul(g, q)));
  }
}

void differentiateSelect(SelectOp op, Calculus &c) {
  Value g = c.of(op.getResult());
  if (c.wants(op.getOnTrue())) {
    c.give(op.getOnTrue(), c.where(op.getCondition(), g));
  }
  if (c.wants(op.getOnFalse())) {
    c.give(op.getOnFalse(), c.select(op.getCondition(), c.constant(g, 0), g));
  }
}
} // namespace

void grad::attachBinary(MLIRContext *context) {
  attach<differentiateAdd, differentiateSub, differentiateMul, differentiateDiv,
         differentiatePow, differentiateExtremum<MaxOp>,
         differentiateExtremum<MinOp>, differentiateMod, differentiateSelect>(
      context);
}
