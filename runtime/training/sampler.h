//===- sampler.h - In which order samples are seen ------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_SAMPLER_H
#define AMPC_RUNTIME_TRAINING_SAMPLER_H

#include "runtime/core/support.h"
#include "runtime/training/options.h"

namespace ampc::runtime {

/// How a run is cut: an update takes the gradients of `accumulate` batches, and
/// the last of an epoch those that are left. All numbers count from 0.
struct RunShape {
  uint64_t rows = 0;
  uint64_t batch = 1;
  uint64_t accumulate = 1;
  LastBatch lastBatch = LastBatch::Drop;
  uint64_t steps = 0; // updates of the whole run

  uint64_t batchesPerEpoch() const {
    return lastBatch == LastBatch::Drop ? rows / batch
                                        : (rows + batch - 1) / batch;
  }
  uint64_t stepsPerEpoch() const {
    return (batchesPerEpoch() + accumulate - 1) / accumulate;
  }
  uint64_t epochs() const {
    return (steps + stepsPerEpoch() - 1) / stepsPerEpoch();
  }
  uint64_t epochOf(uint64_t step) const { return step / stepsPerEpoch(); }
  /// The first batch of an update, in its epoch.
  uint64_t firstBatch(uint64_t step) const {
    return step % stepsPerEpoch() * accumulate;
  }
  /// Batches of an update.
  uint64_t batchesOf(uint64_t step) const {
    uint64_t left = batchesPerEpoch() - firstBatch(step);
    return left < accumulate ? left : accumulate;
  }
  /// Samples of a batch of an epoch.
  uint64_t samplesOf(uint64_t index) const {
    uint64_t left = rows - index * batch;
    return left < batch ? left : batch;
  }
};

/// Counts the updates of `epochs` epochs, at most `steps`, where 0 is none
/// given. AMPC_INVALID if there are too few rows, AMPC_LIMIT if the count
/// overflows.
Status planRun(uint64_t epochs, uint64_t steps, RunShape *shape);

/// A permutation of [0, rows) that depends on seed and epoch alone: a shuffle
/// by Fisher and Yates (Durstenfeld, 1964) whose numbers, without bias (Lemire,
/// "Fast Random Integer Generation in an Interval", 2019), come from splitmix64
/// (Steele, Lea and Flood, 2014). AMPC_LIMIT when memory is short.
Status shuffle(uint64_t rows, uint64_t seed, uint64_t epoch, Bytes *outOrder);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_SAMPLER_H
