//===- checkpoint_format.h - What writer and reader agree on --------------===//
#ifndef AMPC_RUNTIME_TRAINING_CHECKPOINT_FORMAT_H
#define AMPC_RUNTIME_TRAINING_CHECKPOINT_FORMAT_H

#include "runtime/core/dtype.h"
#include "runtime/training/options.h"

namespace ampc::runtime {

inline constexpr const char *checkpointKey = "ampc.checkpoint";
inline constexpr const char *checkpointVersion = "1";
inline constexpr const char *checksumTensor = "ampc.checksums";

/// Whether a checkpoint holds the state.
inline bool isKept(const ampc_state_desc &state) {
  return state.role != AMPC_STATE_TRANSIENT;
}

const char *lastBatchName(LastBatch kind);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_CHECKPOINT_FORMAT_H
