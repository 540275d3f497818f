//===- TmaOperand.h - Matrices that the copy engine brings ----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TMAOPERAND_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TMAOPERAND_H

#include "compiler/Targets/CUDA/CudaEmitter.h"
#include <optional>

namespace ampc::cuda {

struct StridedView;

/// An operand of a matrix product as an argument of the kernel with strides
/// that a tensor map can describe, and as blocks of `depth` along k in shared
/// memory, in rows of 128 bytes with the 128-byte swizzle (PTX ISA,
/// "Swizzling modes"; the two layouts are those of wgmma's K-major and MN-major
/// matrices).
class TmaOperand {
public:
  static constexpr int64_t depth = 64; ///< of 16-bit elements: a row

  /// The left or right operand of the matmul or convolution `op`; nothing when
  /// it is computed in the kernel, a stride is no multiple of 16 bytes, or a
  /// convolution's windows overlap (im2col).
  static std::optional<TmaOperand> create(mlir::Operation *op, bool isLeft);

  /// Whether rows run along k rather than along m or n.
  bool alongK() const { return inner.isK; }

  /// Adds the map for blocks of `extent` along m or n.
  void addMap(CudaEmitter &e, int64_t extent);

  /// Has the copy engine fetch the block that begins at (`outer`, `kk`) of
  /// `batch` to shared address `to`, and tell `barrier`.
  void load(CudaEmitter &e, mlir::Value to, mlir::Value barrier,
            mlir::Value batch, mlir::Value outer, mlir::Value kk) const;

  /// Brings the map to where the copy engine keeps it.
  void prefetchMap(CudaEmitter &e) const;

  /// Bytes from one m64nNk16 step along k to the next: within a row, or rows.
  static constexpr int64_t rowStepBytes = 32;
  int64_t stepBytes() const { return alongK() ? rowStepBytes : 16 * 128; }
  /// The fixed bits of a block's descriptor (PTX ISA, "Matrix descriptor").
  static uint64_t descriptorBits(bool alongK);

private:
  /// A dimension of the map.
  struct Dimension {
    int64_t size, stride; ///< elements
    bool isK = false;
    int64_t ofBatch = -1; ///< the result's batch dimension that it follows
  };

  static std::optional<Dimension> merge(const StridedView &view,
                                        llvm::ArrayRef<int64_t> dimensions);
  /// Fill in all but the map: `inner` is k at first.
  bool describeMatmul(amp::MatmulOp op, bool isLeft);
  template <typename ConvOp>
  bool describeConv(ConvOp op, bool isLeft);

  mlir::BlockArgument argument;
  Dimension inner, outer;
  llvm::SmallVector<Dimension, 3> batches; ///< of more than one element
  llvm::SmallVector<int64_t> batchShape;   ///< of the result
  int64_t extent = 0;
  mlir::Value map;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TMAOPERAND_H
