//===- TrainingBench.cpp - A trainer to be measured -----------------------===//
#include "compiler/Driver/TrainingBench.h"

#include "compiler/Driver/TensorData.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ampc::driver {

/// The learning rate where neither the command line nor the model has one: such
/// that usual networks move, and do not diverge, with any optimizer.
static constexpr double defaultRate = 1e-3;

static TrainingMemory countMemory(ampc_session session) {
  const ampc_program &program = *ampc_session_program(session);
  ArrayRef<ampc_state_desc> states(program.states, program.num_states);
  StringSet<> transient;
  for (const ampc_state_desc &state : states) {
    if (state.role == AMPC_STATE_TRANSIENT) {
      transient.insert(state.tensor.name);
    }
  }
  TrainingMemory memory;
  StringSet<> copies;
  for (const ampc_state_desc &state : states) {
    StringRef name = state.tensor.name;
    uint64_t bytes = state.tensor.bytes;
    switch (state.role) {
    case AMPC_STATE_PARAMETER: {
      bool hasCopy = false;
      for (StringRef suffix : {".f16", ".bf16"}) {
        std::string copy = (name + suffix).str();
        if (transient.contains(copy)) {
          copies.insert(copy);
          hasCopy = true;
        }
      }
      memory.weights += hasCopy ? 0 : bytes;
      break;
    }
    case AMPC_STATE_STATISTIC:
      memory.weights += bytes;
      break;
    case AMPC_STATE_TRANSIENT:
      memory.gradients += name.ends_with(".gradient") ? bytes : 0;
      break;
    default:
      break;
    }
  }
  for (const ampc_state_desc &state : states) {
    bool isCopy = state.role == AMPC_STATE_TRANSIENT &&
                  copies.contains(state.tensor.name);
    memory.weights += isCopy ? state.tensor.bytes : 0;
  }
  memory.mastersAndMoments =
      program.state_bytes - memory.weights - memory.gradients;
  memory.weights += program.constant_bytes;
  memory.activations = program.arena_bytes.fixed;
  memory.workspace = countWorkspace(session);
  return memory;
}

LogicalResult TrainingBench::train(DiagnosticSink &sink) {
  runtime::UpdateReport report;
  for (uint64_t i = 0; i < numSteps; ++i) {
    if (failed(reportStatus(work.update(holder.session, &report), sink, amp))) {
      return failure();
    }
  }
  skippedSteps = static_cast<uint64_t>(report.skipped);
  // What a step finds is the loss before its update.
  work.setLearningRate(0);
  if (failed(reportStatus(work.update(holder.session, &report), sink, amp))) {
    return failure();
  }
  loss = report.loss;
  return success();
}

LogicalResult TrainingBench::open(const Options &options,
                                  const runtime::Options &run,
                                  DiagnosticSink &sink) {
  Options one = options;
  one.amp = amp;
  {
    Compilation compilation(one, sink);
    if (failed(compilation.open()) || failed(compilation.run(Phase::Memory))) {
      return failure();
    }
    program = LoadedProgram::load(compilation);
  }
  if (!program || failed(reportStatus(work.open(program->get(), run), sink))) {
    return failure();
  }
  const double *own = work.findOwnRate();
  learningRate = run.train.learningRate.given ? run.train.learningRate.value
                 : own                        ? *own
                                              : defaultRate;
  work.setLearningRate(learningRate);
  batch = work.batch();
  numSteps = options.benchSteps.value_or(numSteps);

  ResidentMemory resident;
  if (failed(reportStatus(openSession(program->get(), run, &holder), sink)) ||
      failed(reportStatus(work.begin(holder.session, run.train), sink)) ||
      failed(train(sink))) {
    return failure();
  }
  memory = countMemory(holder.session);
  numThreads = ampc_session_num_threads(holder.session);
  if (std::optional<uint64_t> growth = resident.getGrowth()) {
    measuredBytes = *growth + program->get().constant_bytes;
  }
  return success();
}

LogicalResult TrainingBench::warmUp(double milliseconds, DiagnosticSink &sink) {
  Stopwatch watch;
  do {
    if (failed(reportStatus(work.update(holder.session), sink, amp))) {
      return failure();
    }
  } while (watch.getSeconds() * 1e3 < milliseconds);
  return success();
}

LogicalResult TrainingBench::measure(uint64_t count, double seconds,
                                     DiagnosticSink &sink) {
  // Of the steps alone, so that their parts take nothing from them.
  double measured = 0;
  for (uint64_t i = 0; i < count || measured < seconds * 1e3; ++i) {
    Stopwatch watch;
    if (failed(reportStatus(work.update(holder.session), sink, amp))) {
      return failure();
    }
    stepTimes.push_back(watch.lap());
    measured += stepTimes.back();
    if (failed(reportStatus(work.microStep(holder.session), sink, amp))) {
      return failure();
    }
    microStepTimes.push_back(watch.lap());
    if (failed(reportStatus(work.apply(holder.session), sink, amp))) {
      return failure();
    }
    updateTimes.push_back(watch.lap());
  }
  return success();
}

} // namespace ampc::driver
