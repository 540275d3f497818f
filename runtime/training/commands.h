//===- commands.h - What only trainers are linked with --------------------===//
#ifndef AMPC_RUNTIME_TRAINING_COMMANDS_H
#define AMPC_RUNTIME_TRAINING_COMMANDS_H

#include "ampc/runtime.h"
#include "runtime/core/status.h"

namespace ampc::runtime {
struct Options;
struct OptionTable;
class UpdateWork;
} // namespace ampc::runtime

/// The command line reaches training through the program's pointer to this and
/// in no other way, so that programs for inference do without its code.
struct ampc_training_commands {
  /// The options that only trainers have.
  const ampc::runtime::OptionTable *options;
  /// `*outSignal` is the signal that ended the training early, or 0.
  ampc::runtime::Status (*train)(const ampc_program &program,
                                 const ampc::runtime::Options &options,
                                 int *outSignal);
  ampc::runtime::Status (*eval)(const ampc_program &program,
                                const ampc::runtime::Options &options);
  /// Checks a checkpoint and gives its states to a session of the program.
  ampc::runtime::Status (*loadCheckpoint)(const char *path,
                                          ampc_session session);
  /// Prepares updates of a session on one batch, to be measured.
  ampc::runtime::Status (*openUpdates)(ampc_session session,
                                       const ampc::runtime::Options &options,
                                       ampc::runtime::UpdateWork *outWork);
};

#endif // AMPC_RUNTIME_TRAINING_COMMANDS_H
