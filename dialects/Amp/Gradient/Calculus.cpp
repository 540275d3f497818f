//===- Calculus.cpp - Writes gradients as formulas ------------------------===//
#include "dialects/Amp/Gradient/Calculus.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::grad;

void Calculus::give(Value operand, Value value) {
  value = sumTo(value, shapeOf(operand));
  if (shapeOf(value) != shapeOf(operand)) {
    value = broadcast(value, shapeOf(operand));
  }
  gradients.contribute(operand, cast(value, gradients.getElementType(operand)));
}
