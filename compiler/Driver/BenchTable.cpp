//===- BenchTable.cpp - One model in several precisions -------------------===//
#include "ampc/numerics.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/Jit.h"
#include "compiler/Driver/Measurement.h"
#include "compiler/Driver/TensorData.h"
#include "runtime/program/command_line.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace llvm;

namespace ampc::driver {

namespace {

/// What one precision gives.
struct Row {
  std::string amp;
  double medianMs = 0;
  uint32_t numThreads = 0;
  /// Known before anything runs. Workspace is what all threads have together.
  uint64_t weightBytes = 0, activationBytes = 0, workspaceBytes = 0;
  /// What the session and its runs added to this process, with the weights;
  /// absent where the system does not tell.
  std::optional<uint64_t> measuredBytes;
  std::vector<runtime::Tensor> outputs;

  uint64_t getPlannedBytes() const {
    return weightBytes + activationBytes + workspaceBytes;
  }
};

} // namespace

static LogicalResult runOnce(ampc_session session,
                             const runtime::Vec<runtime::Tensor> &inputs,
                             std::vector<runtime::Tensor> &outputs,
                             DiagnosticSink &sink) {
  SmallVector<const void *> from;
  SmallVector<void *> to;
  for (const runtime::Tensor &tensor : inputs) {
    from.push_back(tensor.data.data());
  }
  for (runtime::Tensor &tensor : outputs) {
    to.push_back(tensor.data.data());
  }
  return reportStatus(
      runtime::Status(ampc_session_run(session, from.data(), to.data())), sink);
}

static LogicalResult measure(const ampc_program &program,
                             const runtime::Options &run, Row &row,
                             DiagnosticSink &sink) {
  runtime::Vec<runtime::Tensor> inputs;
  if (failed(reportStatus(
          gatherInputs(program, run, runtime::Missing::Fill, &inputs), sink))) {
    return failure();
  }
  row.outputs.resize(program.num_outputs);
  for (auto [i, tensor] : enumerate(row.outputs)) {
    const ampc_tensor_desc &desc = program.outputs[i];
    tensor.dtype = desc.dtype;
    for (int64_t dim : ArrayRef(desc.dims, desc.rank)) {
      tensor.dims.push(dim);
    }
    if (failed(reportStatus(tensor.data.allocate(desc.bytes), sink))) {
      return failure();
    }
    std::memset(tensor.data.data(), 0, desc.bytes);
  }
  ResidentMemory resident;
  runtime::SessionHolder holder;
  if (failed(reportStatus(openSession(program, run, &holder), sink))) {
    return failure();
  }
  row.weightBytes = program.weights_bytes;
  row.activationBytes = program.arena_bytes.fixed;
  row.workspaceBytes = countWorkspace(holder.session);
  row.numThreads = ampc_session_num_threads(holder.session);
  Stopwatch warmUp;
  do {
    if (failed(runOnce(holder.session, inputs, row.outputs, sink))) {
      return failure();
    }
  } while (warmUp.getSeconds() * 1e3 < run.warmUpMs);
  std::vector<double> times;
  Stopwatch all;
  while (times.size() < run.iterations || all.getSeconds() < run.durationS) {
    Stopwatch one;
    if (failed(runOnce(holder.session, inputs, row.outputs, sink))) {
      return failure();
    }
    times.push_back(one.lap());
  }
  row.medianMs = takeMedian(times);
  if (std::optional<uint64_t> growth = resident.getGrowth()) {
    row.measuredBytes = *growth + program.weights_bytes;
  }
  return success();
}

static LogicalResult makeRow(const Options &options, StringRef amp,
                             const runtime::Options &run, Row &row,
                             DiagnosticSink &sink) {
  Options one = options;
  one.amp = amp.str();
  row.amp = amp.str();
  Compilation compilation(one, sink);
  if (failed(compilation.open()) || failed(compilation.run(Phase::Memory))) {
    return failure();
  }
  std::unique_ptr<LoadedProgram> program = LoadedProgram::load(compilation);
  return program ? measure(program->get(), run, row, sink) : failure();
}

/// The largest relative Frobenius error of the float outputs.
static double getError(const Row &row, const Row &reference) {
  double error = 0;
  for (auto [got, expected] : zip_equal(row.outputs, reference.outputs)) {
    ampc_tensor_desc desc{};
    desc.dtype = got.dtype;
    desc.rank = got.dims.size();
    desc.dims = got.dims.data();
    desc.bytes = got.data.size();
    Tolerance any;
    any.bound = {tune::Metric::Relative,
                 std::numeric_limits<double>::infinity()};
    error = std::max(
        error, compareTensors(desc, got.data.data(), expected, any).frobenius);
  }
  return error;
}

static void printTable(ArrayRef<const Row *> shown, const Row &reference) {
  std::vector<std::vector<std::string>> rows = {
      {"", "time", "", "memory, MiB"},
      {"amp", "median ms", "to fp32", "weights", "activations", "workspace",
       "peak", "measured", "error to fp32"}};
  for (const Row *row : shown) {
    rows.push_back(
        {row->amp, formatv("{0:f4}", row->medianMs).str(),
         formatv("{0:f2}x", reference.medianMs / row->medianMs).str(),
         formatMebibytes(row->weightBytes),
         formatMebibytes(row->activationBytes),
         formatMebibytes(row->workspaceBytes),
         formatMebibytes(row->getPlannedBytes()),
         row->measuredBytes ? formatMebibytes(*row->measuredBytes) : "-",
         formatv("{0:e2}", getError(*row, reference)).str()});
  }
  printColumns(rows);
  outs() << "ampc-bench: PASSED rows=" << shown.size() << '\n';
}

static void printJson(const Options &options, ArrayRef<const Row *> shown,
                      const Row &reference) {
  json::Array rows;
  for (const Row *row : shown) {
    rows.push_back(json::Object{
        {"amp", row->amp},
        {"median_ms", row->medianMs},
        {"speedup", reference.medianMs / row->medianMs},
        {"memory",
         json::Object{{"weights", row->weightBytes},
                      {"activations", row->activationBytes},
                      {"workspace", row->workspaceBytes},
                      {"sum", row->getPlannedBytes()},
                      {"measured", row->measuredBytes
                                       ? json::Value(*row->measuredBytes)
                                       : json::Value(nullptr)}}},
        {"error", toJsonNumber(getError(*row, reference))}});
  }
  outs() << formatv("{0:2}\n", json::Value(json::Object{
                                   {"version", 1},
                                   {"kind", "inference"},
                                   {"model", json::fixUTF8(options.model)},
                                   {"threads", reference.numThreads},
                                   {"rows", std::move(rows)}}));
}

LogicalResult benchTableCommand(const Options &options, DiagnosticSink &sink) {
  ProgramOptions run;
  if (failed(run.parse(options, sink))) {
    return failure();
  }
  SmallVector<StringRef> amps;
  StringRef(options.amp).split(amps, ',');
  // Errors and ratios are against fp32, asked for or not.
  std::vector<std::unique_ptr<Row>> all;
  auto addRow = [&](StringRef amp) {
    all.push_back(std::make_unique<Row>());
    return makeRow(options, amp, run.get(), *all.back(), sink);
  };
  if (failed(addRow("off"))) {
    return failure();
  }
  SmallVector<const Row *> shown;
  for (StringRef amp : amps) {
    if (amp != "off" && failed(addRow(amp))) {
      return failure();
    }
    shown.push_back(amp == "off" ? all.front().get() : all.back().get());
  }
  if (options.json) {
    printJson(options, shown, *all.front());
  } else {
    printTable(shown, *all.front());
  }
  return success();
}

} // namespace ampc::driver
