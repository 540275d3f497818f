//===- TmaOperand.h - Matrices that the copy engine brings ----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_TMAOPERAND_H
#define AMPC_COMPILER_TARGETS_CUDA_TMAOPERAND_H

#include "compiler/Targets/CUDA/CudaEmitter.h"
#include <optional>

namespace ampc::cuda {

/// An operand of a matrix product as an argument of the kernel with strides
/// that a tensor map can describe, and as blocks of `depth` along k in shared
/// memory, in rows of 128 bytes with the 128-byte swizzle (PTX ISA,
/// "Swizzling modes"; the two layouts are those of wgmma's K-major and MN-major
/// matrices).
class TmaOperand {
public:
  static constexpr int64_t depth = 64; ///< of 16-bit elements: a row

  /// The left or right operand of the matmul or convolution `op`; nothing when
  /// it is computed in the kernel or a stride is no multiple of 16 bytes.
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

  /// Bytes from one m64nNk16 step along k to the next, and the fixed bits of
  /// the descriptor of a block of `extent` along m or n (PTX ISA, "Matrix
  /// descriptor").
  int64_t stepBytes() const { return alongK() ? 32 : 2048; }
  uint64_t descriptorBits() const;

private:
  /// A dimension of the map.
  struct Dimension {
    int64_t size, stride; ///< elements
    bool isK = false;
    int64_t ofBatch = -1; ///< the result's batch dimension that it follows
  };

  mlir::BlockArgument argument;
  Dimension inner, outer;
  llvm::SmallVector<Dimension, 3> batches; ///< of more than one element
  llvm::SmallVector<int64_t> batchShape;   ///< of the result
  int64_t extent = 0;
  mlir::Value map;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_TMAOPERAND_H
