//===- Limits.h - What a small file may ask for ---------------------------===//
//
// A few bytes of ONNX can ask for terabytes. These limits hold before anything
// of that size is allocated. The checks emit errors at the op to blame.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_DRIVER_LIMITS_H
#define AMPC_COMPILER_DRIVER_LIMITS_H

#include "mlir/IR/BuiltinOps.h"

namespace ampc::driver {

/// The largest tensor that a program may compute, 1 TiB.
constexpr uint64_t maxTensorBytes = 1ull << 40;

/// Whether each computed tensor of `module` has at most maxTensorBytes.
llvm::LogicalResult checkTensorSizes(mlir::ModuleOp module);

/// The most bytes that the constant section may take, unless the user says
/// more: 1 GiB and four times what the model's own constants take. Packing and
/// widening stay below that.
uint64_t getDefaultWeightLimit(mlir::ModuleOp imported);

/// Whether the weights of a module in the memory phase are within `limit`.
llvm::LogicalResult checkWeightSize(mlir::ModuleOp module, uint64_t limit);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_LIMITS_H
