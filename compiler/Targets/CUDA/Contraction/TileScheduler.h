//===- TileScheduler.h - Tiles that a persistent block takes --------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TILESCHEDULER_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TILESCHEDULER_H

#include "compiler/Targets/CUDA/Contraction/Epilogue.h"
#include "compiler/Targets/CUDA/Contraction/WgmmaTile.h"

namespace ampc::cuda {

/// Which tiles of the result a block computes, in the same order for all of its
/// warpgroups.
class TileScheduler {
public:
  TileScheduler(CudaEmitter &e, const GemmView &view, const WgmmaTile &tile)
      : e(e), view(view), tile(tile) {}

  int64_t blocks() const {
    return countBlocks(tile, sizeOf(view), e.architecture);
  }

  using Carried = llvm::SmallVector<mlir::Value>;

  /// Builds `body` for each tile of this block, carrying `init` through.
  Carried forEachTile(
      mlir::ValueRange init,
      llvm::function_ref<Carried(const ResultTile &, mlir::ValueRange)> body);

private:
  static GemmSize sizeOf(const GemmView &view) {
    return {view.batch, view.m, view.n, view.k};
  }
  ResultTile tileAt(mlir::Value number);

  CudaEmitter &e;
  const GemmView &view;
  const WgmmaTile &tile;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TILESCHEDULER_H
