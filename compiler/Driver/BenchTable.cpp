//===- BenchTable.cpp - One model in several precisions -------------------===//
#include "ampc/numerics.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/Jit.h"
#include "compiler/Driver/TensorData.h"
#include "runtime/program/command_line.h"
#include "llvm/Support/Format.h"

#include <chrono>
#include <cmath>

using namespace llvm;

namespace ampc::driver {

namespace {

/// What one precision gives.
struct Row {
  std::string amp;
  double medianMs = 0;
  uint64_t arenaBytes = 0, weightBytes = 0;
  std::vector<runtime::Tensor> outputs;
};

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

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
  runtime::SessionHolder holder;
  runtime::Vec<runtime::Tensor> inputs;
  if (failed(reportStatus(openSession(program, run, &holder), sink)) ||
      failed(reportStatus(
          gatherInputs(program, run, runtime::Missing::Fill, &inputs), sink))) {
    return failure();
  }
  row.arenaBytes = program.arena_bytes.fixed;
  row.weightBytes = program.weights_bytes;
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
  }
  Clock::time_point start = Clock::now();
  do {
    if (failed(runOnce(holder.session, inputs, row.outputs, sink))) {
      return failure();
    }
  } while (secondsSince(start) * 1e3 < run.warmUpMs);
  std::vector<double> times;
  start = Clock::now();
  while (times.size() < run.iterations || secondsSince(start) < run.durationS) {
    Clock::time_point begin = Clock::now();
    if (failed(runOnce(holder.session, inputs, row.outputs, sink))) {
      return failure();
    }
    times.push_back(secondsSince(begin));
  }
  auto middle = times.begin() + times.size() / 2;
  std::nth_element(times.begin(), middle, times.end());
  row.medianMs = *middle * 1e3;
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

LogicalResult benchTableCommand(const Options &options, DiagnosticSink &sink) {
  std::vector<std::string> args = {"ampc", "bench"};
  args.insert(args.end(), options.programArgs.begin(),
              options.programArgs.end());
  SmallVector<char *> argv;
  for (std::string &arg : args) {
    argv.push_back(arg.data());
  }
  runtime::Options run;
  if (failed(reportStatus(runtime::parseOptions(argv.size(), argv.data(), &run),
                          sink))) {
    return failure();
  }
  SmallVector<StringRef> amps;
  StringRef(options.amp).split(amps, ',');
  // Errors and ratios are against fp32, asked for or not.
  Row reference;
  if (failed(makeRow(options, "off", run, reference, sink))) {
    return failure();
  }
  outs()
      << "amp          median ms   speed-up    arena MiB  weights MiB   error "
         "to fp32\n";
  for (StringRef amp : amps) {
    Row row;
    bool isReference = amp == "off";
    if (!isReference && failed(makeRow(options, amp, run, row, sink))) {
      return failure();
    }
    const Row &shown = isReference ? reference : row;
    outs() << format("%-10s %11.4f %9.2fx %12.3f %12.3f %15.2e\n",
                     amp.str().c_str(), shown.medianMs,
                     reference.medianMs / shown.medianMs,
                     shown.arenaBytes / 1048576.0,
                     shown.weightBytes / 1048576.0, getError(shown, reference));
    outs().flush();
  }
  outs() << "ampc-bench: PASSED rows=" << amps.size() << '\n';
  return success();
}

} // namespace ampc::driver
