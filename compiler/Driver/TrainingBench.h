//===- TrainingBench.h - A trainer to be measured ---------------*- C++ -*-===//
#ifndef AMPC_COMPILER_DRIVER_TRAININGBENCH_H
#define AMPC_COMPILER_DRIVER_TRAININGBENCH_H

#include "compiler/Driver/Jit.h"
#include "compiler/Driver/Measurement.h"
#include "runtime/program/command_line.h"
#include "runtime/program/update_work.h"

namespace ampc::driver {

/// Bytes that a trainer needs, known before anything runs. What nothing else
/// names (padding, sums, the loss scale) is counted among masters and moments.
struct TrainingMemory {
  /// What kernels of the model read: constants, statistics, parameters, of
  /// which there may be a 16-bit copy.
  uint64_t weights = 0;
  /// Parameters that kernels read as a copy, and the optimizer's state.
  uint64_t mastersAndMoments = 0;
  uint64_t gradients = 0;
  uint64_t activations = 0;
  uint64_t workspace = 0; ///< of all threads together

  uint64_t getTotal() const {
    return weights + mastersAndMoments + gradients + activations + workspace;
  }
};

/// One precision: a trainer and its session.
class TrainingBench {
public:
  explicit TrainingBench(std::string amp) : amp(std::move(amp)) {}

  /// Compiles and loads, makes the steps of --steps, and finds loss,
  /// skipped steps and memory. Further steps move no parameter.
  llvm::LogicalResult open(const Options &options, const runtime::Options &run,
                           DiagnosticSink &sink);
  /// Makes steps without measuring.
  llvm::LogicalResult warmUp(double milliseconds, DiagnosticSink &sink);
  /// Measures at least `count` steps and at least `seconds`.
  llvm::LogicalResult measure(uint64_t count, double seconds,
                              DiagnosticSink &sink);

  double getStepMs() { return takeMedian(stepTimes); }
  double getMicroStepMs() { return takeMedian(microStepTimes); }
  double getUpdateMs() { return takeMedian(updateTimes); }

  const std::string amp;
  TrainingMemory memory;
  /// What the session and its steps added to this process, with the constants;
  /// absent where the system does not tell.
  std::optional<uint64_t> measuredBytes;
  double learningRate = 0;
  double loss = 0;           ///< after the steps
  uint64_t skippedSteps = 0; ///< among them
  uint64_t numSteps = 10;    ///< unless the options say otherwise
  int64_t batch = 0;
  uint32_t numThreads = 0;

private:
  llvm::LogicalResult train(DiagnosticSink &sink);

  std::unique_ptr<LoadedProgram> program;
  runtime::UpdateWork work;
  runtime::SessionHolder holder; ///< ends before its program
  std::vector<double> stepTimes, microStepTimes, updateTimes;
};

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_TRAININGBENCH_H
