//===- DataSet.cpp - The inputs of a run ----------------------------------===//
#include "compiler/Driver/DataSet.h"

#include "ampc/numerics.h"
#include "compiler/Driver/Compilation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace llvm;

namespace ampc::driver {

LogicalResult readDataSet(const Compilation &compilation,
                          const ampc_program &program, StringRef folder,
                          DataSet &set, DiagnosticSink &sink) {
  // Files count the model's inputs; those bound at compile time are no inputs
  // of the program.
  std::vector<std::string> names = compilation.getGraphInputs();
  set.name = folder.str();
  for (uint32_t i = 0; i < program.num_inputs; ++i) {
    const ampc_tensor_desc &desc = program.inputs[i];
    size_t index = llvm::find(names, desc.name) - names.begin();
    if (index == names.size()) {
      index = i; // a model given as MLIR
    }
    std::optional<std::string> file = findDataFile(folder, "input", index);
    if (!file) {
      return sink.error(ExitCode::InputOutput,
                        "'" + folder + "' holds no input_" + Twine(index) +
                            ".pb or .npy for the input '" + desc.name + "'");
    }
    runtime::Tensor tensor;
    runtime::Str note;
    if (failed(readTensor(*file, tensor, sink)) ||
        failed(reportStatus(runtime::convertToInput(desc, &tensor, &note),
                            sink))) {
      return failure();
    }
    set.inputs.push_back(std::move(tensor));
  }
  return success();
}

LogicalResult readDataSets(const Compilation &compilation,
                           const ampc_program &program, StringRef folder,
                           std::vector<DataSet> &sets, DiagnosticSink &sink) {
  std::vector<std::string> folders = findDataSets(folder);
  if (folders.empty()) {
    return sink.error(ExitCode::InputOutput,
                      "'" + folder +
                          "' holds neither input_0 (.pb, .npy) nor "
                          "test_data_set_0");
  }
  for (const std::string &one : folders) {
    if (failed(readDataSet(compilation, program, one, sets.emplace_back(),
                           sink))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Made-up inputs
//===----------------------------------------------------------------------===//

namespace {

/// SplitMix64, and numbers made from it.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Of mean 0 and deviation 1.
  double nextNormal() {
    double radius =
        std::sqrt(-2 * std::log((next() >> 11) * 0x1p-53 + 0x1p-54));
    return radius * std::cos(6.283185307179586 * (next() >> 11) * 0x1p-53);
  }

private:
  uint64_t state;
};

} // namespace

static void writeFloat(uint32_t dtype, double value, uint8_t *to) {
  switch (dtype) {
  case AMPC_DTYPE_F64:
    std::memcpy(to, &value, sizeof(value));
    return;
  case AMPC_DTYPE_F16: {
    uint16_t bits = ampc_f64_to_f16(value);
    std::memcpy(to, &bits, sizeof(bits));
    return;
  }
  case AMPC_DTYPE_BF16: {
    uint16_t bits = ampc_f64_to_bf16(value);
    std::memcpy(to, &bits, sizeof(bits));
    return;
  }
  default: {
    float narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, sizeof(narrow));
    return;
  }
  }
}

static LogicalResult makeTensor(uint32_t dtype, ArrayRef<int64_t> dims,
                                uint64_t bytes, runtime::Tensor &tensor,
                                DiagnosticSink &sink) {
  tensor.dtype = dtype;
  for (int64_t dim : dims) {
    tensor.dims.push(dim);
  }
  return reportStatus(tensor.data.allocate(bytes), sink);
}

static void fill(const ampc_tensor_desc &desc, Random &random,
                 runtime::Tensor &tensor) {
  size_t size = ampc_dtype_size(desc.dtype);
  uint64_t count = desc.bytes / size;
  uint64_t row = desc.rank == 0 ? 1 : desc.dims[desc.rank - 1];
  StringRef name = desc.name;
  bool isMask = name.contains("mask"), isType = name.contains("type");
  for (uint64_t i = 0; i < count; ++i) {
    uint8_t *to = tensor.data.data() + i * size;
    if (runtime::isFloat(desc.dtype)) {
      writeFloat(desc.dtype, random.nextNormal(), to);
      continue;
    }
    uint64_t at = i % row;
    uint64_t value = isMask                          ? at < row - row / 5
                     : isType                        ? at >= row / 2
                     : desc.dtype == AMPC_DTYPE_BOOL ? 1
                                                     : random.next() >> 60;
    std::memcpy(to, &value, size); // little-endian
  }
}

LogicalResult makeDataSet(const ampc_program &program, uint64_t seed,
                          DataSet &set, DiagnosticSink &sink) {
  set.name = "seed " + std::to_string(seed);
  for (uint32_t i = 0; i < program.num_inputs; ++i) {
    const ampc_tensor_desc &desc = program.inputs[i];
    runtime::Tensor tensor;
    if (failed(makeTensor(desc.dtype, ArrayRef(desc.dims, desc.rank),
                          desc.bytes, tensor, sink))) {
      return failure();
    }
    // Inputs differ from each other whatever their order.
    Random random(seed ^ xxh3_64bits(StringRef(desc.name)));
    fill(desc, random, tensor);
    set.inputs.push_back(std::move(tensor));
  }
  return success();
}

LogicalResult varyDataSet(const DataSet &set, uint64_t seed, DataSet &varied,
                          DiagnosticSink &sink) {
  varied.name = set.name + ", varied";
  Random random(seed);
  for (const runtime::Tensor &from : set.inputs) {
    runtime::Tensor tensor;
    if (failed(makeTensor(from.dtype,
                          ArrayRef(from.dims.data(), from.dims.size()),
                          from.data.size(), tensor, sink))) {
      return failure();
    }
    std::copy_n(from.data.data(), from.data.size(), tensor.data.data());
    if (runtime::isFloat(from.dtype)) {
      size_t size = ampc_dtype_size(from.dtype);
      uint64_t count = from.data.size() / size;
      double squares = 0;
      for (uint64_t i = 0; i < count; ++i) {
        double value = readFloat(from.dtype, from.data.data(), i);
        squares += std::isfinite(value) ? value * value : 0;
      }
      double noise = count ? 0.1 * std::sqrt(squares / count) : 0;
      for (uint64_t i = 0; i < count; ++i) {
        writeFloat(from.dtype,
                   readFloat(from.dtype, from.data.data(), i) +
                       noise * random.nextNormal(),
                   tensor.data.data() + i * size);
      }
    }
    varied.inputs.push_back(std::move(tensor));
  }
  return success();
}

std::string hashDataSets(ArrayRef<DataSet> sets) {
  SHA256 hash;
  auto addNumber = [&](uint64_t number) {
    hash.update(
        ArrayRef(reinterpret_cast<const uint8_t *>(&number), sizeof(number)));
  };
  for (const DataSet &set : sets) {
    addNumber(set.inputs.size());
    for (const runtime::Tensor &tensor : set.inputs) {
      addNumber(tensor.dtype);
      addNumber(tensor.dims.size());
      for (int64_t dim : ArrayRef(tensor.dims.data(), tensor.dims.size())) {
        addNumber(dim);
      }
      hash.update(ArrayRef(tensor.data.data(), tensor.data.size()));
    }
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

} // namespace ampc::driver
