//===- Measurement.cpp - What the tables of bench have in common ----------===//
#include "compiler/Driver/Measurement.h"

#include "compiler/Driver/TensorData.h"
#include "runtime/program/option_table.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdio>

using namespace llvm;

namespace ampc::driver {

LogicalResult ProgramOptions::parse(const Options &options,
                                    DiagnosticSink &sink) {
  texts = {"ampc", "bench"};
  if (options.train) {
    texts.push_back("--step");
  }
  texts.insert(texts.end(), options.programArgs.begin(),
               options.programArgs.end());
  SmallVector<char *> argv;
  for (std::string &text : texts) {
    argv.push_back(text.data());
  }
  return reportStatus(
      runtime::parseOptions(static_cast<int>(argv.size()), argv.data(),
                            options.train ? &runtime::trainingOptions : nullptr,
                            &parsed),
      sink);
}

double takeMedian(std::vector<double> &numbers) {
  auto middle = numbers.begin() + numbers.size() / 2;
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

static std::optional<uint64_t> readStatus(StringRef key) {
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

ResidentMemory::ResidentMemory() {
  if (std::FILE *file = std::fopen("/proc/self/clear_refs", "w")) {
    // 5 resets the peak.
    bool isWritten = std::fputs("5", file) >= 0;
    isReset = std::fclose(file) == 0 && isWritten;
  }
  before = readStatus("VmRSS:");
}

std::optional<uint64_t> ResidentMemory::getGrowth() const {
  std::optional<uint64_t> peak = readStatus("VmHWM:");
  if (!isReset || !before || !peak) {
    return std::nullopt;
  }
  return *peak - std::min(*peak, *before);
}

uint64_t countWorkspace(ampc_session session) {
  const ampc_program &program = *ampc_session_program(session);
  uint64_t scratch = 0;
  for (const ampc_kernel_desc &kernel :
       ArrayRef(program.kernels, program.num_kernels)) {
    scratch = std::max(scratch, kernel.scratch_bytes);
  }
  return alignTo(scratch, AMPC_ALIGNMENT) * ampc_session_num_threads(session);
}

void printColumns(ArrayRef<std::vector<std::string>> rows) {
  std::vector<size_t> widths;
  for (const std::vector<std::string> &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (auto [width, word] : zip(widths, row)) {
      width = std::max(width, word.size());
    }
  }
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (auto [i, word] : enumerate(row)) {
      std::string gap(widths[i] - word.size(), ' ');
      line += i == 0 ? word + gap : "  " + gap + word;
    }
    outs() << StringRef(line).rtrim() << '\n';
  }
  outs().flush();
}

std::string formatMebibytes(uint64_t bytes) {
  return formatv("{0:f3}", bytes / 1048576.0).str();
}

json::Value toJsonNumber(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

} // namespace ampc::driver
