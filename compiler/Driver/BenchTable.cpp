//===- BenchTable.cpp - One model in several precisions -------------------===//
#include "ampc/numerics.h"
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/Jit.h"
#include "compiler/Driver/TensorData.h"
#include "runtime/program/command_line.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace llvm;

namespace ampc::driver {

namespace {

/// What one precision gives.
struct Row {
  std::string amp;
  double medianMs = 0;
  /// Known before anything runs. Workspace is what all threads have together.
  uint64_t weightBytes = 0, activationBytes = 0, workspaceBytes = 0;
  /// What the session and its runs added to this process, with the weights;
  /// absent where the system does not tell.
  std::optional<uint64_t> measuredBytes;
  std::vector<runtime::Tensor> outputs;
};

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The resident memory of this process, now and at its peak since a reset.
class ResidentMemory {
public:
  /// Begins to measure.
  ResidentMemory() {
    if (std::FILE *file = std::fopen("/proc/self/clear_refs", "w")) {
      // 5 resets the peak.
      bool isWritten = std::fputs("5", file) >= 0;
      isReset = std::fclose(file) == 0 && isWritten;
    }
    before = read("VmRSS:");
  }

  /// How far the peak went beyond what there was.
  std::optional<uint64_t> getGrowth() const {
    std::optional<uint64_t> peak = read("VmHWM:");
    if (!isReset || !before || !peak) {
      return std::nullopt;
    }
    return *peak - std::min(*peak, *before);
  }

private:
  static std::optional<uint64_t> read(StringRef key) {
    auto buffer = MemoryBuffer::getFileAsStream("/proc/self/status");
    if (!buffer) {
      return std::nullopt;
    }
    for (StringRef line : split((*buffer)->getBuffer(), '\n')) {
      uint64_t kilobytes;
      if (line.consume_front(key) &&
          !line.trim().split(' ').first.getAsInteger(10, kilobytes)) {
        return kilobytes * 1024;
      }
    }
    return std::nullopt;
  }

  bool isReset = false;
  std::optional<uint64_t> before;
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
  uint64_t scratch = 0;
  for (const ampc_kernel_desc &kernel :
       ArrayRef(program.kernels, program.num_kernels)) {
    scratch = std::max(scratch, kernel.scratch_bytes);
  }
  row.workspaceBytes = alignTo(scratch, AMPC_ALIGNMENT) *
                       ampc_session_num_threads(holder.session);
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

static constexpr const char *rowFormat =
    "%-10s %11s %10s %13s %13s %13s %13s %13s %13s\n";

static void printHeader() {
  std::string titles;
  raw_string_ostream(titles)
      << format(rowFormat, "", "time", "", "memory, MiB", "", "", "", "", "");
  outs() << StringRef(titles).rtrim() << '\n'
         << format(rowFormat, "amp", "median ms", "to fp32", "weights",
                   "activations", "workspace", "peak", "measured",
                   "error to fp32");
}

static void printRow(StringRef amp, const Row &row, const Row &reference) {
  auto mebibytes = [](uint64_t bytes) {
    return formatv("{0:f3}", bytes / 1048576.0).str();
  };
  std::string measured =
      row.measuredBytes ? mebibytes(*row.measuredBytes) : "-";
  uint64_t peak = row.weightBytes + row.activationBytes + row.workspaceBytes;
  outs() << format(
      rowFormat, amp.str().c_str(),
      formatv("{0:f4}", row.medianMs).str().c_str(),
      formatv("{0:f2}x", reference.medianMs / row.medianMs).str().c_str(),
      mebibytes(row.weightBytes).c_str(),
      mebibytes(row.activationBytes).c_str(),
      mebibytes(row.workspaceBytes).c_str(), mebibytes(peak).c_str(),
      measured.c_str(),
      formatv("{0:e2}", getError(row, reference)).str().c_str());
  outs().flush();
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
  if (failed(reportStatus(runtime::parseOptions(argv.size(), argv.data(),
                                                /*training=*/nullptr, &run),
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
  printHeader();
  for (StringRef amp : amps) {
    Row row;
    bool isReference = amp == "off";
    if (!isReference && failed(makeRow(options, amp, run, row, sink))) {
      return failure();
    }
    printRow(amp, isReference ? reference : row, reference);
  }
  outs() << "ampc-bench: PASSED rows=" << amps.size() << '\n';
  return success();
}

} // namespace ampc::driver
