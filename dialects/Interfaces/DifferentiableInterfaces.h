//===- DifferentiableInterfaces.h - What autodiff asks of an op -----------===//
#ifndef AMPC_DIALECTS_INTERFACES_DIFFERENTIABLEINTERFACES_H
#define AMPC_DIALECTS_INTERFACES_DIFFERENTIABLEINTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace ampc {

/// What a DifferentiableOpInterface op builds its gradient with: reverse mode,
/// one op at a time. The gradient of a value has its shape and an element type
/// of its own, which is wider where contributions are summed in f32.
class GradientBuilder {
public:
  GradientBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}
  virtual ~GradientBuilder() = default;

  /// The gradient of the loss with respect to a result of the op; null where
  /// the loss does not depend on it.
  virtual mlir::Value getGradient(mlir::Value result) = 0;

  /// Whether the gradient with respect to an operand is asked for.
  virtual bool isWanted(mlir::Value operand) = 0;

  /// The element type of the gradient of `value`.
  virtual mlir::Type getElementType(mlir::Value value) = 0;

  /// Adds a contribution of `operand`'s shape and of the element type above to
  /// its gradient.
  virtual void contribute(mlir::Value operand, mlir::Value contribution) = 0;

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace ampc

#include "dialects/Interfaces/DifferentiableInterfaces.h.inc"

#endif // AMPC_DIALECTS_INTERFACES_DIFFERENTIABLEINTERFACES_H
