//===- gradient_stats.h - How gradients stand to the range of f16 ---------===//
#ifndef AMPC_RUNTIME_TRAINING_GRADIENT_STATS_H
#define AMPC_RUNTIME_TRAINING_GRADIENT_STATS_H

#include "runtime/training/trainer.h"

namespace ampc::runtime {

/// One number for each parameter, of the unscaled gradients of an update.
struct GradientStats {
  Vec<const char *> names; // of the parameters
  Vec<double> elements;    // of each
  Vec<float> meanAbs;
  Vec<float> zeroShare; // of elements that are 0 in 16 bits
  Vec<float> norm;

  /// The share of all elements that are 0.
  double totalZeroShare() const;
};

/// AMPC_INVALID unless the program's entry `grad_stats` is as agreed.
Status checkGradientStats(const Trainer &trainer);
/// Runs the entry; between `step` and `apply`.
Status readGradientStats(ampc_session session, const Trainer &trainer,
                         GradientStats *out);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_GRADIENT_STATS_H
