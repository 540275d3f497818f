//===- ErrorCheck.cpp - The promise of --max-error ------------------------===//
#include "compiler/Driver/ErrorCheck.h"

#include "compiler/Driver/TuneNodes.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace ampc::driver {

/// Most nodes that a failed check names.
static constexpr size_t maxNamedNodes = 5;

static std::string describeTrace(const NodeTrace &trace) {
  std::string text = formatv("{0} in {1}: ", trace.op, trace.type);
  const tune::ValueRange &got = trace.alone.getGotRange();
  if (std::isinf(trace.getOwnError())) {
    return text + formatv("{0} infinite and {1} NaN elements, where fp32 "
                          "reaches {2:e2}",
                          got.infinities, got.nans,
                          trace.alone.getExpectedRange().largest)
                      .str();
  }
  return text +
         formatv("alone, a relative error of {0:e2}", trace.getOwnError())
             .str();
}

LogicalResult reportErrorAboveBound(const tune::ErrorBound &bound, double error,
                                    ArrayRef<NodeTrace> traces,
                                    DiagnosticSink &sink) {
  Finding finding;
  finding.category = ExitCode::Mismatch;
  finding.message = formatv("expected a {0} to fp32 of at most {1:e2}, got {2}",
                            tune::describeMetric(bound.metric), bound.value,
                            format("%.2e", error)); // which spells inf
  finding.hint = "ampc tune finds what has to stay in fp32; ampc compare shows "
                 "every node";
  for (size_t index : rankByOwnError(traces)) {
    const NodeTrace &trace = traces[index];
    if (finding.notes.size() == maxNamedNodes || trace.getOwnError() == 0) {
      break;
    }
    finding.notes.emplace_back(trace.print(), describeTrace(trace));
  }
  sink.report(finding);
  return failure();
}

LogicalResult checkMaxError(const Options &options, DiagnosticSink &sink,
                            Certificate &certificate) {
  const tune::ErrorBound &bound = *options.tolerance.bound;
  Variants variants(options, sink);
  if (failed(variants.open())) {
    return failure();
  }
  std::vector<DataSet> sets;
  double error = 0;
  {
    std::unique_ptr<ProgramRun> expected = variants.buildReference();
    std::unique_ptr<ProgramRun> got = expected ? variants.build({}) : nullptr;
    if (!got ||
        failed(readDataSets(variants.getCompilation(), got->getProgram(),
                            options.data, sets, sink)) ||
        failed(measureError(*got, *expected, sets, bound.metric, error))) {
      return failure();
    }
  }
  if (!(error <= bound.value)) {
    std::vector<NodeTrace> traces = findTraces(variants);
    // The program typed last is the one in question.
    readDecisions(*variants.getCompilation().getPrecisionReport(), traces);
    if (failed(traceAlone(variants, sets, findLow(variants, traces), traces))) {
      return failure();
    }
    return reportErrorAboveBound(bound, error, traces, sink);
  }
  variants.select({});
  certificate = Certificate(variants.getCompilation(), bound);
  certificate.setTuning({sets.size(), error, hashDataSets(sets), "given"});
  return success();
}

LogicalResult calibrate(Options &options, DiagnosticSink &sink) {
  Variants variants(options, sink);
  if (failed(variants.open())) {
    return failure();
  }
  AmpPolicy policy = variants.getPolicy();
  if (policy != AmpPolicy::Fp16 && policy != AmpPolicy::PureFp16) {
    return success(); // bf16 has the range of fp32
  }
  std::vector<DataSet> sets;
  TuneNodes nodes(variants);
  std::unique_ptr<ProgramRun> reference = variants.buildReference();
  if (!reference ||
      failed(readDataSets(variants.getCompilation(), reference->getProgram(),
                          options.data, sets, sink)) ||
      failed(nodes.measure(sets))) {
    return failure();
  }
  options.calibratedPaths = nodes.findPathsOutOfRange();
  return success();
}

} // namespace ampc::driver
