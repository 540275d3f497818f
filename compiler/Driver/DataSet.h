//===- DataSet.h - The inputs of a run --------------------------*- C++ -*-===//
#ifndef AMPC_COMPILER_DRIVER_DATASET_H
#define AMPC_COMPILER_DRIVER_DATASET_H

#include "compiler/Driver/TensorData.h"

namespace ampc::driver {

class Compilation;

/// One tensor for each input of a program, and where they come from.
struct DataSet {
  std::string name;
  std::vector<runtime::Tensor> inputs;
};

/// Reads the inputs of `program` from `folder`, where files count the inputs of
/// the model.
llvm::LogicalResult readDataSet(const Compilation &compilation,
                                const ampc_program &program,
                                llvm::StringRef folder, DataSet &set,
                                DiagnosticSink &sink);

/// All data sets below `folder`; an error if there is none.
llvm::LogicalResult readDataSets(const Compilation &compilation,
                                 const ampc_program &program,
                                 llvm::StringRef folder,
                                 std::vector<DataSet> &sets,
                                 DiagnosticSink &sink);

/// Inputs made up from the types alone, equal for equal seeds: floats are
/// normal with mean 0 and deviation 1; integers lie in [0, 16) and booleans are
/// true, but for inputs with `mask` in their names (ones, then a fifth of the
/// last dimension zeros) and with `type` (zeros, then half of it ones).
llvm::LogicalResult makeDataSet(const ampc_program &program, uint64_t seed,
                                DataSet &set, DiagnosticSink &sink);

/// A variation of `set`: to each float, noise of a tenth of the tensor's root
/// mean square is added. Other elements stay.
llvm::LogicalResult varyDataSet(const DataSet &set, uint64_t seed,
                                DataSet &varied, DiagnosticSink &sink);

/// SHA-256 of all tensors: names of the sets left out; types, shapes and bytes
/// in.
std::string hashDataSets(llvm::ArrayRef<DataSet> sets);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_DATASET_H
