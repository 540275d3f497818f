//===- Variants.cpp - One model compiled in several precisions ------------===//
#include "compiler/Driver/Variants.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace llvm;

namespace ampc::driver {

/// Options of a program that stays in memory: it writes no file, and the values
/// it exposes count against no limit of the product.
static Options makeTrialOptions(const Options &options) {
  Options trial = options;
  trial.dumpPhasesTo.clear();
  trial.saveTemps.clear();
  trial.precisionReport.clear();
  trial.memoryReport.clear();
  trial.memoryLimit.reset();
  return trial;
}

Variants::Variants(const Options &options, DiagnosticSink &sink)
    : original(options), current(makeTrialOptions(options)),
      compilation(current, sink) {}

LogicalResult Variants::open() {
  if (original.compileFrom.value_or(Phase::Import) > Phase::Graph) {
    return getSink().error(ExitCode::Usage,
                           "expected a model whose types are not chosen yet, "
                           "got one from the phase " +
                               stringifyPhase(*original.compileFrom));
  }
  if (failed(compilation.open()) || failed(compilation.run(Phase::Graph))) {
    return failure();
  }
  auto main = compilation.getModule().lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock()) {
    return getSink().error(ExitCode::Invalid,
                           "expected a function @main of one block");
  }
  policy = compilation.getAmpPolicy();
  compilation.checkpoint();
  return success();
}

LogicalResult Variants::checkIsMixed() {
  if (policy != AmpPolicy::Off) {
    return success();
  }
  return getSink().error(ExitCode::Usage,
                         "mixed precision is off: there is nothing to compare",
                         "choose a policy, such as --amp=bf16");
}

void Variants::select(const Variant &variant) {
  current.amp = original.amp;
  current.layerPrecisions = original.layerPrecisions;
  current.opPrecisions = original.opPrecisions;
  current.policyLayers = original.policyLayers;
  current.policyOps = original.policyOps;
  current.policyDefault = original.policyDefault;
  append_range(current.layerPrecisions, variant.layerPrecisions);
  current.strictRounding = original.strictRounding || variant.strictRounding;
  if (variant.isReference) {
    current.amp = "off";
    current.layerPrecisions.clear();
    current.opPrecisions.clear();
    current.policyLayers.clear();
    current.policyOps.clear();
    current.policyDefault.clear();
  }
  compilation.setExposedResults(variant.exposedResults,
                                variant.exposedRounding);
  compilation.recordDecisions(!variant.isReference);
}

LogicalResult Variants::type(const Variant &variant) {
  select(variant);
  compilation.restore();
  return compilation.run(Phase::Precision);
}

std::unique_ptr<ProgramRun> Variants::load() {
  return failed(compilation.run(Phase::Memory))
             ? nullptr
             : ProgramRun::create(compilation);
}

std::unique_ptr<ProgramRun> Variants::build(const Variant &variant) {
  return failed(type(variant)) ? nullptr : load();
}

std::unique_ptr<ProgramRun> Variants::buildReference() {
  Variant reference;
  reference.isReference = true;
  return build(reference);
}

static OutputDivergence makeOutput(const ampc_tensor_desc &desc) {
  OutputDivergence output;
  output.name = desc.name;
  output.isFloat = runtime::isFloat(desc.dtype);
  output.divergence = makeDivergence(desc);
  return output;
}

static void addOutput(const ampc_tensor_desc &desc, const uint8_t *got,
                      const uint8_t *expected, OutputDivergence &output) {
  if (output.isFloat) {
    addToDivergence(desc, got, expected, output.divergence);
    return;
  }
  size_t size = ampc_dtype_size(desc.dtype);
  for (uint64_t at = 0; at < desc.bytes; at += size) {
    ++output.elements;
    output.changed += std::memcmp(got + at, expected + at, size) != 0;
  }
}

LogicalResult compareRuns(ProgramRun &got, ProgramRun &expected,
                          const DataSet &set, uint32_t first,
                          std::vector<OutputDivergence> &outputs) {
  const ampc_program &program = expected.getProgram();
  if (outputs.empty()) {
    for (uint32_t i = first; i < program.num_outputs; ++i) {
      outputs.push_back(makeOutput(program.outputs[i]));
    }
  }
  std::vector<runtime::Bytes> gotBytes, expectedBytes;
  if (failed(got.run(set, gotBytes)) ||
      failed(expected.run(set, expectedBytes))) {
    return failure();
  }
  for (uint32_t i = first; i < program.num_outputs; ++i) {
    addOutput(program.outputs[i], gotBytes[i].data(), expectedBytes[i].data(),
              outputs[i - first]);
  }
  return success();
}

LogicalResult measureError(ProgramRun &got, ProgramRun &expected,
                           ArrayRef<DataSet> sets, tune::Metric metric,
                           double &error) {
  error = 0;
  for (const DataSet &set : sets) {
    std::vector<OutputDivergence> outputs;
    if (failed(compareRuns(got, expected, set, 0, outputs))) {
      return failure();
    }
    for (const OutputDivergence &output : outputs) {
      error = std::max(error, output.getError(metric));
    }
  }
  return success();
}

} // namespace ampc::driver
