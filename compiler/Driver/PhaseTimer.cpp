//===- PhaseTimer.cpp - Where the time of a compilation goes --------------===//
#include "compiler/Driver/PhaseTimer.h"

#include "llvm/Support/Format.h"

#include <sys/resource.h>

namespace ampc::driver {

static uint64_t getPeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

void PhaseTimer::enter(llvm::StringRef name) {
  Clock::time_point now = Clock::now();
  if (isRunning) {
    steps.back().seconds = std::chrono::duration<double>(now - start).count();
    steps.back().peakBytes = getPeakBytes();
  }
  isRunning = !name.empty();
  if (isRunning) {
    steps.push_back({name.str()});
    start = now;
  }
}

void PhaseTimer::print(llvm::raw_ostream &os) {
  enter("");
  double total = 0;
  os << "phase         time      share  peak memory\n";
  for (const Step &step : steps) {
    total += step.seconds;
  }
  for (const Step &step : steps) {
    os << llvm::format("%-10s %8.3f s   %5.1f %%  %8.1f MiB\n",
                       step.name.c_str(), step.seconds,
                       total > 0 ? 100 * step.seconds / total : 0.0,
                       step.peakBytes / 1048576.0);
  }
  os << llvm::format("%-10s %8.3f s\n", "total", total);
}

} // namespace ampc::driver
