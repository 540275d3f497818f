//===- RowLoader.h - Rows of a tensor into a tile of shared memory --------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ATTENTION_ROWLOADER_H
#define AMPC_COMPILER_TARGETS_CUDA_ATTENTION_ROWLOADER_H

#include "compiler/Targets/CUDA/Contraction/SharedTile.h"

namespace ampc::cuda {

/// Fills a tile with rows of a matrix in global memory; zeros stand in rows and
/// columns that the matrix lacks. Where its rows lie in memory as they are
/// read, in whole chunks, and the architecture has it, cp.async copies them
/// behind the threads' backs; elsewhere they pass through registers.
class RowLoader {
public:
  struct Matrix {
    mlir::Value tensor; ///< of 16-bit elements
    int64_t rows, columns;
    /// The tensor's index at a row and column of the matrix.
    std::function<llvm::SmallVector<LaneIndex>(mlir::Value row,
                                               LaneIndex column)>
        index;
  };

  RowLoader(CudaEmitter &e, SharedTile &tile, Matrix matrix, int64_t threads,
            mlir::Value thread);

  /// Begins to load the rows from `first` on into the tile `base` bytes
  /// further on, if `condition` (null: always) holds. Copies belong to the
  /// current cp.async group; what passes through registers is returned.
  llvm::SmallVector<mlir::Value> begin(mlir::Value first, mlir::Value base,
                                       mlir::Value condition);
  /// Stores what `begin` returned, if anything.
  void end(mlir::ValueRange chunks, mlir::Value base);

  bool isAsync() const { return async; }
  /// How many `begin` returns.
  int64_t chunksInFlight() const { return async ? 0 : perThread; }
  /// Whether all that was asked for could be emitted.
  bool isComplete() const { return ok; }

private:
  struct Place {
    mlir::Value row, chunk; ///< in the tile
  };
  Place place(int64_t i);
  llvm::SmallVector<LaneIndex> indexOf(mlir::Value row, mlir::Value column,
                                       int64_t lanes);
  void copy(mlir::Value row, mlir::Value local, mlir::Value chunk,
            mlir::Value base, mlir::Value inside);
  mlir::Value fetch(mlir::Value row, mlir::Value column, mlir::Value inside);
  mlir::Value isInside(mlir::Value row, mlir::Value column);

  CudaEmitter &e;
  SharedTile &tile;
  Matrix matrix;
  mlir::Type element;
  int64_t threads, perThread;
  mlir::Value thread;
  bool async = false, partial, ok = true;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ATTENTION_ROWLOADER_H
