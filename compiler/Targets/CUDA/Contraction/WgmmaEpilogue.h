//===- WgmmaEpilogue.h - From accumulators of wgmma to results ------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_WGMMAEPILOGUE_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_WGMMAEPILOGUE_H

#include "compiler/Targets/CUDA/Contraction/Epilogue.h"
#include "compiler/Targets/CUDA/Contraction/WgmmaTile.h"

namespace ampc::cuda {

/// Hands what a warp has of a tile, rows of 16, over to lanes that each take
/// vectors of a row, through shared memory that only this warp uses: no warp
/// waits for another.
class WgmmaEpilogue {
public:
  /// Where the kernel's epilogue is computed.
  enum class Mode {
    /// On pairs of products as the accumulators hold them; the rounded results
    /// are handed over. For a short epilogue on one 16-bit result, that reads
    /// nothing but vectors of n.
    Fragments,
    Vectors, ///< on eight products of a row, handed over as f32
    Scalars, ///< on one
  };

  WgmmaEpilogue(CudaEmitter &e, GemmView &view, const WgmmaTile &tile,
                Mode mode)
      : e(e), view(view), tile(tile), mode(mode) {}

  /// What the products of one wgmma are of.
  struct Place {
    mlir::Value batch, row, column; ///< of the warp's first product
    mlir::Value warp, lane;         ///< warp: among the consumers'
  };

  /// Emits the epilogue on `acc`, the accumulators of a thread; fails where the
  /// kernel's body has no such form.
  mlir::LogicalResult emit(const Place &place, mlir::ValueRange acc);

private:
  bool suitsFragments();
  void handOver(mlir::Value start, mlir::Value lane, mlir::ValueRange acc);
  mlir::LogicalResult handOverResults(const Place &place, mlir::Value start,
                                      mlir::Value column, mlir::ValueRange acc);
  mlir::FailureOr<mlir::Value> resultPair(const Place &place, mlir::Value row,
                                          mlir::Value column,
                                          mlir::ValueRange pair);
  mlir::LogicalResult finish(const Place &place, mlir::Value start,
                             mlir::Value column);
  mlir::LogicalResult finishVector(const Place &place, mlir::Value row,
                                   mlir::Value column, mlir::Value offset,
                                   mlir::Value start, int64_t lanes);
  void storeResults(const Place &place, mlir::Value start, mlir::Value column);
  /// Builds `body` for each group of eight products that this lane takes of a
  /// part that begins at `column`, unless it lies outside of the result.
  void forEachGroup(const Place &place, mlir::Value firstColumn,
                    llvm::function_ref<void(mlir::Value row, mlir::Value column,
                                            mlir::Value offset)>
                        body);
  mlir::Value offsetOf(mlir::Value row, mlir::Value group);
  mlir::Value startOf(const Place &place, int64_t offset);
  void syncWarp();

  CudaEmitter &e;
  GemmView &view;
  const WgmmaTile &tile;
  Mode mode;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_WGMMAEPILOGUE_H
