//===- Trace.cpp - Two precisions compared op by op -----------------------===//
#include "compiler/Driver/Trace.h"

#include "dialects/Interfaces/PrecisionInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Graph/ExposeResults.h"
#include "passes/Precision/NodeNames.h"
#include "passes/Precision/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace llvm;

namespace ampc::driver {

std::string NodeTrace::print() const {
  bool hasName = any_of(names, [](StringRef name) { return !name.empty(); });
  const std::vector<std::string> &shown = hasName ? names : paths;
  if (shown.size() > 2) {
    return shown.front() + " .. " + shown.back();
  }
  return join(shown, " + ");
}

std::vector<NodeTrace> findTraces(Variants &variants) {
  std::vector<NodeTrace> traces;
  auto main = variants.getGraph().lookupSymbol<mlir::func::FuncOp>("main");
  DenseMap<mlir::Value, size_t> entries;
  for (mlir::OpResult value : graph::findExposableResults(main)) {
    mlir::Operation *op = value.getOwner();
    precision::NodeNames nodes = precision::getNodeNames(op->getLoc());
    NodeTrace trace;
    trace.names.assign(nodes.names.begin(), nodes.names.end());
    trace.paths.assign(nodes.paths.begin(), nodes.paths.end());
    trace.op = precision::getOperatorName(op).str();
    trace.position = traces.size();
    auto type = cast<mlir::RankedTensorType>(value.getType());
    trace.bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    auto typed = dyn_cast<PrecisionOpInterface>(op);
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      auto known = entries.find(operand.get());
      bool isPinned =
          typed && typed.isPinnedOperand(operand.getOperandNumber());
      if (known != entries.end() && !isPinned) {
        trace.producers.push_back(known->second);
      }
    }
    trace.divergence =
        tune::Divergence(type.getRank() == 0 ? 1 : type.getShape().back());
    entries[value] = traces.size();
    traces.push_back(std::move(trace));
  }
  return traces;
}

/// What identifies an op in the precision report.
static std::string makeKey(ArrayRef<std::string> paths, StringRef op) {
  return join(paths, "\n") + "\n" + op.str();
}

void readDecisions(const precision::Report &report,
                   std::vector<NodeTrace> &traces) {
  StringMap<const precision::OpDecision *> decisions;
  for (const precision::OpDecision &op : report.ops) {
    decisions.try_emplace(makeKey(op.paths, op.op), &op);
  }
  for (NodeTrace &trace : traces) {
    const auto *found = decisions.lookup(makeKey(trace.paths, trace.op));
    trace.type = found ? found->type : "";
    trace.isOverridden = found && found->rule == precision::Rule::Override;
  }
}

/// Cuts `chosen` into runs of values that fit into memory twice, at least one a
/// run, and calls `run` with each.
static LogicalResult
runInParts(Variants &variants, ArrayRef<NodeTrace> traces,
           ArrayRef<size_t> chosen,
           function_ref<LogicalResult(ArrayRef<size_t>)> run) {
  uint64_t memory = variants.getOptions().traceMemory;
  while (!chosen.empty()) {
    uint64_t bytes = 0;
    size_t count = 0;
    while (count < chosen.size() &&
           (count == 0 || bytes + 2 * traces[chosen[count]].bytes <= memory)) {
      bytes += 2 * traces[chosen[count++]].bytes;
    }
    if (failed(run(chosen.take_front(count)))) {
      return failure();
    }
    chosen = chosen.drop_front(count);
  }
  return success();
}

LogicalResult traceNodes(Variants &variants, const Variant &mixed,
                         ArrayRef<DataSet> sets,
                         std::vector<NodeTrace> &traces) {
  auto run = [&](ArrayRef<size_t> part) {
    Variant expected, got = mixed;
    expected.isReference = true;
    // What one kernel keeps wide depends on which of its values are returned.
    got.strictRounding = true;
    for (size_t index : part) {
      expected.exposedResults.push_back(traces[index].position);
    }
    got.exposedResults = expected.exposedResults;
    std::unique_ptr<ProgramRun> expectedRun = variants.build(expected);
    std::unique_ptr<ProgramRun> gotRun =
        expectedRun ? variants.build(got) : nullptr;
    if (!gotRun) {
      return failure();
    }
    readDecisions(*variants.getCompilation().getPrecisionReport(), traces);
    uint32_t first = gotRun->getProgram().num_outputs - part.size();
    std::vector<OutputDivergence> outputs;
    for (const DataSet &set : sets) {
      if (failed(compareRuns(*gotRun, *expectedRun, set, first, outputs))) {
        return failure();
      }
    }
    for (auto [index, output] : zip_equal(part, outputs)) {
      traces[index].divergence = output.divergence;
    }
    return success();
  };
  return runInParts(variants, traces, to_vector(seq(traces.size())), run);
}

StringRef getLowType(AmpPolicy policy) {
  return policy == AmpPolicy::Fp16 || policy == AmpPolicy::PureFp16 ? "f16"
                                                                    : "bf16";
}

SmallVector<size_t> findLow(const Variants &variants,
                            ArrayRef<NodeTrace> traces) {
  SmallVector<size_t> found;
  for (auto [i, trace] : enumerate(traces)) {
    if (trace.type == getLowType(variants.getPolicy())) {
      found.push_back(i);
    }
  }
  return found;
}

LogicalResult traceAlone(Variants &variants, ArrayRef<DataSet> sets,
                         ArrayRef<size_t> chosen,
                         std::vector<NodeTrace> &traces) {
  auto run = [&](ArrayRef<size_t> part) {
    Variant reference;
    reference.isReference = true;
    reference.exposedRounding = getLowType(variants.getPolicy()).str();
    for (size_t index : part) {
      reference.exposedResults.push_back(traces[index].position);
    }
    std::unique_ptr<ProgramRun> program = variants.build(reference);
    if (!program) {
      return failure();
    }
    // Each value, then its rounded form.
    const ampc_program &table = program->getProgram();
    uint32_t first = table.num_outputs - 2 * part.size();
    std::vector<runtime::Bytes> outputs;
    for (const DataSet &set : sets) {
      if (failed(program->run(set, outputs))) {
        return failure();
      }
      for (auto [i, index] : enumerate(part)) {
        uint32_t at = first + 2 * i;
        addToDivergence(table.outputs[at], outputs[at + 1].data(),
                        outputs[at].data(), traces[index].alone);
      }
    }
    return success();
  };
  return runInParts(variants, traces, chosen, run);
}

std::vector<size_t> rankByOwnError(ArrayRef<NodeTrace> traces) {
  std::vector<std::pair<double, size_t>> ranked;
  for (auto [i, trace] : enumerate(traces)) {
    ranked.emplace_back(-trace.getOwnError(), i);
  }
  sort(ranked);
  return std::vector<size_t>(make_second_range(ranked).begin(),
                             make_second_range(ranked).end());
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string printRange(const tune::ValueRange &range) {
  std::string text;
  raw_string_ostream os(text);
  os << format("%8.1e %8.1e", std::isinf(range.smallest) ? 0 : range.smallest,
               range.largest);
  if (range.infinities) {
    os << ' ' << range.infinities << " inf";
  }
  if (range.nans) {
    os << ' ' << range.nans << " nan";
  }
  return text;
}

void printTraces(ArrayRef<NodeTrace> traces, ArrayRef<size_t> order,
                 raw_ostream &os) {
  os << "     rel     alone   max abs    cosine  type  fp32: min|x|   max  "
        "mixed: min|x|   max   node (operator)\n";
  for (size_t index : order) {
    const NodeTrace &trace = traces[index];
    const tune::Divergence &divergence = trace.divergence;
    os << format("%8.2e %9.2e %9.2e %9.2e  %-4s  ",
                 divergence.getError(tune::Metric::Relative),
                 trace.getOwnError(),
                 divergence.getError(tune::Metric::Maximum),
                 divergence.getError(tune::Metric::Cosine), trace.type.c_str())
       << printRange(divergence.getExpectedRange()) << "   "
       << printRange(divergence.getGotRange()) << "   " << trace.print() << " ("
       << trace.op << ")\n";
  }
}

json::Value toJson(double number) {
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number > 0 ? "inf" : "-inf";
  }
  return number;
}

static json::Value toJson(const tune::ValueRange &range) {
  return json::Object{
      {"smallest", std::isinf(range.smallest) ? 0 : range.smallest},
      {"largest", range.largest},
      {"infinities", range.infinities},
      {"nans", range.nans}};
}

static json::Array toJson(ArrayRef<std::string> names) {
  json::Array array;
  for (const std::string &name : names) {
    array.push_back(json::fixUTF8(name));
  }
  return array;
}

json::Value toJson(const NodeTrace &trace) {
  const tune::Divergence &divergence = trace.divergence;
  return json::Object{
      {"nodes", toJson(trace.names)},
      {"paths", toJson(trace.paths)},
      {"op", trace.op},
      {"type", trace.type},
      {"elements", divergence.getCount()},
      {"rel", toJson(divergence.getError(tune::Metric::Relative))},
      {"alone", toJson(trace.getOwnError())},
      {"max", toJson(divergence.getError(tune::Metric::Maximum))},
      {"cosine", toJson(divergence.getError(tune::Metric::Cosine))},
      {"top1", divergence.getError(tune::Metric::TopOne)},
      {"fp32", toJson(divergence.getExpectedRange())},
      {"mixed", toJson(divergence.getGotRange())}};
}

} // namespace ampc::driver
