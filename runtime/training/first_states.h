//===- first_states.h - What a new run begins with
//--------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_FIRST_STATES_H
#define AMPC_RUNTIME_TRAINING_FIRST_STATES_H

#include "runtime/training/options.h"
#include "runtime/training/trainer.h"

namespace ampc::runtime {

/// Auto is dynamic where the program computes gradients in f16, else off.
ScalerKind resolveScaler(const Trainer &trainer, const TrainOptions &options);

/// Writes the states that do not begin as they are in the program: the loss
/// scale, and the seed of random numbers. `scaler` is not Auto.
Status writeFirstStates(ampc_session session, const Trainer &trainer,
                        const TrainOptions &options, ScalerKind scaler,
                        uint64_t seed);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_FIRST_STATES_H
