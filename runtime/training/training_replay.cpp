//===- training_replay.cpp - Why a run gives no finite numbers ------------===//
#include "runtime/training/diagnose.h"
#include "runtime/training/training_run.h"

namespace ampc::runtime {
namespace {

/// Updates that are made again at most to find where a run went wrong.
constexpr uint64_t mostReplayed = 10000;

} // namespace

/// A hint on the first loss that is not finite; the run goes on.
Status TrainingRun::explain(const StepRecord &record) {
  SuspectUpdate suspect = {&identity.shape, identity.seed, record.step - 1,
                           nullptr};
  Finding finding;
  AMPC_TRY(
      diagnose(session, trainer, data, suspect, /*restore=*/true, &finding));
  Str text;
  text.appendf("the loss of update %llu is not finite: %s",
               static_cast<unsigned long long>(record.step),
               finding.text.c_str());
  return journal.hint("nonfinite-loss", record.step, text.c_str());
}

/// The error that ends a run. The states are of no more use.
Status TrainingRun::stop(const StepRecord &record) {
  diverged = true;
  uint64_t suspected = record.step;
  if (scaler == ScalerKind::Off) {
    // Nothing was skipped: the parameters are spoilt by the first such update,
    // and what it did is to be seen with those before it.
    suspected = watch.firstLost(record.step);
    AMPC_TRY(replay(suspected - 1));
  }
  SuspectUpdate suspect = {&identity.shape, identity.seed, suspected - 1,
                           numbers.pointers()};
  Finding finding;
  AMPC_TRY(
      diagnose(session, trainer, data, suspect, /*restore=*/false, &finding));
  return Status::error(
      finding.isInData ? AMPC_INVALID : AMPC_COMPARISON_FAILED,
      "%s, up to update %llu; in update %llu, %s", watch.reason().c_str(),
      static_cast<unsigned long long>(record.step),
      static_cast<unsigned long long>(suspected), finding.text.c_str());
}

/// Gives all states their first values, unless those lie in a file.
Status TrainingRun::resetStates(bool *outDone) {
  const ampc_program &program = trainer.program();
  auto *weights = static_cast<const uint8_t *>(program.weights);
  *outDone = weights != nullptr;
  for (uint32_t i = 0; weights && i < program.num_states; ++i) {
    const ampc_state_desc &state = program.states[i];
    Bytes zeros;
    const uint8_t *first = weights + state.initial;
    if (state.initial == AMPC_NO_INITIAL) {
      AMPC_TRY(zeros.allocate(state.tensor.bytes));
      memset(zeros.data(), 0, state.tensor.bytes);
      first = zeros.data();
    }
    AMPC_TRY(Status(ampc_session_write_state(session, i, first)));
  }
  return *outDone ? begin() : Status();
}

/// Makes the updates before `step` again, which gives the same bytes: from the
/// newest checkpoint before it or, without one, from the start. Leaves the
/// states as they are where neither is near enough. Only without loss scaling.
Status TrainingRun::replay(uint64_t step) {
  Vec<uint64_t> saved;
  uint64_t from = 0;
  Checkpoint checkpoint;
  bool found = false, foreign;
  if (options.checkpointDir) {
    AMPC_TRY(folder.list(&saved));
  }
  for (size_t i = saved.size(); i-- > 0 && !found;) {
    found =
        saved[i] <= step &&
        checkpoint
            .open(trainer.program(), folder.pathOf(saved[i]).c_str(), &foreign)
            .ok();
    from = found ? saved[i] : 0;
  }
  bool isBegin = !found && startStep == 0;
  if (!(found || isBegin) || step - from > mostReplayed) {
    return Status();
  }
  bool ready = true;
  AMPC_TRY(found ? checkpoint.load(session) : resetStates(&ready));
  if (!ready) {
    return Status();
  }
  Prefetch again;
  AMPC_TRY(again.start(trainer, data, identity.shape, &identity.seed, from));
  for (uint64_t i = from; i < step; ++i) {
    StepRecord ignored;
    numbers.setLearningRate(rate.at(i));
    AMPC_TRY(submit(i, &again, &ignored));
  }
  return Status();
}

} // namespace ampc::runtime
