//===- TrainingOptions.h - How a model is trained -------------------------===//
#ifndef AMPC_COMPILER_PIPELINES_TRAININGOPTIONS_H
#define AMPC_COMPILER_PIPELINES_TRAININGOPTIONS_H

#include "passes/Training/Kinds.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ampc {

/// What the command line says about a trainer's loss and update.
struct TrainingOptions {
  training::Loss loss = training::Loss::SoftmaxCrossEntropy;
  std::string lossInput;  ///< the output it is of; empty: the only one
  std::string lossOutput; ///< the output that it is, for Loss::None
  std::string label = "labels";
  bool probabilities = false; ///< labels are one for each class
  double smoothing = 0;
  int64_t ignoreIndex = -100;
  std::vector<double> classWeights; ///< empty: all count alike
  training::Optimizer optimizer = training::Optimizer::Sgd;
  int64_t firstCount = 0; ///< of updates, where the model begins otherwise
  training::GradientType gradientType = training::GradientType::F32;
  training::RecomputeMode recompute = training::RecomputeMode::None;
  bool choosesRecompute = false;            ///< to meet a memory limit
  std::vector<std::string> frozen, trained; ///< globs of initializers
};

} // namespace ampc

#endif // AMPC_COMPILER_PIPELINES_TRAININGOPTIONS_H
