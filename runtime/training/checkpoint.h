//===- checkpoint.h - The state of a trainer in a file --------------------===//
//
// A .safetensors file with all states but the transient ones, texts about the
// run in `__metadata__`, and a last tensor `ampc.checksums` (U32): the CRC-32C
// of the file's bytes before the first tensor, one of each tensor, and one of
// the words before it. So every bit of the file is covered.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_CHECKPOINT_H
#define AMPC_RUNTIME_TRAINING_CHECKPOINT_H

#include "runtime/io/safetensors.h"
#include "runtime/training/sampler.h"

namespace ampc::runtime {

/// A hash of names, types, shapes and roles of the states that a checkpoint
/// holds: programs of equal fingerprints can take each other's.
Str stateFingerprint(const ampc_program &program);

/// Where a run stands, beyond the states of the program.
struct Progress {
  uint64_t step = 0;          // updates made, skipped ones included
  uint64_t skippedBefore = 0; // of the updates but the last
  bool epochOpen = false;     // its line is not written yet
  // Sums over the batches of the epoch so far.
  double lossSum = 0;
  double weightSum = 0;
  double correctSum = 0;
  double countSum = 0;
};

/// What a run cannot change and go on.
struct RunIdentity {
  uint64_t seed = 0;
  RunShape shape; // but for `steps`
};

struct CheckpointInfo {
  Progress progress;
  RunIdentity identity;
  Str schedule; // as text, to compare
};

/// Writes a checkpoint under a temporary name, syncs and renames it. The
/// session has no work under way.
Status writeCheckpoint(ampc_session session, const char *path,
                       const CheckpointInfo &info);

/// A checkpoint that is whole: every checksum is right, and the states are
/// those of the program.
class Checkpoint {
public:
  /// AMPC_CHECKPOINT if the file is no valid checkpoint of this program;
  /// `*outForeign` then says whether it is a valid one of another. AMPC_IO if
  /// it cannot be read.
  Status open(const ampc_program &program, const char *path, bool *outForeign);
  const CheckpointInfo &info() const { return found; }
  /// Gives the states to a session.
  Status load(ampc_session session) const;

private:
  Status check(const ampc_program &program, bool *outForeign);
  Status verify() const;
  Status readInfo();

  FileReader file;
  SafetensorsHeader header;
  Vec<size_t> entryOfState; // SIZE_MAX for one that is not kept
  CheckpointInfo found;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_CHECKPOINT_H
