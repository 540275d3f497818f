//===- schedule.h - The learning rate over the updates --------------------===//
#ifndef AMPC_RUNTIME_TRAINING_SCHEDULE_H
#define AMPC_RUNTIME_TRAINING_SCHEDULE_H

#include "runtime/training/options.h"

namespace ampc::runtime {

/// A learning rate for each number t of updates taken before, skipped ones not
/// counted, of a run of T:
///   t < W, the warm-up:  lr (t + 1) / W
///   constant:            lr
///   linear:              lr (1 - p), with p = (t - W) / (T - W)
///   cosine:              lr (1 + cos(pi p)) / 2 (Loshchilov and Hutter,
///   "SGDR",
///                        2017, without restarts)
struct LearningRate {
  ScheduleKind kind = ScheduleKind::Constant;
  double base = 0;
  uint64_t warmup = 0;
  uint64_t total = 0;

  double at(uint64_t taken) const;
};

const char *scheduleName(ScheduleKind kind);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_SCHEDULE_H
