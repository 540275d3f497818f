//===- Measurement.h - What the tables of bench have in common --*- C++ -*-===//
#ifndef AMPC_COMPILER_DRIVER_MEASUREMENT_H
#define AMPC_COMPILER_DRIVER_MEASUREMENT_H

#include "compiler/Driver/DiagnosticSink.h"
#include "runtime/program/options.h"
#include "llvm/Support/JSON.h"

#include <chrono>

namespace ampc::driver {

/// The options that `bench` hands to programs, as they parse them.
class ProgramOptions {
public:
  llvm::LogicalResult parse(const Options &options, DiagnosticSink &sink);
  runtime::Options &get() { return parsed; }

private:
  std::vector<std::string> texts; ///< what `parsed` points into
  runtime::Options parsed;
};

/// Seconds since it was made or restarted.
class Stopwatch {
public:
  double getSeconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  /// Milliseconds, and begins anew.
  double lap() {
    Clock::time_point now = Clock::now(), before = start;
    start = now;
    return std::chrono::duration<double, std::milli>(now - before).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

/// The middle one of some numbers, which it reorders.
double takeMedian(std::vector<double> &numbers);

/// The resident memory of this process, now and at its peak since a reset.
class ResidentMemory {
public:
  /// Begins to measure.
  ResidentMemory();
  /// How far the peak went beyond what there was; absent where the system does
  /// not tell.
  std::optional<uint64_t> getGrowth() const;

private:
  bool isReset = false;
  std::optional<uint64_t> before;
};

/// Bytes of workspace that all threads of a session have together.
uint64_t countWorkspace(ampc_session session);

/// Rows of words, in columns that are as wide as they have to be; all but the
/// first are aligned to the right.
void printColumns(llvm::ArrayRef<std::vector<std::string>> rows);

/// Of a table.
std::string formatMebibytes(uint64_t bytes);
/// JSON has no number that is not finite.
llvm::json::Value toJsonNumber(double value);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_MEASUREMENT_H
