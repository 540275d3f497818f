//===- TrainingTable.cpp - A trainer in several precisions ----------------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/TrainingBench.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace ampc::driver {

/// Every precision runs this often, in turn, so that what disturbs the machine
/// for a while disturbs them all.
static constexpr uint64_t numTurns = 10;

static LogicalResult
measureInTurn(ArrayRef<std::unique_ptr<TrainingBench>> benches,
              const runtime::Options &run, DiagnosticSink &sink) {
  for (const auto &bench : benches) {
    if (failed(bench->warmUp(run.warmUpMs, sink))) {
      return failure();
    }
  }
  for (uint64_t turn = 0; turn < numTurns; ++turn) {
    for (const auto &bench : benches) {
      if (failed(bench->measure((run.iterations + numTurns - 1) / numTurns,
                                run.durationS / numTurns, sink))) {
        return failure();
      }
    }
  }
  return success();
}

/// Relative to the loss in fp32.
static double getError(const TrainingBench &bench,
                       const TrainingBench &reference) {
  return bench.loss == reference.loss
             ? 0
             : std::abs(bench.loss - reference.loss) / std::abs(reference.loss);
}

static void printTable(ArrayRef<TrainingBench *> benches,
                       TrainingBench &reference) {
  std::string loss = "loss after " + std::to_string(reference.numSteps);
  std::vector<std::vector<std::string>> rows = {
      {"", "step", "micro-step", "update", "", "", "memory, MiB", "masters", "",
       "", "", "", "", loss, "error", "skipped"},
      {"amp", "median ms", "median ms", "median ms", "to fp32", "samples/s",
       "weights", "moments", "gradients", "activations", "workspace", "sum",
       "measured", "steps", "to fp32", "steps"}};
  for (TrainingBench *bench : benches) {
    auto number = [](const char *form, double value) {
      return std::isfinite(value) ? formatv(form, value).str() : "nan";
    };
    double step = bench->getStepMs();
    const TrainingMemory &memory = bench->memory;
    rows.push_back(
        {bench->amp, number("{0:f4}", step),
         number("{0:f4}", bench->getMicroStepMs()),
         number("{0:f4}", bench->getUpdateMs()),
         number("{0:f2}x", reference.getStepMs() / step),
         number("{0:f1}", static_cast<double>(bench->batch) / step * 1e3),
         formatMebibytes(memory.weights),
         formatMebibytes(memory.mastersAndMoments),
         formatMebibytes(memory.gradients), formatMebibytes(memory.activations),
         formatMebibytes(memory.workspace), formatMebibytes(memory.getTotal()),
         bench->measuredBytes ? formatMebibytes(*bench->measuredBytes) : "-",
         number("{0:f6}", bench->loss),
         number("{0:e2}", getError(*bench, reference)),
         std::to_string(bench->skippedSteps)});
  }
  printColumns(rows);
  outs() << "ampc-bench: PASSED rows=" << benches.size() << '\n';
}

static json::Object toJson(TrainingBench &bench, TrainingBench &reference) {
  const TrainingMemory &memory = bench.memory;
  double step = bench.getStepMs();
  return json::Object{
      {"amp", bench.amp},
      {"step_ms", step},
      {"micro_step_ms", bench.getMicroStepMs()},
      {"update_ms", bench.getUpdateMs()},
      {"speedup", reference.getStepMs() / step},
      {"samples_per_s", static_cast<double>(bench.batch) / step * 1e3},
      {"memory",
       json::Object{{"weights", memory.weights},
                    {"masters_and_moments", memory.mastersAndMoments},
                    {"gradients", memory.gradients},
                    {"activations", memory.activations},
                    {"workspace", memory.workspace},
                    {"sum", memory.getTotal()},
                    {"measured", bench.measuredBytes
                                     ? json::Value(*bench.measuredBytes)
                                     : json::Value(nullptr)}}},
      {"loss", toJsonNumber(bench.loss)},
      {"error", toJsonNumber(getError(bench, reference))},
      {"skipped_steps", bench.skippedSteps}};
}

static void printJson(const Options &options, ArrayRef<TrainingBench *> benches,
                      TrainingBench &reference) {
  json::Array rows;
  for (TrainingBench *bench : benches) {
    rows.push_back(toJson(*bench, reference));
  }
  outs() << formatv("{0:2}\n", json::Value(json::Object{
                                   {"version", 1},
                                   {"kind", "training"},
                                   {"model", json::fixUTF8(options.model)},
                                   {"threads", reference.numThreads},
                                   {"batch", reference.batch},
                                   {"learning_rate", reference.learningRate},
                                   {"steps", reference.numSteps},
                                   {"rows", std::move(rows)}}));
}

LogicalResult trainingTableCommand(const Options &options,
                                   DiagnosticSink &sink) {
  ProgramOptions run;
  if (failed(run.parse(options, sink))) {
    return failure();
  }
  // Errors and ratios are against fp32, asked for or not.
  SmallVector<StringRef> amps;
  StringRef(options.amp).split(amps, ',');
  std::vector<std::unique_ptr<TrainingBench>> all;
  all.push_back(std::make_unique<TrainingBench>("off"));
  SmallVector<TrainingBench *> shown;
  for (StringRef amp : amps) {
    if (amp != "off") {
      all.push_back(std::make_unique<TrainingBench>(amp.str()));
    }
    shown.push_back(amp == "off" ? all.front().get() : all.back().get());
  }
  for (const auto &bench : all) {
    if (failed(bench->open(options, run.get(), sink))) {
      return failure();
    }
  }
  if (failed(measureInTurn(all, run.get(), sink))) {
    return failure();
  }
  if (options.json) {
    printJson(options, shown, *all.front());
  } else {
    printTable(shown, *all.front());
  }
  return success();
}

} // namespace ampc::driver
