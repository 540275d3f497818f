//===- Kinds.h - Losses and optimizers ------------------------------------===//
#ifndef AMPC_PASSES_TRAINING_KINDS_H
#define AMPC_PASSES_TRAINING_KINDS_H

#include "llvm/ADT/StringRef.h"

namespace ampc::training {

/// What a trainer minimizes.
enum class Loss {
  SoftmaxCrossEntropy,
  Mse,
  L1,
  Huber,
  BceWithLogits,
  None ///< a result of the model
};

/// Spelling of a loss on the command line.
llvm::StringRef stringifyLoss(Loss loss);

/// How parameters move.
enum class Optimizer {
  Sgd,
  Momentum,
  Nesterov,
  Adam,
  AdamW,
  AdamEpsilonHat, ///< Adam as ONNX has it
  Adagrad
};

/// What the backward pass computes again to save memory.
enum class RecomputeMode { None, Blocks, All };

/// To what the gradients of parameters are rounded before they are added up.
enum class GradientType { F32, F16, BF16 };

} // namespace ampc::training

#endif // AMPC_PASSES_TRAINING_KINDS_H
