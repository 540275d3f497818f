//===- training_setup.cpp - What comes before the first update ------------===//
#include "runtime/io/json.h"
#include "runtime/training/checkpoint_format.h"
#include "runtime/training/clock.h"
#include "runtime/training/first_states.h"
#include "runtime/training/training_run.h"

namespace ampc::runtime {
namespace {

Status usage(const char *text) { return Status::error(AMPC_USAGE, "%s", text); }

} // namespace

TrainingRun::TrainingRun(const Trainer &trainer, const TrainOptions &options,
                         const char *data, bool quiet)
    : trainer(trainer), options(options), dataText(data), quiet(quiet),
      scaler(resolveScaler(trainer, options)),
      watch(scaler, options.scaleFloor.value) {}

Status TrainingRun::checkOptions() {
  if (!dataText) {
    return usage("expected --data");
  }
  if (!options.learningRate.given &&
      !trainer.facts().findDefault("learning_rate")) {
    return usage("expected --lr");
  }
  if (!options.epochs && !options.steps) {
    return usage("expected --epochs or --steps");
  }
  if (options.clipNorm.value != 0 && options.clipValue.value != 0) {
    return usage("expected either --clip-norm or --clip-value");
  }
  if (options.initScale.value < options.scaleFloor.value) {
    return usage("expected an --init-scale of at least --scale-floor");
  }
  bool needsFolder = options.resume || options.checkpointEvery;
  if (needsFolder && !options.checkpointDir) {
    return usage(options.resume ? "expected --checkpoint-dir beside --resume"
                                : "expected --checkpoint-dir beside "
                                  "--checkpoint-every");
  }
  if (options.model && !options.exportOnnx) {
    return usage("expected --export-onnx beside --model");
  }
  if (options.accuracy && !trainer.hasAccuracy()) {
    return usage("option '--metric': the program's loss defines no accuracy");
  }
  if (options.gradStats && !trainer.gradStats()) {
    return usage("option '--grad-stats': the program has no entry "
                 "'grad_stats'");
  }
  if (options.lastBatch == LastBatch::Pad && !canPad(trainer)) {
    return usage("option '--last-batch': the program takes full batches only; "
                 "use drop");
  }
  if (options.lastBatch == LastBatch::Pad && trainer.hasStatistics()) {
    return usage("option '--last-batch': samples that fill a batch up would "
                 "count in the program's running statistics; use drop");
  }
  return options.gradStats ? checkGradientStats(trainer) : Status();
}

Status TrainingRun::openData() {
  Str notes;
  AMPC_TRY(data.open(trainer, dataText, largestArrayInMemory, &notes)
               .withPrefix("--data"));
  identity.seed = options.seed;
  RunShape &shape = identity.shape;
  shape.rows = data.rows();
  shape.batch = static_cast<uint64_t>(trainer.batch());
  shape.accumulate = options.accumulate;
  shape.lastBatch = options.lastBatch;
  AMPC_TRY(planRun(options.epochs, options.steps, &shape).withPrefix("--data"));
  if (options.evalData) {
    AMPC_TRY(
        evalData.open(trainer, options.evalData, largestArrayInMemory, &notes)
            .withPrefix("--eval-data"));
    if (!canPad(trainer) && evalData.rows() % shape.batch) {
      notes.append("the last samples of --eval-data, fewer than a batch, are "
                   "left out\n");
    }
  }
  note(notes.c_str(), quiet);
  return Status();
}

Str TrainingRun::scheduleText() const {
  Str text;
  text.appendf("%s of %.9g, %llu steps of warm-up, %llu in all",
               scheduleName(rate.kind), rate.base,
               static_cast<unsigned long long>(rate.warmup),
               static_cast<unsigned long long>(rate.total));
  return text;
}

/// Other data, or another order of it, would not be the same run.
Status TrainingRun::checkIdentity(const CheckpointInfo &saved) {
  struct Row {
    const char *what;
    uint64_t saved, now;
  };
  const RunShape &before = saved.identity.shape, &now = identity.shape;
  const Row rows[] = {
      {"--seed", saved.identity.seed, identity.seed},
      {"--accumulate", before.accumulate, now.accumulate},
      {"samples in the data", before.rows, now.rows},
      {"samples in a batch", before.batch, now.batch},
      {"--last-batch=pad", before.lastBatch == LastBatch::Pad,
       now.lastBatch == LastBatch::Pad},
  };
  for (const Row &row : rows) {
    if (row.saved != row.now) {
      return Status::error(AMPC_USAGE,
                           "the checkpoint is of a run with another order of "
                           "samples: %s was %llu and is %llu",
                           row.what, static_cast<unsigned long long>(row.saved),
                           static_cast<unsigned long long>(row.now));
    }
  }
  return Status();
}

Status TrainingRun::resume() {
  Checkpoint checkpoint;
  bool found;
  Str notes;
  Status status =
      folder.openNewest(trainer.program(), &checkpoint, &found, &notes);
  note(notes.c_str(), quiet);
  AMPC_TRY(std::move(status));
  if (!found) {
    return begin();
  }
  const CheckpointInfo &info = checkpoint.info();
  if (!options.seedGiven) {
    identity.seed = info.identity.seed;
  }
  AMPC_TRY(checkIdentity(info));
  Str schedule = scheduleText();
  if (!info.schedule.equals(schedule.c_str())) {
    Str text;
    text.appendf("the schedule was %s, and is %s", info.schedule.c_str(),
                 schedule.c_str());
    note(text.c_str(), quiet);
  }
  AMPC_TRY(checkpoint.load(session));
  progress = info.progress;
  startStep = progress.step;
  savedStep = progress.step;
  uint64_t ticket;
  const void *control;
  AMPC_TRY(Status(ampc_session_fetch_control(session, &ticket)));
  AMPC_TRY(Status(ampc_session_wait_control(session, ticket, &control)));
  skippedLast = static_cast<uint64_t>(trainer.readReport(control).skipped);
  return Status();
}

/// The states of a new run.
Status TrainingRun::begin() {
  return writeFirstStates(session, trainer, options, scaler, identity.seed);
}

Status TrainingRun::openFolder() {
  AMPC_TRY(folder.open(options.checkpointDir));
  Vec<uint64_t> steps;
  AMPC_TRY(folder.list(&steps));
  if (!options.resume && !steps.empty()) {
    return Status::error(AMPC_USAGE,
                         "%s: the folder holds checkpoints of another run; "
                         "give --resume, or another folder",
                         options.checkpointDir);
  }
  return Status();
}

Status TrainingRun::prepare() {
  AMPC_TRY(checkOptions());
  AMPC_TRY(numbers.open(trainer, options, scaler));
  AMPC_TRY(openData());
  rate = {options.schedule,
          chooseNumber(trainer, options.learningRate, "learning_rate"),
          options.warmupSteps, identity.shape.steps};
  if (options.exportOnnx) {
    AMPC_TRY(exported.open(trainer, options.model, options.exportOnnx));
  }
  if (options.checkpointDir) {
    AMPC_TRY(openFolder());
  }
  return journal.open(options, quiet, trainer.hasAccuracy());
}

/// Gives the states what they begin with.
Status TrainingRun::initialize() { return options.resume ? resume() : begin(); }

Status TrainingRun::tellConfig() {
  constexpr const char *scalers[] = {"off", "static", "dynamic"};
  const RunShape &shape = identity.shape;
  Str text;
  auto addText = [&](const char *key, const char *value) {
    text.appendf(", \"%s\": ", key);
    appendJsonString(&text, value);
  };
  auto add = [&](const char *key, uint64_t value) {
    text.appendf(", \"%s\": %llu", key, static_cast<unsigned long long>(value));
  };
  const ampc_program &program = trainer.program();
  addText("program", program.name ? program.name : "");
  addText("producer", program.producer ? program.producer : "");
  addText("data", dataText);
  add("samples", shape.rows);
  add("batch", shape.batch);
  add("accumulate", shape.accumulate);
  addText("last_batch", lastBatchName(shape.lastBatch));
  add("epochs", shape.epochs());
  add("steps", shape.steps);
  add("first_step", progress.step + 1);
  add("seed", identity.seed);
  addText("schedule", scheduleName(rate.kind));
  add("warmup_steps", rate.warmup);
  addText("loss_scaling", scalers[static_cast<int>(scaler)]);
  numbers.describe(trainer, &text);
  return journal.config(text);
}

} // namespace ampc::runtime
