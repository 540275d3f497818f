//===- TensorData.h - Tensors of a data set, and their comparison ---------===//
#ifndef AMPC_COMPILER_DRIVER_TENSORDATA_H
#define AMPC_COMPILER_DRIVER_TENSORDATA_H

#include "compiler/Driver/DiagnosticSink.h"
#include "compiler/Tune/Divergence.h"
#include "runtime/io/tensor.h"

namespace ampc::importer {
struct BoundInput;
} // namespace ampc::importer

namespace ampc::driver {

/// Hands a failure of the runtime to the sink; success when there is none.
llvm::LogicalResult reportStatus(const runtime::Status &status,
                                 DiagnosticSink &sink,
                                 llvm::StringRef where = "");

/// `folder/<kind>_<index>.pb` or `.npy`, if there is one.
std::optional<std::string> findDataFile(llvm::StringRef folder,
                                        llvm::StringRef kind, size_t index);

/// `folder` itself if it holds data files, else its test_data_set_N in order.
std::vector<std::string> findDataSets(llvm::StringRef folder);

/// Reads the one tensor of a file.
llvm::LogicalResult readTensor(llvm::StringRef path, runtime::Tensor &tensor,
                               DiagnosticSink &sink);

/// Reads a value that becomes a constant of the program.
llvm::LogicalResult readBoundInput(llvm::StringRef path,
                                   importer::BoundInput &bound,
                                   DiagnosticSink &sink);

/// Element `index` of an array of floats.
double readFloat(uint32_t dtype, const uint8_t *data, uint64_t index);

/// An empty comparison for tensors like `desc`, and the addition of one pair.
tune::Divergence makeDivergence(const ampc_tensor_desc &desc);
void addToDivergence(const ampc_tensor_desc &desc, const uint8_t *got,
                     const uint8_t *expected, tune::Divergence &divergence);

/// How far an output is from what was expected.
struct Comparison {
  double maxAbsolute = 0;  ///< over finite elements
  double maxRelative = 0;  ///< over finite elements, expected not 0
  double frobenius = 0;    ///< ||got - expected|| / ||expected||, finite ones
  uint64_t mismatches = 0; ///< elements out of tolerance
  std::string problem;     ///< empty: equal within the tolerance

  bool isEqual() const { return problem.empty(); }
};

/// Compares the bytes of an output with an expected tensor. Shapes and element
/// types must be equal; integers and booleans exactly, floats within the
/// tolerance, NaN equal to NaN, infinities by sign.
Comparison compareTensors(const ampc_tensor_desc &desc, const uint8_t *got,
                          const runtime::Tensor &expected,
                          const Tolerance &tolerance);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_TENSORDATA_H
