//===- KernelHarness.h - Kernels against the reference evaluator ----------===//
#ifndef AMPC_TEST_UNIT_CUDA_KERNELHARNESS_H
#define AMPC_TEST_UNIT_CUDA_KERNELHARNESS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <ostream>
#include <string>
#include <vector>

namespace ampc::test {

/// With all dialects.
mlir::MLIRContext &getContext();

struct Case {
  std::string name;
  std::string kernel; ///< arguments and body, with one result
  double tolerance = 2e-3;
  bool needsAmpere = false;       ///< bf16
  std::vector<int64_t> tile = {}; ///< that the kernel asks for
  uint64_t seed = 0;              ///< of the order in which threads run
};

inline void PrintTo(const Case &test, std::ostream *os) { *os << test.name; }

/// A module of one kernel, from its arguments on.
mlir::OwningOpRef<mlir::ModuleOp> parseKernel(const std::string &text);

/// Emits the kernel for architecture `name`, of compute capability `arch`, runs
/// it in the simulator with its detectors on and compares.
void run(const Case &test, const char *name, unsigned arch);

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_CUDA_KERNELHARNESS_H
