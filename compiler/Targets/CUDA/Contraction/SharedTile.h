//===- SharedTile.h - A block of a matrix in shared memory ----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SHAREDTILE_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SHAREDTILE_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// A block of a matrix in shared memory, in chunks of 16 bytes. The position of
/// a chunk in its row is xored with bits of the row's number, so that the eight
/// rows an ldmatrix reads lie in different banks.
class SharedTile {
public:
  static constexpr int64_t chunkBytes = 16;

  /// `major` rows of `minor` neighbouring elements at byte `offset` of the
  /// block's scratch.
  SharedTile(CudaEmitter &e, int64_t offset, int64_t major, int64_t minor,
             mlir::Type element)
      : e(e), offset(offset), major(major), minor(minor), type(element) {}

  mlir::Type element() const { return type; }
  int64_t elementBytes() const { return type.getIntOrFloatBitWidth() / 8; }
  int64_t chunkElements() const { return chunkBytes / elementBytes(); }
  int64_t rows() const { return major; }
  int64_t rowBytes() const { return minor * elementBytes(); }
  int64_t bytes() const { return major * rowBytes(); }
  int64_t chunks() const { return rowBytes() / chunkBytes; }

  /// Where chunk `chunk` of row `row` lies, `base` bytes further on.
  mlir::Value pointer(mlir::Value base, mlir::Value row, mlir::Value chunk);

  /// Stores a chunk, a vector<4xi32>.
  void store(mlir::Value value, mlir::Value base, mlir::Value row,
             mlir::Value chunk);

  /// The four 8x8 matrices of 16-bit elements whose rows this warp's threads
  /// point at: thread t names row t % 8 of matrix t / 8. Returns one i32 for
  /// each.
  llvm::SmallVector<mlir::Value, 4> loadMatrices(mlir::Value base,
                                                 mlir::Value row,
                                                 mlir::Value chunk,
                                                 bool transposed);

private:
  CudaEmitter &e;
  int64_t offset, major, minor;
  mlir::Type type;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SHAREDTILE_H
