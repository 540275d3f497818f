//===- WgmmaEpilogue.h - From accumulators of wgmma to results ------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_WGMMAEPILOGUE_H
#define AMPC_COMPILER_TARGETS_CUDA_WGMMAEPILOGUE_H

#include "compiler/Targets/CUDA/GemmView.h"
#include "compiler/Targets/CUDA/WgmmaTile.h"

namespace ampc::cuda {

/// Hands the products of a warp's 16 rows over to lanes that each take vectors
/// of a row, through shared memory that only this warp uses: no warp waits for
/// another.
class WgmmaEpilogue {
public:
  WgmmaEpilogue(CudaEmitter &e, GemmView &view, const WgmmaTile &tile,
                bool vectors)
      : e(e), view(view), tile(tile), vectors(vectors) {}

  /// What the products of one wgmma are of.
  struct Place {
    mlir::Value batch, row, column; ///< of the warp's first product
    mlir::Value warp, lane;         ///< warp: among the consumers'
  };

  /// Emits the epilogue on `acc`, the accumulators of a thread.
  mlir::LogicalResult emit(const Place &place, mlir::ValueRange acc);

private:
  void handOver(mlir::Value start, mlir::Value lane, mlir::ValueRange acc);
  mlir::LogicalResult finish(const Place &place, mlir::Value start,
                             mlir::Value column);
  mlir::LogicalResult finishVector(const Place &place, mlir::Value row,
                                   mlir::Value column, mlir::Value offset,
                                   mlir::Value start, int64_t lanes);
  mlir::Value offsetOf(mlir::Value row, mlir::Value group);
  void syncWarp();

  CudaEmitter &e;
  GemmView &view;
  const WgmmaTile &tile;
  bool vectors;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_WGMMAEPILOGUE_H
