//===- training_run.h - Training a program --------------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_TRAINING_RUN_H
#define AMPC_RUNTIME_TRAINING_TRAINING_RUN_H

#include "runtime/training/apply_inputs.h"
#include "runtime/training/checkpoint_folder.h"
#include "runtime/training/evaluate.h"
#include "runtime/training/export_model.h"
#include "runtime/training/prefetch.h"
#include "runtime/training/schedule.h"
#include "runtime/training/watch.h"

namespace ampc::runtime {

/// Trains the program of a session as options say. What the updates found is
/// read one update late, so that a device never waits for the host.
///
/// The learning rate of an update follows the updates that were taken before,
/// where the one directly before, of which nothing is known yet, counts as
/// taken. A run that goes on from a checkpoint makes the same updates, to the
/// bit, as one that was never ended.
class TrainingRun {
public:
  TrainingRun(const Trainer &trainer, const TrainOptions &options,
              const char *data, bool quiet);

  /// Checks options and data, and opens the files to write: what needs no
  /// session. Before run.
  Status prepare();
  /// `*outSignal`: what ended the run early, or 0. AMPC_INVALID if the data,
  /// AMPC_COMPARISON_FAILED if the program gives no finite numbers for long.
  Status run(ampc_session session, int *outSignal);

private:
  /// An update under way.
  struct Pending {
    bool any = false;
    double fetched = 0; // when the copy of its numbers began
    uint64_t ticket = 0;
    StepRecord record;
  };

  // Setting up, in training_setup.cpp.
  Status checkOptions();
  Status openData();
  Status openFolder();
  Status resume();
  Status checkIdentity(const CheckpointInfo &saved);
  Status begin();
  Status initialize();
  Str scheduleText() const;
  Status tellConfig();

  Status train(int *outSignal);
  Status update(uint64_t step);
  Status submit(uint64_t step, Prefetch *from, StepRecord *record);
  /// Waits for the update under way and tells what it found.
  Status finish();
  Status judge(const StepRecord &record);
  // Finding out why, in training_replay.cpp.
  Status explain(const StepRecord &record);
  Status stop(const StepRecord &record);
  Status resetStates(bool *outDone);
  Status replay(uint64_t step);
  Status endEpoch(uint64_t step, bool *outInterrupted);
  Status saveCheckpoint(uint64_t step);
  uint64_t takenBefore(uint64_t step) const;

  ampc_session session = nullptr;
  const Trainer &trainer;
  const TrainOptions &options;
  const char *dataText;
  bool quiet;

  Journal journal;
  DataSet data, evalData;
  CheckpointFolder folder;
  ModelExport exported;
  ScalerKind scaler;
  Watch watch;
  ApplyInputs numbers;
  LearningRate rate;
  RunIdentity identity;
  Prefetch prefetch; // ends before what it reads

  uint64_t startStep = 0;   // updates made by processes before
  Progress progress;        // up to the last finished update
  uint64_t skippedLast = 0; // updates skipped, the last finished included
  uint64_t savedStep = UINT64_MAX;
  bool diverged = false;
  Pending pending;
  double lastTime = 0; // when the update before was finished
  double epochStart = 0;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_TRAINING_RUN_H
