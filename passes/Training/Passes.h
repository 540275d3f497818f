//===- Passes.h - From a graph to a training step -------------------------===//
#ifndef AMPC_PASSES_TRAINING_PASSES_H
#define AMPC_PASSES_TRAINING_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ampc::training {
/// What a trainer minimizes.
enum class Loss { SoftmaxCrossEntropy, Mse, L1, Huber, BceWithLogits };

/// How parameters move.
enum class Optimizer { Sgd, Nesterov, Adam, AdamW };

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Training/Passes.h.inc"

/// Marks of arguments and results.
inline constexpr llvm::StringLiteral trainableName = "amp.trainable";
/// On the sum of a loss's weights: what it is for a whole batch.
inline constexpr llvm::StringLiteral nominalWeightName = "amp.nominal_weight";
/// On a result that is added up over a window, beside loss and weight: by what
/// name ("correct", "count").
inline constexpr llvm::StringLiteral summedName = "amp.summed";
/// On the constants that were initializers: their names.
inline constexpr llvm::StringLiteral initializerName = "amp.initializer";
inline constexpr llvm::StringLiteral lossName = "amp.loss";
} // namespace ampc::training

#endif // AMPC_PASSES_TRAINING_PASSES_H
