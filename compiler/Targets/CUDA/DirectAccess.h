//===- DirectAccess.h - Elements that lie in memory as an op reads them ---===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_DIRECTACCESS_H
#define AMPC_COMPILER_TARGETS_CUDA_DIRECTACCESS_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// Neighbouring elements of a kernel argument.
struct DirectAccess {
  mlir::BlockArgument argument;
  mlir::Value offset; ///< of the first, in elements

  /// The elements' address in global memory.
  mlir::Value pointer(CudaEmitter &e) const;
};

/// Where the `lanes` elements of `tensor` at `index` lie, when nothing but
/// views stands between it and a kernel argument and they are neighbours there.
std::optional<DirectAccess> findDirectAccess(CudaEmitter &e, mlir::Value tensor,
                                             llvm::ArrayRef<LaneIndex> index,
                                             int64_t lanes);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_DIRECTACCESS_H
