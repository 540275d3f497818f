//===- Compare.cpp - How far mixed precision is from fp32, node by node ---===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/ErrorCheck.h"
#include "compiler/Driver/Trace.h"
#include "runtime/program/command_line.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;

namespace ampc::driver {

namespace {

/// One run of the command.
class Comparer {
public:
  Comparer(const Options &options, DiagnosticSink &sink)
      : options(options), sink(sink), variants(options, sink) {}

  LogicalResult run();

private:
  LogicalResult findInputs(const ampc_program &program);
  LogicalResult readInputOptions(const ampc_program &program);
  LogicalResult chooseNodes();
  void printText();
  void printJson();

  const Options &options;
  DiagnosticSink &sink;
  Variants variants;
  std::vector<DataSet> sets;
  std::string source; ///< of the inputs
  std::vector<OutputDivergence> outputs;
  std::vector<NodeTrace> traces;
  std::vector<size_t> order; ///< of the entries shown
};

} // namespace

LogicalResult Comparer::readInputOptions(const ampc_program &program) {
  std::vector<std::string> args = {"ampc", "run"};
  append_range(args, options.programArgs);
  SmallVector<char *> argv;
  for (std::string &arg : args) {
    argv.push_back(arg.data());
  }
  runtime::Options run;
  runtime::Vec<runtime::Tensor> tensors;
  if (failed(reportStatus(runtime::parseOptions(argv.size(), argv.data(),
                                                /*training=*/nullptr, &run),
                          sink)) ||
      failed(reportStatus(
          gatherInputs(program, run, runtime::Missing::Reject, &tensors),
          sink))) {
    return failure();
  }
  DataSet &set = sets.emplace_back();
  set.name = "--input";
  for (runtime::Tensor &tensor : tensors) {
    set.inputs.push_back(std::move(tensor));
  }
  return success();
}

LogicalResult Comparer::findInputs(const ampc_program &program) {
  bool hasInputs = any_of(options.programArgs, [](StringRef arg) {
    return arg.starts_with("--input=");
  });
  if (!options.data.empty()) {
    source = options.data;
    return readDataSets(variants.getCompilation(), program, options.data, sets,
                        sink);
  }
  if (hasInputs) {
    source = "--input";
    return readInputOptions(program);
  }
  source = "seed " + std::to_string(options.seed);
  if (!options.quiet && !options.json) {
    outs() << "inputs are made up (seed " << options.seed
           << "): normal floats, small integers; give --data=DIR for real "
              "ones\n";
  }
  return makeDataSet(program, options.seed, sets.emplace_back(), sink);
}

LogicalResult Comparer::chooseNodes() {
  order = rankByOwnError(traces);
  if (!options.worstFirst) {
    sort(order);
  }
  if (options.node.empty()) {
    return success();
  }
  Expected<GlobPattern> pattern = GlobPattern::create(options.node);
  if (!pattern) {
    return sink.error(ExitCode::Usage,
                      "expected a node name or glob, got '" + options.node +
                          "': " + toString(pattern.takeError()));
  }
  erase_if(order, [&](size_t index) {
    auto matches = [&](StringRef name) { return pattern->match(name); };
    return none_of(traces[index].names, matches) &&
           none_of(traces[index].paths, matches);
  });
  if (order.empty()) {
    return sink.error(ExitCode::Usage,
                      "no node that computes floats is named '" + options.node +
                          "'",
                      "ampc compare MODEL lists all nodes");
  }
  return success();
}

LogicalResult Comparer::run() {
  if (failed(variants.open()) || failed(variants.checkIsMixed())) {
    return failure();
  }
  traces = findTraces(variants);
  if (failed(chooseNodes())) { // before anything is measured
    return failure();
  }
  std::unique_ptr<ProgramRun> expected = variants.buildReference();
  if (!expected || failed(findInputs(expected->getProgram()))) {
    return failure();
  }
  std::unique_ptr<ProgramRun> got = variants.build({});
  if (!got) {
    return failure();
  }
  for (const DataSet &set : sets) {
    if (failed(compareRuns(*got, *expected, set, 0, outputs))) {
      return failure();
    }
  }
  double error = 0;
  if (options.tolerance.bound &&
      failed(measureError(*got, *expected, sets,
                          options.tolerance.bound->metric, error))) {
    return failure();
  }
  // The programs that return everything need the memory.
  got.reset();
  expected.reset();
  if (failed(traceNodes(variants, {}, sets, traces)) ||
      failed(traceAlone(variants, sets, findLow(variants, traces), traces)) ||
      failed(chooseNodes())) {
    return failure();
  }
  options.json ? printJson() : printText();
  if (options.tolerance.bound && !(error <= options.tolerance.bound->value)) {
    return reportErrorAboveBound(*options.tolerance.bound, error, traces, sink);
  }
  return success();
}

void Comparer::printText() {
  outs() << "outputs of the programs as compiled:\n";
  for (const OutputDivergence &output : outputs) {
    if (!output.isFloat) {
      outs() << formatv("  {0}: {1} of {2} elements differ\n", output.name,
                        output.changed, output.elements);
      continue;
    }
    const tune::Divergence &divergence = output.divergence;
    outs() << "  " << output.name
           << format(": rel %.2e, max %.2e, cosine %.2e, top1 %.2e\n",
                     divergence.getError(tune::Metric::Relative),
                     divergence.getError(tune::Metric::Maximum),
                     divergence.getError(tune::Metric::Cosine),
                     divergence.getError(tune::Metric::TopOne));
  }
  outs() << "nodes, each rounded to its type:\n";
  printTraces(traces, order, outs());
}

void Comparer::printJson() {
  json::Array outputRows, nodeRows;
  for (const OutputDivergence &output : outputs) {
    json::Object row{{"name", json::fixUTF8(output.name)}};
    for (tune::Metric metric : {tune::Metric::Relative, tune::Metric::Maximum,
                                tune::Metric::Cosine, tune::Metric::TopOne}) {
      row[tune::stringifyMetric(metric)] = toJson(output.getError(metric));
    }
    outputRows.push_back(std::move(row));
  }
  for (size_t index : order) {
    nodeRows.push_back(toJson(traces[index]));
  }
  json::Object object{{"amp", stringifyAmpPolicy(variants.getPolicy())},
                      {"data", json::fixUTF8(source)},
                      {"data_sets", static_cast<int64_t>(sets.size())},
                      {"outputs", std::move(outputRows)},
                      {"nodes", std::move(nodeRows)}};
  outs() << formatv("{0:2}\n", json::Value(std::move(object)));
}

LogicalResult compareCommand(const Options &options, DiagnosticSink &sink) {
  return Comparer(options, sink).run();
}

} // namespace ampc::driver
