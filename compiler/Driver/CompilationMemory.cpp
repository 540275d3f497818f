//===- CompilationMemory.cpp - Whether a program fits its limits ----------===//
#include "compiler/Driver/Compilation.h"

#include "compiler/Driver/Limits.h"
#include "dialects/Rt/IR/RtDialect.h"

using namespace llvm;
using namespace mlir;
using ampc::training::RecomputeMode;

namespace ampc::driver {

namespace {

/// What a program needs beside its inputs and outputs.
struct MemoryNeed {
  uint64_t activations = 0;
  uint64_t kept = 0; ///< states, and for a trainer weights
  int64_t batch = 1;

  uint64_t total() const { return activations + kept; }
};

} // namespace

static MemoryNeed findNeed(ModuleOp module) {
  MemoryNeed need;
  for (auto program : module.getOps<rt::ProgramOp>()) {
    need.activations = program.getArena().getFixed();
    if (auto state = program.getStateBytes()) {
      need.kept = *state + program.getConstantBytes().value_or(0);
    }
    for (Attribute input : program.getInputTypes()) {
      auto type = cast<RankedTensorType>(cast<TypeAttr>(input).getValue());
      need.batch = type.getRank() ? type.getDimSize(0) : 1;
      break;
    }
  }
  return need;
}

bool Compilation::maySaveMemory() const {
  return options.memoryLimit && training.choosesRecompute &&
         training.recompute != RecomputeMode::All;
}

bool Compilation::saveMemory() {
  if (!beforeTraining || findNeed(*module).total() <= *options.memoryLimit ||
      training.recompute == RecomputeMode::All) {
    return false;
  }
  bool isFirst = training.recompute == RecomputeMode::None;
  training.recompute = isFirst ? RecomputeMode::Blocks : RecomputeMode::All;
  module = beforeTraining->clone();
  reached = Phase::Precision;
  return true;
}

LogicalResult Compilation::checkMemory() {
  forwarder->setCategory(ExitCode::Limit);
  LogicalResult checked = checkWeightSize(*module, weightLimit);
  forwarder->setCategory(ExitCode::Internal);
  if (failed(checked) || !options.memoryLimit) {
    return checked;
  }
  MemoryNeed need = findNeed(*module);
  if (need.total() <= *options.memoryLimit) {
    if (beforeTraining && training.recompute != RecomputeMode::None) {
      bool isAll = training.recompute == RecomputeMode::All;
      sink.note("to meet --memory-limit the backward pass computes " +
                Twine(isAll ? "large blocks" : "blocks") +
                " again, as with --recompute=" + (isAll ? "all" : "blocks"));
    }
    return success();
  }
  std::string what = "the program needs " + std::to_string(need.activations) +
                     " bytes for activations";
  if (need.kept) {
    what += " and " + std::to_string(need.kept) +
            " for weights, gradients and moments";
  }
  return sink.error(
      ExitCode::Limit,
      what + ", more than --memory-limit=" + Twine(*options.memoryLimit),
      options.train ? describeFittingBatch()
                    : "--memory-report=- shows what needs them");
}

/// Activations grow with the batch, the rest does not.
std::string Compilation::describeFittingBatch() const {
  MemoryNeed need = findNeed(*module);
  uint64_t limit = *options.memoryLimit;
  uint64_t perSample = std::max<uint64_t>(
      need.activations / std::max<int64_t>(need.batch, 1), 1);
  uint64_t fits = limit > need.kept ? (limit - need.kept) / perSample : 0;
  if (fits == 0) {
    return "one sample needs about " + std::to_string(perSample) +
           " bytes beside weights, gradients and moments";
  }
  uint64_t micro = std::min<uint64_t>(fits, need.batch);
  uint64_t accumulate = (need.batch + micro - 1) / micro;
  return "a model with a batch of " + std::to_string(micro) +
         " would fit, trained with --accumulate=" + std::to_string(accumulate);
}

} // namespace ampc::driver
