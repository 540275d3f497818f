//===- StridedView.h - Tensors that are arguments in another order --------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_STRIDEDVIEW_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_STRIDEDVIEW_H

#include "dialects/Amp/IR/AmpOps.h"
#include <optional>

namespace ampc::cuda {

/// A tensor in a kernel as an argument of it with strides: what is left of
/// transposes, and of reshapes of all of the argument.
struct StridedView {
  mlir::BlockArgument argument;
  llvm::SmallVector<int64_t> sizes, strides; ///< elements

  /// Nothing when `tensor` is computed, or has no strides.
  static std::optional<StridedView> create(mlir::Value tensor);
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_STRIDEDVIEW_H
