//===- Passes.h - From a graph to a training step -------------------------===//
#ifndef AMPC_PASSES_TRAINING_PASSES_H
#define AMPC_PASSES_TRAINING_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ampc::training {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Training/Passes.h.inc"

/// Marks of arguments and results.
inline constexpr llvm::StringLiteral trainableName = "amp.trainable";
inline constexpr llvm::StringLiteral lossName = "amp.loss";
} // namespace ampc::training

#endif // AMPC_PASSES_TRAINING_PASSES_H
