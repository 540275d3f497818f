//===- diagnose.h - Where numbers stop being finite -----------------------===//
#ifndef AMPC_RUNTIME_TRAINING_DIAGNOSE_H
#define AMPC_RUNTIME_TRAINING_DIAGNOSE_H

#include "runtime/training/data_set.h"
#include "runtime/training/sampler.h"

namespace ampc::runtime {

/// The update to look at: its batches, and its numbers.
struct SuspectUpdate {
  const RunShape *shape;
  uint64_t seed;
  uint64_t step;
  /// The inputs of `apply`, to look there too; null: not.
  const void *const *numbers;
};

struct Finding {
  bool isInData = false; // rather than made by the program
  Str text;              // a clause: "input 'x' of sample 3 is not finite"
};

/// Looks for the first value of an update that is not finite: in its data, in
/// the parameters as they are now, and in what its nodes write, which is found
/// by running them again. With `restore` all states are as before afterwards.
Status diagnose(ampc_session session, const Trainer &trainer,
                const DataSet &data, const SuspectUpdate &suspect, bool restore,
                Finding *out);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_DIAGNOSE_H
