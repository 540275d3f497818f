//===- WeightSection.h - The constant data of a program -------------------===//
#ifndef AMPC_COMPILER_DRIVER_WEIGHTSECTION_H
#define AMPC_COMPILER_DRIVER_WEIGHTSECTION_H

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

namespace ampc::driver {

/// The weights of a module in the memory phase: where each lies, and how many
/// bytes they take.
class WeightSection {
public:
  explicit WeightSection(mlir::ModuleOp module);

  uint64_t getSize() const { return size; }

  /// Executes the recorded computation of each weight and writes the section,
  /// exactly getSize() bytes with zeros in the gaps. Holds one weight at a
  /// time, and what its computation needs, at most four times `byteLimit`.
  /// Emits an error at an op whose result does not fit into memory.
  llvm::LogicalResult write(llvm::raw_ostream &os, uint64_t byteLimit);

private:
  struct Entry {
    uint64_t offset;
    amp::WeightOp op;
  };

  std::vector<Entry> entries; ///< by offset
  uint64_t size = 0;
};

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_WEIGHTSECTION_H
