//===- GemmView.h - Contractions as products of matrices ------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_GEMMVIEW_H
#define AMPC_COMPILER_TARGETS_CUDA_GEMMVIEW_H

#include "compiler/Targets/CUDA/CudaEmitter.h"
#include <memory>

namespace ampc::cuda {

/// A contraction seen as `batch` products of an m x k by a k x n matrix. Rows
/// are pixels and columns output channels when it is a convolution (implicit
/// im2col); then k counts taps, and channels within a tap.
class GemmView {
public:
  virtual ~GemmView() = default;

  /// The view of `op`; null when the op has a form that is no such product.
  static std::unique_ptr<GemmView> create(mlir::Operation *op);

  /// One of the two matrices.
  struct Operand {
    mlir::Type element; ///< as the op reads it
    /// Whether neighbours along k lie side by side in memory; neighbours along
    /// the other dimension do otherwise.
    bool alongK = true;
    /// `lanes` neighbours never straddle a boundary of memory when the first
    /// is a multiple of it: what this is, at most 8.
    int64_t lanes = 1;
  };
  Operand left, right;

  /// `count` elements of the left matrix from (row, kk) on along the
  /// contiguous dimension, in the compute type; zeros in a convolution's
  /// padding. The position must be inside the matrix.
  virtual mlir::FailureOr<mlir::Value>
  leftElements(CudaEmitter &e, mlir::Value batch, mlir::Value row,
               mlir::Value kk, int64_t count) = 0;
  virtual mlir::FailureOr<mlir::Value>
  rightElements(CudaEmitter &e, mlir::Value batch, mlir::Value kk,
                mlir::Value column, int64_t count) = 0;

  /// The index of the result's element at (batch, row, column).
  virtual llvm::SmallVector<mlir::Value> resultIndex(CudaEmitter &e,
                                                     mlir::Value batch,
                                                     mlir::Value row,
                                                     mlir::Value column) = 0;

  mlir::Value result; ///< of the root op
  mlir::Value bias;   ///< may be null
  int64_t batch = 1, m = 0, n = 0, k = 0;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_GEMMVIEW_H
