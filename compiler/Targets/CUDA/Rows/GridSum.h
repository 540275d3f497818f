//===- GridSum.h - Reductions whose rows several blocks share -------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ROWS_GRIDSUM_H
#define AMPC_COMPILER_TARGETS_CUDA_ROWS_GRIDSUM_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// `parts` blocks reduce one group of rows, each over its part of them. A block
/// leaves what it found in the workspace and takes a ticket; the one that takes
/// the last finds all of them there, and combines them in their order. So the
/// result does not depend on the order in which blocks run.
///
/// The tickets of a group are 0 between launches: the workspace begins so, and
/// the last block sees to it.
class GridSum {
public:
  /// Of one part, unless `share` says otherwise.
  explicit GridSum(CudaEmitter &e) : e(e) {}

  /// A block reduces `values` rows side by side.
  void share(int64_t partCount, int64_t valueCount) {
    parts = partCount;
    values = valueCount;
  }

  /// Parts worth having of rows of `length` elements, where `blocks` blocks
  /// would have one each and a block takes `step` elements at once.
  static int64_t partsFor(int64_t blocks, int64_t length, int64_t step);

  bool isSplit() const { return parts > 1; }

  /// Asks for the workspace of `groups` groups.
  void reserve(int64_t groups);

  /// This block is part `part` of group number `group`.
  void begin(mlir::Value group, mlir::Value part);

  /// Leaves a value of row `row` of the group.
  void leave(mlir::Value value, mlir::Value row);

  /// Takes a ticket when all threads have left their values; two barriers of
  /// the block. Whether it is the last one, in all threads.
  mlir::Value arrive();

  /// Combines what the parts `first`, `first` + `step`, ... have left of
  /// `lanes` rows from `row` on, `identity` if there are none.
  mlir::Value
  combine(mlir::Value identity, mlir::Value row, int64_t lanes,
          mlir::Value first, int64_t step,
          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

private:
  mlir::Value place(mlir::Value part, mlir::Value row);
  mlir::Value number(int64_t value);

  CudaEmitter &e;
  int64_t parts = 1, values = 1;
  mlir::Value group, part;
  mlir::Value ticket, left; ///< pointers
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ROWS_GRIDSUM_H
