//===- BlockRowWalker.h - Rows shared by the threads of a block -----------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ROWS_BLOCKROWWALKER_H
#define AMPC_COMPILER_TARGETS_CUDA_ROWS_BLOCKROWWALKER_H

#include "compiler/Targets/CUDA/Rows/GridSum.h"

namespace ampc::cuda {

/// A block for each row. Thread t takes the vectors t, t + threads, ... of the
/// row and, behind them, element t of what does not fill a vector. A reduction
/// combines the lanes of a thread, the threads of a warp by halving, and the
/// warps in order. A long row that is reduced once may have several blocks.
class BlockRowWalker final : public codegen::RowWalker {
public:
  BlockRowWalker(CudaEmitter &emitter, const codegen::RowSpace &space,
                 int64_t lanes, bool isReducedOnce);

  void forEachRow(llvm::function_ref<void()> body) override;
  mlir::Value reduce(mlir::TypedAttr identity, ElementFn element,
                     CombineFn combine) override;
  void forEachElement(VisitFn visit) override;
  void once(llvm::function_ref<void()> body) override;

private:
  mlir::Value combineParts(mlir::Value start, mlir::Value total,
                           CombineFn combine);
  llvm::SmallVector<LaneIndex> at(mlir::Value position, int64_t width);
  /// The condition that this thread has an element behind the vectors, and the
  /// position of that.
  std::pair<mlir::Value, mlir::Value> rest();

  CudaEmitter &cuda;
  int64_t length;    ///< elements of the row
  int64_t main;      ///< those in vectors
  int64_t threads;   ///< of a block
  int64_t parts = 1; ///< of a row, a block's each
  GridSum grid;
  mlir::Value part;   ///< of the row, that this block takes; null: all
  mlir::Value isLast; ///< of its blocks, which has the result; null: always
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ROWS_BLOCKROWWALKER_H
