//===- Calculus.h - Writes gradients as formulas ----------------*- C++ -*-===//
#ifndef AMPC_DIALECTS_AMP_GRADIENT_CALCULUS_H
#define AMPC_DIALECTS_AMP_GRADIENT_CALCULUS_H

#include "dialects/Amp/IR/Formula.h"
#include "dialects/Interfaces/DifferentiableInterfaces.h"

namespace ampc::grad {

/// Builds the ops of one gradient. 16-bit floats are widened where a formula
/// reads them and rounded once where a contribution is given, so formulas
/// compute in f32 or f64.
class Calculus : public amp::Formula {
public:
  explicit Calculus(GradientBuilder &gradients)
      : Formula(gradients.b, gradients.loc), gradients(gradients) {}

  /// The gradient of a result, as it is stored or widened.
  mlir::Value stored(mlir::Value result) {
    return gradients.getGradient(result);
  }
  mlir::Value of(mlir::Value result) { return wide(stored(result)); }
  bool wants(mlir::Value operand) {
    return operand && gradients.isWanted(operand);
  }

  /// Contributes `value` to the gradient of `operand`: summed over what the
  /// operand was broadcast to, cast to the gradient's element type.
  void give(mlir::Value operand, mlir::Value value);

  GradientBuilder &gradients;
};

} // namespace ampc::grad

#endif // AMPC_DIALECTS_AMP_GRADIENT_CALCULUS_H
