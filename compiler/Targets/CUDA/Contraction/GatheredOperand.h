//===- GatheredOperand.h - im2col of a convolution, by threads ------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_GATHEREDOPERAND_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_GATHEREDOPERAND_H

#include "compiler/Targets/CUDA/Contraction/GemmView.h"
#include "compiler/Targets/CUDA/Contraction/StridedView.h"
#include "compiler/Targets/CUDA/Contraction/WgmmaTile.h"

namespace ampc::cuda {

/// The left matrix of a convolution, gathered by the threads of a warpgroup in
/// chunks of 16 bytes (cp.async), as blocks that look in shared memory as the
/// copy engine's do: K-major, rows of 128 bytes, the 128-byte swizzle.
class GatheredOperand {
public:
  /// Nothing when the input is computed in the kernel, or channels do not fill
  /// whole chunks.
  static std::optional<GatheredOperand> create(mlir::Operation *op,
                                               const GemmView &view);

  /// Begins the copies of thread `thread`'s chunks of the block at (`row`,
  /// `kk`), `rows` rows, to shared address `to`. What lies outside is zeros.
  void load(CudaEmitter &e, GemmView &view, mlir::Value to, mlir::Value thread,
            mlir::Value row, int64_t rows, mlir::Value kk) const;

private:
  StridedView input;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_GATHEREDOPERAND_H
