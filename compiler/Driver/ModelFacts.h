//===- ModelFacts.h - Counts of an imported model -------------------------===//
#ifndef AMPC_COMPILER_DRIVER_MODELFACTS_H
#define AMPC_COMPILER_DRIVER_MODELFACTS_H

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace ampc::driver {

struct TensorFacts {
  std::string name;
  std::string type; ///< `1x3x224x224xf32`
  uint64_t bytes = 0;
};

/// What a model asks for. A loop counts once; a multiplication and an addition
/// of a contraction are two operations, other ops count one a result element.
struct ModelFacts {
  std::vector<TensorFacts> inputs, outputs;
  uint64_t numParameters = 0; ///< elements of float constants of rank >= 1
  uint64_t parameterBytes = 0;
  uint64_t activationBytes = 0; ///< of all results, without reuse
  uint64_t flops = 0;
  uint64_t numOps = 0;
  std::map<std::string, uint64_t> ops; ///< by name
};

ModelFacts collectFacts(mlir::ModuleOp module);

/// Bytes of a dense tensor.
uint64_t countBytes(mlir::Type type);

/// What `kernel` reads of its argument `index`: all of it, but of the table of
/// a gather no more than it picks.
uint64_t countBytesRead(mlir::Operation *kernel, unsigned index);

/// What collectFacts counts for the ops in the body of `kernel`.
uint64_t countKernelFlops(mlir::Operation *kernel);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_MODELFACTS_H
