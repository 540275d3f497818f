//===- prefetch.h - Batches gathered ahead, on a thread of their own ------===//
#ifndef AMPC_RUNTIME_TRAINING_PREFETCH_H
#define AMPC_RUNTIME_TRAINING_PREFETCH_H

#include "runtime/training/data_set.h"
#include "runtime/training/sampler.h"

#include <pthread.h>

namespace ampc::runtime {

/// Gathers the batches of a run in order, one ahead of the one in use.
class Prefetch {
public:
  Prefetch() = default;
  Prefetch(const Prefetch &) = delete;
  Prefetch &operator=(const Prefetch &) = delete;
  ~Prefetch();

  /// Starts with the batches of update `firstStep`, of samples in the order
  /// that `seed` gives each epoch or, without it, in the data's. Data set and
  /// trainer outlive this.
  Status start(const Trainer &trainer, const DataSet &data,
               const RunShape &shape, const uint64_t *seed, uint64_t firstStep);

  /// The next batch, which may be used until the next call; fails as gathering
  /// it did. Adds the seconds waited to `*waited`.
  Status next(const Batch **out, double *waited);

private:
  static constexpr int numSlots = 2;
  struct Slot {
    Batch batch;
    Status status;
    bool ready = false;
  };

  static void *threadMain(void *self);
  void run();
  /// Whether slot `index` became free, rather than the end of all.
  bool waitForRoom(int index);
  Status fill(uint64_t step, uint64_t index, Batch *out);

  const DataSet *data = nullptr;
  RunShape shape;
  uint64_t seed = 0;
  bool shuffled = false;
  uint64_t firstStep = 0;
  Bytes order;
  uint64_t orderEpoch = UINT64_MAX;

  pthread_t thread = {};
  bool running = false;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  bool stopping = false; // under the mutex, as `ready` of the slots
  Slot slots[numSlots];
  int current = -1; // the slot in use
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_PREFETCH_H
