//===- BackwardPass.h - Where forward ends and backward begins --*- C++ -*-===//
#ifndef AMPC_PASSES_TRAINING_BACKWARDPASS_H
#define AMPC_PASSES_TRAINING_BACKWARDPASS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace ampc::training {

/// The two halves of a micro-step. The backward pass begins with the first
/// operation that reads the cotangent, which depends on the state train.scale,
/// and an activation; whatever stands behind belongs to it.
struct BackwardPass {
  explicit BackwardPass(mlir::func::FuncOp step);

  /// Operations of the forward pass that depend on the model's inputs, and of
  /// the backward pass, in order. Both are empty where there is no backward
  /// pass.
  llvm::SmallVector<mlir::Operation *> forward, backward;

  bool isBackward(mlir::Operation *op) const { return readers.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> readers;
};

/// Bytes of a tensor.
int64_t countBytes(mlir::Value value);

} // namespace ampc::training

#endif // AMPC_PASSES_TRAINING_BACKWARDPASS_H
