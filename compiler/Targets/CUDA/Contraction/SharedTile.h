//===- SharedTile.h - A block of a matrix in shared memory ----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SHAREDTILE_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SHAREDTILE_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// A block of a matrix in shared memory, in chunks of 16 bytes. The position of
/// a chunk in its row may be xored with bits of the row's number, so that what
/// a warp reads at once lies in different banks.
class SharedTile {
public:
  static constexpr int64_t chunkBytes = 16;

  enum class Swizzle {
    None,      ///< rows are read along
    FourRows,  ///< two chunks of each of four rows are read at once
    EightRows, ///< a chunk of each of eight rows is read at once (ldmatrix)
  };

  /// `major` rows of `minor` neighbouring elements at byte `offset` of the
  /// block's scratch.
  SharedTile(CudaEmitter &e, int64_t offset, int64_t major, int64_t minor,
             mlir::Type element, Swizzle swizzle)
      : e(e), offset(offset), major(major), minor(minor), type(element),
        swizzle(swizzle) {}

  mlir::Type element() const { return type; }
  int64_t elementBytes() const { return type.getIntOrFloatBitWidth() / 8; }
  int64_t chunkElements() const { return chunkBytes / elementBytes(); }
  int64_t rows() const { return major; }
  int64_t rowBytes() const { return minor * elementBytes(); }
  int64_t bytes() const { return major * rowBytes(); }
  int64_t chunks() const { return rowBytes() / chunkBytes; }

  /// Where chunk `chunk` of row `row` lies, `base` bytes further on; `moreRows`
  /// rows behind, a multiple of those that the swizzle names, cost nothing, nor
  /// do `moreChunks` further on in the row beyond its pattern.
  mlir::Value pointer(mlir::Value base, mlir::Value row, mlir::Value chunk,
                      int64_t moreRows = 0, int64_t moreChunks = 0);

  /// The same of an element.
  mlir::Value elementPointer(mlir::Value base, mlir::Value row,
                             mlir::Value column, int64_t moreRows = 0);

  /// Stores a chunk, a vector<4xi32>.
  void store(mlir::Value value, mlir::Value base, mlir::Value row,
             mlir::Value chunk);

  /// The four 8x8 matrices of 16-bit elements whose rows this warp's threads
  /// point at: thread t names row t % 8 of matrix t / 8. Returns one i32 for
  /// each.
  llvm::SmallVector<mlir::Value, 4> loadMatrices(mlir::Value pointer,
                                                 bool transposed);

private:
  mlir::Value advance(mlir::Value pointer, int64_t bytes);

  CudaEmitter &e;
  int64_t offset, major, minor;
  mlir::Type type;
  Swizzle swizzle;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SHAREDTILE_H
