//===- clock.h - Seconds --------------------------------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_CLOCK_H
#define AMPC_RUNTIME_TRAINING_CLOCK_H

#include <time.h>

namespace ampc::runtime {

inline double secondsOf(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Of a clock that only runs forward.
inline double secondsNow() { return secondsOf(CLOCK_MONOTONIC); }

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_CLOCK_H
