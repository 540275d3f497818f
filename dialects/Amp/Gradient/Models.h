//===- Models.h - Attaches gradients to the operations of amp ---*- C++ -*-===//
#ifndef AMPC_DIALECTS_AMP_GRADIENT_MODELS_H
#define AMPC_DIALECTS_AMP_GRADIENT_MODELS_H

#include "dialects/Amp/Gradient/Calculus.h"

namespace ampc::grad {

/// Adds DifferentiableOpInterface to the ops of amp, once amp is loaded.
void registerGradientModels(mlir::DialectRegistry &registry);

// One function per family of ops.
void attachUnary(mlir::MLIRContext *context);
void attachBinary(mlir::MLIRContext *context);
void attachShape(mlir::MLIRContext *context);
void attachReduction(mlir::MLIRContext *context);
void attachNorm(mlir::MLIRContext *context);
void attachContraction(mlir::MLIRContext *context);
void attachAttention(mlir::MLIRContext *context);
void attachWindow(mlir::MLIRContext *context);
void attachIndexing(mlir::MLIRContext *context);

/// The interface by a function `LogicalResult (Op, Calculus &)`, or by one that
/// returns nothing where there is no form without a gradient.
template <auto Function>
struct Model;
template <typename Op, llvm::LogicalResult (*Function)(Op, Calculus &)>
struct Model<Function>
    : DifferentiableOpInterface::ExternalModel<Model<Function>, Op> {
  using OpType = Op;
  llvm::LogicalResult buildGradient(mlir::Operation *op,
                                    GradientBuilder &gradients) const {
    Calculus c(gradients);
    return Function(mlir::cast<Op>(op), c);
  }
};
template <typename Op, void (*Function)(Op, Calculus &)>
struct Model<Function>
    : DifferentiableOpInterface::ExternalModel<Model<Function>, Op> {
  using OpType = Op;
  llvm::LogicalResult buildGradient(mlir::Operation *op,
                                    GradientBuilder &gradients) const {
    Calculus c(gradients);
    Function(mlir::cast<Op>(op), c);
    return mlir::success();
  }
};

template <auto... Functions>
void attach(mlir::MLIRContext *context) {
  (Model<Functions>::OpType::template attachInterface<Model<Functions>>(
       *context),
   ...);
}

} // namespace ampc::grad

#endif // AMPC_DIALECTS_AMP_GRADIENT_MODELS_H
