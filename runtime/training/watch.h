//===- watch.h - What a user should know of a run -------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_WATCH_H
#define AMPC_RUNTIME_TRAINING_WATCH_H

#include "runtime/training/journal.h"

namespace ampc::runtime {

/// What follows from an update.
enum class Verdict {
  GoOn,
  Explain, // the first loss that is not finite
  Stop     // nothing but such losses or norms for long
};

/// Looks at each update in turn and gives each hint at most once.
class Watch {
public:
  /// Updates in a row without a finite result that end a run.
  static constexpr uint64_t patience = 20;

  Watch(ScalerKind scaler, double scaleFloor)
      : scaler(scaler), scaleFloor(static_cast<float>(scaleFloor)) {}

  Status observe(const StepRecord &record, Journal *journal, Verdict *out);

  /// Why the verdict is Stop: a clause.
  Str reason() const;
  /// Without loss scaling, the first of the updates that made it Stop.
  uint64_t firstLost(uint64_t lastStep) const {
    uint64_t streak = lossStreak > normStreak ? lossStreak : normStreak;
    return lastStep - streak + 1;
  }

private:
  /// Kinds of hints that are given at most once.
  enum Kind { overflow, zeroGradients, growth, dataWait, numKinds };
  Status hint(Kind kind, uint64_t step, const Str &text, Journal *journal);
  Status overflowed(const StepRecord &record, Journal *journal);
  Status lostGradients(const StepRecord &record, Journal *journal);
  Status grewTooFar(const StepRecord &record, Journal *journal);
  Status waited(const StepRecord &record, Journal *journal);

  ScalerKind scaler;
  float scaleFloor;
  bool given[numKinds] = {};
  bool explained = false;
  uint64_t lossStreak = 0;  // updates in a row with a loss that is not finite
  uint64_t floorStreak = 0; // updates in a row skipped for good
  uint64_t normStreak = 0;  // updates in a row with such a norm, not skipped
  double lastScale = 0;     // of the update before
  uint64_t failedGrowths = 0;
  uint64_t steps = 0;
  double seconds = 0;
  double dataSeconds = 0;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_WATCH_H
