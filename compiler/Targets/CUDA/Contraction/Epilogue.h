//===- Epilogue.h - From the sums of a contraction to its results ---------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_EPILOGUE_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_EPILOGUE_H

#include "compiler/Targets/CUDA/Contraction/GemmView.h"

namespace ampc::cuda {

class SplitSum;

/// The part of a contraction's result that a block of threads computes.
struct ResultTile {
  mlir::Value batch, firstRow, firstColumn;
  /// The slice along k behind the block's last; null: there are no more.
  mlir::Value endSlice = {};
};

/// What follows the main loop of any contraction kernel. Threads hold sums in
/// whatever arrangement the matrix instructions leave; each hands over its own
/// through shared memory, and then the block computes bias, activation,
/// residual and casts on whole vectors of a row and stores those.
///
/// A main loop calls `handOver` for all its sums, places a barrier among its
/// `threads` threads, then calls `finish`; at once for the whole tile, or in
/// turn for bands of its rows, with another barrier between.
class ContractionEpilogue {
public:
  /// For bands of `rows` x `columns`, by `threads` threads. With `vectors`, the
  /// epilogue works on eight columns at once; `finish` fails where the kernel's
  /// body has no such form. `offset`: where in the block's scratch the sums
  /// lie.
  ContractionEpilogue(CudaEmitter &e, GemmView &view, int64_t rows,
                      int64_t columns, int64_t threads, bool vectors,
                      int64_t offset = 0)
      : e(e), view(view), rows(rows), columns(columns), threads(threads),
        vectors(vectors), offset(offset) {}

  /// Bytes of scratch that the sums of a band take.
  static int64_t sharedBytes(int64_t rows, int64_t columns,
                             int64_t elementBytes) {
    return rows * stride(columns) * elementBytes;
  }

  /// Puts `sums`, of neighbouring columns, at (row, column) of the band.
  void handOver(mlir::ValueRange sums, mlir::Value row, mlir::Value column);

  /// From now on the sums are those of a part of k.
  void setSplit(SplitSum *sum) { split = sum; }

  using RowMap = llvm::function_ref<mlir::Value(mlir::Value)>;

  /// Computes the results from the sums; `thread` counts the threads that take
  /// part. `rowInTile` says which row of the tile a row of the band is; the
  /// same, unless it is given.
  mlir::LogicalResult finish(const ResultTile &tile, mlir::Value thread,
                             RowMap rowInTile = nullptr);

private:
  /// Elements between rows. Sixteen bytes more than a row, so that neighbouring
  /// rows begin in different banks.
  static int64_t stride(int64_t columns) { return columns + 4; }
  mlir::LogicalResult finishVector(const ResultTile &tile, mlir::Value row,
                                   mlir::Value column, mlir::Value at,
                                   mlir::Value inTile, int64_t lanes);
  mlir::LogicalResult
  finishSums(mlir::Value sums, llvm::ArrayRef<LaneIndex> index, int64_t lanes);
  mlir::Type sumType() const;

  CudaEmitter &e;
  GemmView &view;
  int64_t rows, columns, threads;
  bool vectors;
  int64_t offset;
  SplitSum *split = nullptr;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_EPILOGUE_H
