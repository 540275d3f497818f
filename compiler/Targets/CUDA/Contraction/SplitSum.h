//===- SplitSum.h - Sums whose depth several blocks share -----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SPLITSUM_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SPLITSUM_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// Ordered split-K: `parts` blocks sum up a tile, each over its part of k. A
/// block waits until the part before has left its sums in the workspace, adds
/// its own, and passes on or, if it is the last, goes on to the epilogue. The
/// order of additions is always the same, and a block waits only for one of a
/// lower number, which the GPU has started before.
///
/// A flag for each tile counts the parts that are done. It is 0 between
/// launches: the workspace begins so, and the last part sees to it.
class SplitSum {
public:
  /// Flags stand at the start of the workspace, where no kernel keeps sums.
  static constexpr int64_t maxTiles = 1024;

  /// For tiles of `elements` sums of type `type`.
  SplitSum(CudaEmitter &e, int64_t parts, int64_t elements, mlir::Type type)
      : e(e), parts(parts), elements(elements), type(type) {}

  /// Asks for the workspace of `tiles` tiles.
  void reserve(int64_t tiles);

  /// This block is part `part` of tile number `tile`.
  void begin(mlir::Value tile, mlir::Value part);

  /// Waits for the part before; a barrier of the block.
  void wait();

  /// `sums`, which lie at element `offset` of the tile, and those of the parts
  /// before.
  mlir::Value add(mlir::Value sums, mlir::Value offset);

  /// Builds `last` for the last part; the others leave `sums` for the next one.
  void passOn(mlir::Value sums, mlir::Value offset,
              llvm::function_ref<void()> last);

  /// Lets the next part go on; a barrier of the block.
  void signal();

private:
  mlir::Value number(int64_t value);

  CudaEmitter &e;
  int64_t parts, elements;
  mlir::Type type;
  mlir::Value part; ///< as i32
  mlir::Value isFirst, isLast;
  mlir::Value flag, kept; ///< pointers
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_SPLITSUM_H
