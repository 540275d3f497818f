//===- Passes.h - From a graph to a training step -------------------------===//
#ifndef AMPC_PASSES_TRAINING_PASSES_H
#define AMPC_PASSES_TRAINING_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Training/Kinds.h"

namespace ampc::training {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Training/Passes.h.inc"

/// Marks of arguments: what is trained, the labels, and how many of the batch's
/// samples count.
inline constexpr llvm::StringLiteral trainableName = "amp.trainable";
inline constexpr llvm::StringLiteral labelName = "amp.label";
inline constexpr llvm::StringLiteral samplesName = "amp.samples";

/// Marks of results: a loss, the sum of its weights (with what that is for a
/// whole batch), and an output of the model that is its loss.
inline constexpr llvm::StringLiteral lossName = "amp.loss";
inline constexpr llvm::StringLiteral nominalWeightName = "amp.nominal_weight";
inline constexpr llvm::StringLiteral ownLossName = "amp.own_loss";
/// On a number that is added up over micro-batches: its name, `correct` for how
/// much was predicted right and `count` for of how much.
inline constexpr llvm::StringLiteral summedName = "amp.summed";

/// Mark of a function that does not train: batch norms use their running
/// statistics, dropouts drop nothing.
inline constexpr llvm::StringLiteral inferenceName = "amp.inference";

/// On the constants that were initializers: their names.
inline constexpr llvm::StringLiteral initializerName = "amp.initializer";
/// On a composite that is a loss of the model: its reduction and, if it has
/// one, the label that does not count.
inline constexpr llvm::StringLiteral reductionName = "amp.reduction";
inline constexpr llvm::StringLiteral ignoreIndexName = "amp.ignore_index";

/// On the module: a dictionary of what a trainer says of its loss.
inline constexpr llvm::StringLiteral trainingName = "amp.training";
} // namespace ampc::training

#endif // AMPC_PASSES_TRAINING_PASSES_H
