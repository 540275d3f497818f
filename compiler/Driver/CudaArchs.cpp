//===- CudaArchs.cpp - Whether named GPUs can do what is asked ------------===//
#include "compiler/Driver/OptionValues.h"

#include "compiler/Targets/CUDA/Architectures.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ampc::driver {

namespace {
/// A type that the command line asks for, and where.
struct Demand {
  StringRef type;
  std::string option;
};
} // namespace

/// The types of matrix products that the command line names.
static std::vector<Demand> collectDemands(const Options &options) {
  std::vector<Demand> demands;
  auto add = [&](StringRef type, const Twine &option) {
    if (type == "fp16" || type == "bf16" || type == "tf32") {
      demands.push_back({type, option.str()});
    }
  };
  for (StringRef amp : split(options.amp, ',')) {
    StringRef type = amp;
    type.consume_front("pure-");
    add(type, "--amp=" + amp);
  }
  add(options.fp32Contractions, "--fp32-contractions=tf32");
  for (const std::vector<std::string> *rules :
       {&options.layerPrecisions, &options.opPrecisions, &options.policyLayers,
        &options.policyOps}) {
    for (StringRef rule : *rules) {
      StringRef type = rule.rsplit(':').second;
      add(type == "f16" ? "fp16" : type, "'" + rule + "'");
    }
  }
  return demands;
}

LogicalResult checkCudaArchs(const Options &options, DiagnosticSink &sink) {
  std::vector<Demand> demands = collectDemands(options);
  LogicalResult result = success();
  for (StringRef name : options.cudaArchs) {
    Expected<const CudaArchitecture *> found = findCudaArchitecture(name);
    if (!found) {
      result = sink.error(ExitCode::Usage,
                          "--cuda-arch: " + toString(found.takeError()));
      continue;
    }
    const CudaArchitecture &arch = **found;
    std::string who = (arch.name + " (" + arch.family + ")").str();
    if (arch.major * 10 + arch.minor < oldestCudaCapability) {
      result = sink.error(ExitCode::Unsupported,
                          "unsupported architecture " + who +
                              ": CUDA 13 dropped what came before sm_75");
      continue;
    }
    for (const Demand &demand : demands) {
      if (!arch.hasType(demand.type)) {
        result =
            sink.error(ExitCode::Usage,
                       who + " has no " + demand.type + " arithmetic, which " +
                           demand.option + " asks for",
                       "use fp16, or architectures from sm_80 on");
      }
    }
  }
  return result;
}

} // namespace ampc::driver
