//===- SharedTile.h - A block of a matrix in shared memory ----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_SHAREDTILE_H
#define AMPC_COMPILER_TARGETS_CUDA_SHAREDTILE_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// A block of a matrix of 16-bit elements in shared memory, in chunks of 16
/// bytes. The position of a chunk in its row is xored with bits of the row's
/// number, so that the eight rows an ldmatrix reads lie in different banks.
class SharedTile {
public:
  static constexpr int64_t chunkElements = 8;

  /// `major` rows of `minor` neighbouring elements at byte `offset` of the
  /// block's scratch.
  SharedTile(CudaEmitter &e, int64_t offset, int64_t major, int64_t minor)
      : e(e), offset(offset), major(major), minor(minor) {}

  int64_t bytes() const { return major * minor * 2; }
  int64_t chunks() const { return minor / chunkElements; }

  /// Where chunk `chunk` of row `row` lies, `base` bytes further on.
  mlir::Value pointer(mlir::Value base, mlir::Value row, mlir::Value chunk);

  /// Stores a chunk, a vector<4xi32>.
  void store(mlir::Value value, mlir::Value base, mlir::Value row,
             mlir::Value chunk);

  /// The four 8x8 matrices whose rows this warp's threads point at: thread t
  /// names row t % 8 of matrix t / 8. Returns one i32 for each.
  llvm::SmallVector<mlir::Value, 4> loadMatrices(mlir::Value base,
                                                 mlir::Value row,
                                                 mlir::Value chunk,
                                                 bool transposed);

private:
  CudaEmitter &e;
  int64_t offset, major, minor;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_SHAREDTILE_H
