//===- checkpoint_folder.h - Generations of checkpoints -------------------===//
#ifndef AMPC_RUNTIME_TRAINING_CHECKPOINT_FOLDER_H
#define AMPC_RUNTIME_TRAINING_CHECKPOINT_FOLDER_H

#include "runtime/training/checkpoint.h"

namespace ampc::runtime {

/// A folder with files step-00000120.safetensors, of which the newest are kept.
class CheckpointFolder {
public:
  CheckpointFolder() = default;
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;
  ~CheckpointFolder();

  /// Makes the folder if it is not there, takes it for this process, and
  /// removes what an ended process did not finish. AMPC_IO if another process
  /// has it.
  Status open(const char *path);
  /// Steps of which there are checkpoints, in rising order.
  Status list(Vec<uint64_t> *outSteps) const;
  /// Opens the newest valid checkpoint; a remark on each damaged one goes to
  /// `*outNotes`. `*outFound` is false if there are none at all.
  /// AMPC_CHECKPOINT if none is valid, or one is of another program.
  Status openNewest(const ampc_program &program, Checkpoint *out,
                    bool *outFound, Str *outNotes) const;
  /// Writes a checkpoint and removes all but the newest `keep` of those up to
  /// its step.
  Status add(ampc_session session, const CheckpointInfo &info, uint64_t keep);

  Str pathOf(uint64_t step) const;

private:
  Status removeUnfinished() const;

  Str folder;
  int lock = -1;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_CHECKPOINT_FOLDER_H
