//===- training_run.cpp - Training a program ------------------------------===//
#include "runtime/training/training_run.h"

#include "runtime/training/clock.h"
#include "runtime/training/signals.h"

namespace ampc::runtime {

uint64_t TrainingRun::takenBefore(uint64_t step) const {
  // Of the update directly before, nothing is known, also where it happens to
  // be finished, so that it does not matter when there was a checkpoint.
  return step - (pending.any ? skippedLast : progress.skippedBefore);
}

/// Starts the micro-steps of an update and the update itself.
Status TrainingRun::submit(uint64_t step, Prefetch *from, StepRecord *record) {
  const uint32_t stepEntry = trainer.step().index;
  const uint32_t applyEntry = trainer.apply().index;
  const uint32_t both[] = {stepEntry, applyEntry};
  uint64_t count = identity.shape.batchesOf(step);
  record->hasStats = options.gradStats && (step + 1) % options.gradStats == 0;
  for (uint64_t i = 0; i < count; ++i) {
    const Batch *batch;
    AMPC_TRY(from->next(&batch, &record->dataSeconds));
    record->samples += static_cast<uint64_t>(batch->samples);
    // The last of them and the update are one unit.
    bool joined = i + 1 == count && !record->hasStats;
    Vec<const void *> inputs;
    for (uint32_t k = 0; k < trainer.step().numInputs; ++k) {
      inputs.push(batch->inputs()[k]);
    }
    for (size_t k = 0; joined && k < numbers.size(); ++k) {
      inputs.push(numbers.pointers()[k]);
    }
    AMPC_TRY(Status(
        ampc_session_submit(session, both, joined ? 2 : 1, inputs.data())));
  }
  if (record->hasStats) {
    AMPC_TRY(readGradientStats(session, trainer, &record->stats));
    AMPC_TRY(Status(
        ampc_session_submit(session, &applyEntry, 1, numbers.pointers())));
  }
  return Status();
}

Status TrainingRun::update(uint64_t step) {
  const RunShape &shape = identity.shape;
  Pending mine;
  mine.any = true;
  mine.record.step = step + 1;
  mine.record.steps = shape.steps;
  mine.record.epoch = shape.epochOf(step) + 1;
  mine.record.learningRate = rate.at(takenBefore(step));
  numbers.setLearningRate(mine.record.learningRate);
  AMPC_TRY(submit(step, &prefetch, &mine.record));
  AMPC_TRY(Status(ampc_session_fetch_control(session, &mine.ticket)));
  mine.fetched = secondsNow();
  AMPC_TRY(finish());
  pending = std::move(mine);
  return Status();
}

Status TrainingRun::finish() {
  if (!pending.any) {
    return Status();
  }
  pending.any = false;
  StepRecord &record = pending.record;
  const void *control;
  double asked = secondsNow();
  AMPC_TRY(
      Status(ampc_session_wait_control(session, pending.ticket, &control)));
  record.report = trainer.readReport(control);
  // What need not be waited for was done when the copy began, on a CPU always.
  constexpr double noWait = 50e-6;
  double done = secondsNow();
  done = done - asked > noWait ? done : pending.fetched;
  record.seconds = done - std::exchange(lastTime, done);

  const UpdateReport &report = record.report;
  progress.step = record.step;
  progress.skippedBefore =
      std::exchange(skippedLast, static_cast<uint64_t>(report.skipped));
  bool finite = report.loss - report.loss == 0;
  if (finite || !report.foundInf) {
    progress.lossSum += report.loss * report.weight;
    progress.weightSum += report.weight;
    progress.correctSum += report.correct * report.count;
    progress.countSum += report.count;
  }
  AMPC_TRY(journal.step(record));
  return judge(record);
}

Status TrainingRun::judge(const StepRecord &record) {
  Verdict verdict;
  AMPC_TRY(watch.observe(record, &journal, &verdict));
  switch (verdict) {
  case Verdict::GoOn:
    return Status();
  case Verdict::Explain:
    AMPC_TRY(explain(record));
    lastTime = secondsNow();
    return Status();
  case Verdict::Stop:
    return stop(record);
  }
  return Status();
}

Status TrainingRun::endEpoch(uint64_t step, bool *outInterrupted) {
  Evaluation evaluation;
  if (options.evalData) {
    AMPC_TRY(evaluate(session, trainer, evalData, &evaluation, outInterrupted));
    if (*outInterrupted) {
      return Status();
    }
  }
  const RunShape &shape = identity.shape;
  EpochRecord record;
  record.epoch = shape.epochOf(step - 1) + 1;
  record.epochs = shape.epochs();
  record.step = step;
  record.loss = progress.lossSum / progress.weightSum;
  record.accuracy = progress.correctSum / progress.countSum;
  record.evaluation = options.evalData ? &evaluation : nullptr;
  double now = secondsNow();
  record.seconds = now - std::exchange(epochStart, now);
  progress.epochOpen = false;
  savedStep = UINT64_MAX; // a checkpoint of this step says otherwise
  progress.lossSum = progress.weightSum = 0;
  progress.correctSum = progress.countSum = 0;
  return journal.epoch(record);
}

Status TrainingRun::saveCheckpoint(uint64_t step) {
  if (!options.checkpointDir || savedStep == step) {
    return Status();
  }
  double start = secondsNow();
  CheckpointInfo info;
  info.progress = progress;
  info.identity = identity;
  info.schedule = scheduleText();
  AMPC_TRY(folder.add(session, info, options.keep));
  savedStep = step;
  return journal.checkpoint(step, folder.pathOf(step).c_str(),
                            secondsNow() - start);
}

Status TrainingRun::train(int *outSignal) {
  const RunShape &shape = identity.shape;
  const uint64_t perEpoch = shape.stepsPerEpoch();
  const uint64_t every =
      options.checkpointEvery ? options.checkpointEvery : perEpoch;
  AMPC_TRY(prefetch.start(trainer, data, shape, &identity.seed, progress.step));
  lastTime = epochStart = secondsNow();
  for (uint64_t step = progress.step; step <= shape.steps; ++step) {
    // Here `step` updates are made or under way.
    bool isEnd = step == shape.steps, interrupted = false;
    int signal = EndRequest::signal();
    bool epochEnds = progress.epochOpen && (isEnd || step % perEpoch == 0);
    bool saves = step % every == 0 && step != 0;
    if (isEnd || signal || epochEnds || saves) {
      AMPC_TRY(finish());
      if (epochEnds) {
        AMPC_TRY(endEpoch(step, &interrupted));
        signal = EndRequest::signal();
      }
      if (step && (isEnd || signal || saves)) {
        AMPC_TRY(saveCheckpoint(step));
      }
      lastTime = secondsNow();
    }
    if (signal && (!isEnd || interrupted)) {
      *outSignal = signal;
      return Status();
    }
    if (isEnd) {
      return Status();
    }
    progress.epochOpen = true;
    AMPC_TRY(update(step));
  }
  return Status();
}

Status TrainingRun::run(ampc_session chosen, int *outSignal) {
  session = chosen;
  EndRequest request;
  AMPC_TRY(initialize());
  AMPC_TRY(tellConfig());
  Status status;
  if (progress.step >= identity.shape.steps && !progress.epochOpen) {
    note("the run is complete; there is nothing left to train", quiet);
  } else {
    status = train(outSignal);
  }
  if (status.ok() && !*outSignal && options.exportOnnx) {
    status = exported.write(session);
  }
  const char *reason = diverged          ? "diverged"
                       : !status.ok()    ? "error"
                       : *outSignal != 0 ? "signal"
                                         : "done";
  Status told = journal.end(progress.step, reason);
  return status.ok() ? std::move(told) : std::move(status);
}

} // namespace ampc::runtime
