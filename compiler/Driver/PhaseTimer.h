//===- PhaseTimer.h - Where the time of a compilation goes ----------------===//
#ifndef AMPC_COMPILER_DRIVER_PHASETIMER_H
#define AMPC_COMPILER_DRIVER_PHASETIMER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <string>
#include <vector>

namespace ampc::driver {

/// Measures consecutive steps: wall time, and the process's memory at its peak
/// by then.
class PhaseTimer {
public:
  /// Ends the step before and begins one; an empty name begins none.
  void enter(llvm::StringRef name);
  /// Prints a table of the steps.
  void print(llvm::raw_ostream &os);

private:
  struct Step {
    std::string name;
    double seconds = 0;
    uint64_t peakBytes = 0;
  };
  using Clock = std::chrono::steady_clock;

  std::vector<Step> steps;
  bool isRunning = false;
  Clock::time_point start;
};

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_PHASETIMER_H
