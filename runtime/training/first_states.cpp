//===- first_states.cpp - What a new run begins with ----------------------===//
#include "runtime/training/first_states.h"

namespace ampc::runtime {

ScalerKind resolveScaler(const Trainer &trainer, const TrainOptions &options) {
  if (options.scaler != ScalerKind::Auto) {
    return options.scaler;
  }
  return trainer.facts().computesF16Gradients ? ScalerKind::Dynamic
                                              : ScalerKind::Off;
}

static Status writeState(ampc_session session, const Trainer &trainer,
                         const char *name, const void *from, uint64_t bytes) {
  int64_t index = trainer.findState(name);
  if (index < 0 || trainer.program().states[index].tensor.bytes != bytes) {
    return Status();
  }
  return Status(
      ampc_session_write_state(session, static_cast<uint32_t>(index), from));
}

Status writeFirstStates(ampc_session session, const Trainer &trainer,
                        const TrainOptions &options, ScalerKind scaler,
                        uint64_t seed) {
  float scale = scaler == ScalerKind::Off
                    ? 1
                    : static_cast<float>(options.initScale.value);
  AMPC_TRY(writeState(session, trainer, "train.scale", &scale, sizeof scale));
  return writeState(session, trainer, "train.seed", &seed, sizeof seed);
}

} // namespace ampc::runtime
