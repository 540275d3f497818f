//===- SliceLoader.h - From global to shared memory -----------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SLICELOADER_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SLICELOADER_H

#include "compiler/Targets/CUDA/Contraction/Epilogue.h"
#include "compiler/Targets/CUDA/Contraction/SharedTile.h"
#include "compiler/Targets/CUDA/DirectAccess.h"

namespace ampc::cuda {

/// Brings the slices of one operand along k to shared memory, in chunks of 16
/// bytes that the threads of a block share out: a slice is `extent` rows of the
/// left matrix (or columns of the right one) by `depth` along k. What lies
/// outside of the matrix is zero there.
class SliceLoader {
public:
  SliceLoader(CudaEmitter &e, GemmView &view, GemmView::Side side,
              SharedTile &shared, int64_t extent, int64_t depth,
              int64_t threads)
      : e(e), view(view), operand(view.operand(side)), side(side),
        shared(shared), extent(extent), depth(depth), threads(threads) {}
  virtual ~SliceLoader() = default;

  /// Begins the loads of slice number `step`, which goes `base` bytes behind
  /// the first. Slices behind the last are zero.
  virtual mlir::LogicalResult fetch(const ResultTile &tile, mlir::Value thread,
                                    mlir::Value step, mlir::Value base) = 0;

  /// Ends what the last fetch began. Between the two the block multiplies.
  virtual void put(mlir::Value base) = 0;

protected:
  /// One chunk of a slice: where it goes, and what comes there.
  struct Chunk {
    mlir::Value row, chunk; ///< in shared memory
    mlir::Value line;       ///< of its first element in the matrix
    GemmView::Depth kk;     ///< the same
    mlir::Value inside;     ///< whether that is in the matrix; null: always
    /// Whether the thread has such a chunk at all; null: always.
    mlir::Value exists;
  };
  int64_t chunksPerThread() const {
    return llvm::divideCeil(shared.bytes() / SharedTile::chunkBytes, threads);
  }
  Chunk locate(int64_t number, const ResultTile &tile, mlir::Value thread,
               mlir::Value step);
  /// Whether slice number `step` is one of the block's.
  mlir::Value isSlice(const ResultTile &tile, mlir::Value step);
  /// Whether element `i` of a chunk that is inside is so too; null: always.
  mlir::Value isInside(const Chunk &chunk, int64_t i);
  /// The place of element `i` of a chunk, and of `count - 1` more behind it.
  GemmView::Place placeOf(const ResultTile &tile, const Chunk &chunk, int64_t i,
                          int64_t count);

  CudaEmitter &e;
  GemmView &view;
  const GemmView::Operand &operand;
  GemmView::Side side;
  SharedTile &shared;
  int64_t extent, depth, threads;
};

/// Through registers: elements are pulled, so whatever the kernel computes on
/// an operand first is computed on the way. Works for any operand.
class RegisterLoader final : public SliceLoader {
public:
  /// With `vectors`, as many elements at once as the operand has side by side.
  RegisterLoader(CudaEmitter &e, GemmView &view, GemmView::Side side,
                 SharedTile &shared, int64_t extent, int64_t depth,
                 int64_t threads, bool vectors)
      : SliceLoader(e, view, side, shared, extent, depth, threads),
        vectors(vectors) {}

  mlir::LogicalResult fetch(const ResultTile &tile, mlir::Value thread,
                            mlir::Value step, mlir::Value base) override;
  void put(mlir::Value base) override;

private:
  mlir::FailureOr<mlir::Value> fetchChunk(const ResultTile &tile,
                                          const Chunk &chunk);

  bool vectors;
  /// What is on its way: chunks, and their values, vector<4xi32> each.
  llvm::SmallVector<std::pair<Chunk, mlir::Value>> fetched;
};

/// By cp.async: threads do not wait for the bytes, which pass no register.
class AsyncLoader final : public SliceLoader {
public:
  /// In copies of `copyBytes` bytes, as `copyBytesOf` has found.
  AsyncLoader(CudaEmitter &e, GemmView &view, GemmView::Side side,
              SharedTile &shared, int64_t extent, int64_t depth,
              int64_t threads, int64_t copyBytes)
      : SliceLoader(e, view, side, shared, extent, depth, threads),
        copyBytes(copyBytes) {}

  /// The bytes that one cp.async can copy of this operand; 0 where it cannot,
  /// since the operand is computed, or its neighbours in memory are too few.
  /// Builds operations to find out, which have to be thrown away.
  int64_t findCopyBytes();

  mlir::LogicalResult fetch(const ResultTile &tile, mlir::Value thread,
                            mlir::Value step, mlir::Value base) override;
  void put(mlir::Value) override {}

private:
  /// An address in a buffer of the kernel.
  std::optional<DirectAccess> sourceOf(const GemmView::Place &place,
                                       int64_t count);
  mlir::LogicalResult copyChunk(const ResultTile &tile, const Chunk &chunk,
                                mlir::Value base);

  int64_t copyBytes;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SLICELOADER_H
