//===- TensorData.cpp - Tensors of a data set, and their comparison -------===//
#include "compiler/Driver/TensorData.h"

#include "ampc/numerics.h"
#include "compiler/Import/Import.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace ampc::driver {

LogicalResult reportStatus(const runtime::Status &status, DiagnosticSink &sink,
                           StringRef where) {
  if (status.ok()) {
    return success();
  }
  // The runtime's codes are the exit codes.
  return sink.error(static_cast<ExitCode>(status.code()), status.message(), "",
                    where);
}

std::optional<std::string> findDataFile(StringRef folder, StringRef kind,
                                        size_t index) {
  for (StringRef extension : {".pb", ".npy"}) {
    SmallString<256> path(folder);
    sys::path::append(path, kind + "_" + Twine(index) + extension);
    if (fs::exists(path)) {
      return std::string(path);
    }
  }
  return std::nullopt;
}

std::vector<std::string> findDataSets(StringRef folder) {
  if (findDataFile(folder, "input", 0) || findDataFile(folder, "output", 0)) {
    return {folder.str()};
  }
  std::vector<std::string> sets;
  for (unsigned i = 0;; ++i) {
    SmallString<256> path(folder);
    sys::path::append(path, "test_data_set_" + Twine(i));
    if (!fs::is_directory(path)) {
      return sets;
    }
    sets.push_back(std::string(path));
  }
}

LogicalResult readTensor(StringRef path, runtime::Tensor &tensor,
                         DiagnosticSink &sink) {
  runtime::Vec<runtime::Tensor> tensors;
  if (failed(reportStatus(
          runtime::readTensors(path.str().c_str(), {}, &tensors), sink))) {
    return failure();
  }
  if (tensors.size() != 1) {
    return sink.error(ExitCode::Invalid, "'" + path +
                                             "': expected one tensor, got " +
                                             Twine(tensors.size()));
  }
  tensor = std::move(tensors[0]);
  return success();
}

LogicalResult readBoundInput(StringRef path, importer::BoundInput &bound,
                             DiagnosticSink &sink) {
  runtime::Tensor tensor;
  if (failed(readTensor(path, tensor, sink))) {
    return failure();
  }
  if (tensor.dtype == runtime::dtypeRaw16) {
    tensor.dtype = AMPC_DTYPE_BF16;
  }
  bound.elementType = static_cast<int32_t>(tensor.dtype);
  bound.shape.assign(tensor.dims.begin(), tensor.dims.end());
  bound.bytes.assign(reinterpret_cast<const char *>(tensor.data.data()),
                     tensor.data.size());
  return success();
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

double readFloat(uint32_t dtype, const uint8_t *data, uint64_t index) {
  switch (dtype) {
  case AMPC_DTYPE_F64:
    return runtime::loadLE<double>(data + 8 * index);
  case AMPC_DTYPE_F16:
    return ampc_f16_to_f64(runtime::loadLE<uint16_t>(data + 2 * index));
  case AMPC_DTYPE_BF16:
    return ampc_bf16_to_f64(runtime::loadLE<uint16_t>(data + 2 * index));
  default:
    return runtime::loadLE<float>(data + 4 * index);
  }
}

tune::Divergence makeDivergence(const ampc_tensor_desc &desc) {
  return tune::Divergence(desc.rank == 0 ? 1 : desc.dims[desc.rank - 1]);
}

void addToDivergence(const ampc_tensor_desc &desc, const uint8_t *got,
                     const uint8_t *expected, tune::Divergence &divergence) {
  uint64_t count = desc.bytes / ampc_dtype_size(desc.dtype);
  for (uint64_t i = 0; i < count; ++i) {
    divergence.add(readFloat(desc.dtype, got, i),
                   readFloat(desc.dtype, expected, i));
  }
}

static std::string printShape(ArrayRef<int64_t> dims) {
  return "[" +
         join(map_range(dims, [](int64_t dim) { return std::to_string(dim); }),
              ", ") +
         "]";
}

static std::string printIndex(uint64_t flat, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> index(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    index[i] = flat % dims[i];
    flat /= dims[i];
  }
  return printShape(index);
}

static void compareFloats(const ampc_tensor_desc &desc, const uint8_t *got,
                          const uint8_t *expected, uint64_t count,
                          const Tolerance &tolerance, Comparison &result) {
  tune::Divergence divergence = makeDivergence(desc);
  uint64_t first = 0;
  for (uint64_t i = 0; i < count; ++i) {
    double is = readFloat(desc.dtype, got, i);
    double wanted = readFloat(desc.dtype, expected, i);
    bool isEqual = divergence.add(is, wanted);
    if (isEqual && !tolerance.bound && std::isfinite(wanted)) {
      isEqual = std::fabs(is - wanted) <=
                tolerance.atol + tolerance.rtol * std::fabs(wanted);
    }
    if (!isEqual && result.mismatches++ == 0) {
      first = i;
    }
  }
  result.maxAbsolute = divergence.getFiniteMaximum();
  result.maxRelative = divergence.getFiniteMaximumRelative();
  result.frobenius = divergence.getFiniteRelative();
  bool isTopOne =
      tolerance.bound && tolerance.bound->metric == tune::Metric::TopOne;
  if (result.mismatches != 0 && !isTopOne) {
    raw_string_ostream os(result.problem);
    os << result.mismatches << " of " << count << " elements differ; at "
       << printIndex(first, ArrayRef(desc.dims, desc.rank))
       << format(": expected %.9g, got %.9g",
                 readFloat(desc.dtype, expected, first),
                 readFloat(desc.dtype, got, first));
  } else if (tolerance.bound) {
    double error = divergence.getError(tolerance.bound->metric);
    if (!(error <= tolerance.bound->value)) {
      result.problem = formatv("expected a {0} of at most {1:e2}, got {2:e2}",
                               tune::describeMetric(tolerance.bound->metric),
                               tolerance.bound->value, error);
    }
  }
}

static void compareExactly(const ampc_tensor_desc &desc, const uint8_t *got,
                           const uint8_t *expected, uint64_t count,
                           Comparison &result) {
  size_t width = ampc_dtype_size(desc.dtype);
  uint64_t first = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (std::memcmp(got + i * width, expected + i * width, width) != 0 &&
        result.mismatches++ == 0) {
      first = i;
    }
  }
  if (result.mismatches == 0) {
    return;
  }
  auto print = [&](const uint8_t *data) {
    uint64_t bits = 0;
    std::memcpy(&bits, data + first * width, width);
    bool isSigned =
        desc.dtype == AMPC_DTYPE_I8 || desc.dtype == AMPC_DTYPE_I16 ||
        desc.dtype == AMPC_DTYPE_I32 || desc.dtype == AMPC_DTYPE_I64;
    return isSigned ? std::to_string(SignExtend64(bits, 8 * width))
                    : std::to_string(bits);
  };
  result.problem =
      formatv("{0} of {1} elements differ; at {2}: expected {3}, got {4}",
              result.mismatches, count,
              printIndex(first, ArrayRef(desc.dims, desc.rank)),
              print(expected), print(got));
}

Comparison compareTensors(const ampc_tensor_desc &desc, const uint8_t *got,
                          const runtime::Tensor &expected,
                          const Tolerance &tolerance) {
  Comparison result;
  uint32_t dtype =
      expected.dtype == runtime::dtypeRaw16 ? AMPC_DTYPE_BF16 : expected.dtype;
  ArrayRef<int64_t> dims(desc.dims, desc.rank);
  ArrayRef<int64_t> expectedDims(expected.dims.data(), expected.dims.size());
  if (dtype != desc.dtype) {
    result.problem =
        formatv("expected elements of {0}, got {1}", ampc_dtype_name(dtype),
                ampc_dtype_name(desc.dtype));
  } else if (dims != expectedDims) {
    result.problem = "expected the shape " + printShape(expectedDims) +
                     ", got " + printShape(dims);
  } else {
    uint64_t count = desc.bytes / ampc_dtype_size(desc.dtype);
    if (runtime::isFloat(desc.dtype)) {
      compareFloats(desc, got, expected.data.data(), count, tolerance, result);
    } else {
      compareExactly(desc, got, expected.data.data(), count, result);
    }
  }
  return result;
}

} // namespace ampc::driver
