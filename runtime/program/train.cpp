//===- train.cpp - The commands train and eval ----------------------------===//
#include "runtime/program/command_line.h"
#include "runtime/program/option_table.h"
#include "runtime/program/update_work.h"
#include "runtime/training/clock.h"
#include "runtime/training/commands.h"
#include "runtime/training/training_run.h"

#include <stdio.h>

namespace ampc::runtime {

/// Launchers start one process a rank; each on its own would train another
/// model.
static Status checkRanks() {
  for (const char *name : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char *size = getenv(name);
    if (size && strtol(size, nullptr, 10) > 1) {
      return Status::error(AMPC_UNSUPPORTED,
                           "unsupported training on several ranks (%s=%s)",
                           name, size);
    }
  }
  return Status();
}

static Status trainCommand(const ampc_program &program, const Options &options,
                           int *outSignal) {
  AMPC_TRY(checkRanks());
  Trainer trainer;
  AMPC_TRY(trainer.open(program));
  TrainingRun run(trainer, options.train, options.data, options.quiet);
  AMPC_TRY(run.prepare());
  SessionHolder holder;
  AMPC_TRY(openSession(program, options, &holder));
  return run.run(holder.session, outSignal);
}

static Status evalCommand(const ampc_program &program, const Options &options) {
  Trainer trainer;
  AMPC_TRY(trainer.open(program));
  if (!options.data) {
    return Status::error(AMPC_USAGE, "expected --data");
  }
  if (options.train.accuracy && !trainer.hasAccuracy()) {
    return Status::error(AMPC_USAGE, "option '--metric': the program's loss "
                                     "defines no accuracy");
  }
  DataSet data;
  Str notes;
  AMPC_TRY(data.open(trainer, options.data, largestArrayInMemory, &notes)
               .withPrefix("--data"));
  if (!canPad(trainer) &&
      data.rows() % static_cast<uint64_t>(trainer.batch())) {
    notes.append("the last samples, fewer than a batch, are left out\n");
  }
  note(notes.c_str(), options.quiet);
  SessionHolder holder;
  AMPC_TRY(openSession(program, options, &holder));
  double start = secondsNow();
  Evaluation result;
  bool interrupted;
  AMPC_TRY(evaluate(holder.session, trainer, data, &result, &interrupted));
  printf("loss %.6g", result.meanLoss());
  if (trainer.hasAccuracy()) {
    printf(" | accuracy %.6g", result.accuracy());
  }
  printf(" | samples %llu | %.1f s\n",
         static_cast<unsigned long long>(result.samples), secondsNow() - start);
  return Status();
}

static Status loadCheckpoint(const char *path, ampc_session session) {
  Checkpoint checkpoint;
  bool foreign;
  AMPC_TRY(checkpoint.open(*ampc_session_program(session), path, &foreign));
  return checkpoint.load(session);
}

static Status openUpdates(ampc_session session, const Options &options,
                          UpdateWork *out) {
  AMPC_TRY(out->open(*ampc_session_program(session), options));
  // A checkpoint has its own.
  return options.checkpoint ? Status() : out->begin(session, options.train);
}

} // namespace ampc::runtime

using namespace ampc::runtime;

const ampc_training_commands ampc_training = {
    &trainingOptions, trainCommand, evalCommand, loadCheckpoint, openUpdates};
