//===- options.h - How a training run goes --------------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_OPTIONS_H
#define AMPC_RUNTIME_TRAINING_OPTIONS_H

#include "runtime/core/support.h"

namespace ampc::runtime {

enum class ScheduleKind { Constant, Linear, Cosine };

/// What keeps gradients in range. The numbers are those of the program's input
/// `scaler`; Auto is replaced by one of the others before it is written there.
enum class ScalerKind { Off = 0, Static = 1, Dynamic = 2, Auto = 3 };

enum class LastBatch { Drop, Pad };

/// A number with a default that the user may have replaced.
struct Setting {
  double value = 0;
  bool given = false;
};

struct TrainOptions {
  const char *evalData = nullptr;
  uint64_t epochs = 0;  // 0: as many as `steps` need
  uint64_t steps = 0;   // updates; 0: as many as `epochs` hold
  Setting learningRate; // must be given, unless the program has its own
  uint64_t accumulate = 1;
  uint64_t seed = 0;
  bool seedGiven = false;
  LastBatch lastBatch = LastBatch::Drop;

  ScheduleKind schedule = ScheduleKind::Constant;
  uint64_t warmupSteps = 0;

  // Of the optimizer; a program takes those that its optimizer has.
  Setting momentum = {0.9, false};
  Setting beta1 = {0.9, false};
  Setting beta2 = {0.999, false};
  Setting epsilon = {1e-8, false};
  Setting weightDecay;
  Setting rateDecay;
  Setting clipNorm;  // 0: none
  Setting clipValue; // 0: none

  ScalerKind scaler = ScalerKind::Auto;
  Setting initScale = {65536, false};
  Setting growthFactor = {2, false};
  Setting backoffFactor = {0.5, false};
  Setting scaleFloor = {0x1p-24, false};
  uint64_t growthInterval = 2000;

  bool accuracy = false;  // asked for, not merely printed where there is one
  uint64_t gradStats = 0; // every so many updates; 0: never

  const char *checkpointDir = nullptr;
  uint64_t checkpointEvery = 0; // updates; 0: once an epoch
  uint64_t keep = 2;
  bool resume = false;

  const char *exportOnnx = nullptr;
  const char *model = nullptr; // the original, where it has moved
  const char *log = nullptr;
  const char *tensorboard = nullptr;

  bool benchStep = false; // bench measures updates, not predictions
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_OPTIONS_H
