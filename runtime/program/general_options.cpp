//===- general_options.cpp - Options of run, bench and inspect ------------===//
#include "runtime/program/option_table.h"

#include <errno.h>

namespace ampc::runtime {

Status parseNatural(const char *text, uint64_t low, uint64_t high,
                    uint64_t *out) {
  char *end = nullptr;
  errno = 0;
  unsigned long long value =
      *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
  if (!end || *end || errno || value < low || value > high) {
    return Status::error(AMPC_USAGE,
                         "expected a whole number from %llu to %llu, got '%s'",
                         static_cast<unsigned long long>(low),
                         static_cast<unsigned long long>(high), text);
  }
  *out = value;
  return Status();
}

Status parseReal(const char *text, double high, double *out, char **outEnd) {
  double value = strtod(text, outEnd);
  // The comparison is false for a NaN too.
  if (*outEnd == text || !(value >= 0 && value <= high)) {
    return Status::error(AMPC_USAGE, "expected a number from 0 to %g, got '%s'",
                         high, text);
  }
  *out = value;
  return Status();
}

namespace {

/// Commands that run kernels.
constexpr unsigned onCompute = onRun | onBench | onTrain | onEval;

Status setThreads(Options &options, const char *value) {
  uint64_t threads;
  AMPC_TRY(parseNatural(value, 1, 1024, &threads));
  options.threads = static_cast<uint32_t>(threads);
  return Status();
}

Status setMetric(Options &options, const char *value) {
  options.train.accuracy = true;
  return strcmp(value, "accuracy") == 0
             ? Status()
             : Status::error(AMPC_USAGE, "expected accuracy, got '%s'", value);
}

Status setDuration(Options &options, const char *value) {
  char *end;
  AMPC_TRY(parseReal(value, 1e6, &options.durationS, &end));
  return *end ? Status::error(AMPC_USAGE, "expected seconds, got '%s'", value)
              : Status();
}

Status setPercentiles(Options &options, const char *value) {
  options.percentiles.clear();
  for (const char *at = value;; ++at) {
    double percentile = 0;
    char *end;
    AMPC_TRY(parseReal(at, 100, &percentile, &end));
    if (percentile == 0 || (*end && *end != ',') ||
        options.percentiles.size() == 32) {
      return Status::error(
          AMPC_USAGE, "expected percentiles such as 90,95,99, got '%s'", value);
    }
    options.percentiles.push(percentile);
    at = end;
    if (!*end) {
      return Status();
    }
  }
}

constexpr OptionEntry entries[] = {
    {"input", "[NAME=]VALUE", onRun | onBench,
     "@FILE (.npy .npz .pb .safetensors), numbers (1,2,3), one number for all "
     "elements, or 'random'; a type may stand before: 2x3xf32=0",
     addText<&Options::inputs>},
    {"output", "[NAME=]@FILE", onRun,
     "write an output; all of them to an .npz or .safetensors without NAME",
     addText<&Options::outputs>},
    {"output-dir", "DIR", onRun, "write each output to DIR/NAME.npy",
     setText<&Options::outputDir>},
    {"data", "FILE", onRun | onTrain | onEval,
     "a data set (.npz .safetensors, or NAME=@x.npy,...), taken in batches of "
     "the compiled size; for run, rows must not depend on each other",
     setText<&Options::data>},
    {"checkpoint", "FILE", onRun | onBench | onEval,
     "take the parameters of a trainer from a checkpoint",
     setText<&Options::checkpoint>},
    {"metric", "accuracy", onTrain | onEval,
     "refuse a program that defines no accuracy; where there is one it is "
     "always printed",
     setMetric},
    {"threads", "N", onCompute, "threads that compute (default: all)",
     setThreads},
    {"device", "NAME", onCompute,
     "cpu, cuda, cuda:N or sim (default: what the program is compiled for)",
     setText<&Options::device>},
    {"weights-dir", "DIR", onCompute,
     "folder of the weight file (default: beside the program)",
     setText<&Options::weightsDir>},
    {"profile", nullptr, onRun | onBench, "print the time of each launch",
     setFlag<&Options::profile>},
    {"debug-arena", nullptr, onCompute,
     "fill working memory with NaN before each run",
     setFlag<&Options::debugArena>},
    {"iterations", "N", onBench, "measure at least N runs (default 10)",
     setNatural<&Options::iterations, 1, 1'000'000'000>},
    {"warm-up", "MS", onBench, "milliseconds before measuring (default 200)",
     setNatural<&Options::warmUpMs, 0, 1'000'000'000>},
    {"duration", "S", onBench, "measure at least S seconds (default 3)",
     setDuration},
    {"percentile", "P,...", onBench, "percentiles (default 90,95,99)",
     setPercentiles},
    {"export-times", "FILE", onBench, "write each run's time as JSON",
     setText<&Options::exportTimes>},
    {"json", nullptr, onInspect, "print JSON", setFlag<&Options::json>},
    {"export-code", "DIR", onInspect,
     "write the GPU code into DIR, as IMAGE.MODULE.cubin or .ptx",
     setText<&Options::exportCode>},
    {"quiet", nullptr, onAll, "print errors and results only",
     setFlag<&Options::quiet>},
    {"help", nullptr, onAll, "print this text", setFlag<&Options::help>},
    {"version", nullptr, onAll, "print the model's and the compiler's name",
     setFlag<&Options::version>},
};

} // namespace

const OptionTable generalOptions = {entries, sizeof entries / sizeof *entries};

} // namespace ampc::runtime
