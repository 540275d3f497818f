//===- BlockRowWalker.h - Rows shared by the threads of a block -----------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ROWS_BLOCKROWWALKER_H
#define AMPC_COMPILER_TARGETS_CUDA_ROWS_BLOCKROWWALKER_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// A block for each row. Thread t takes the vectors t, t + threads, ... of the
/// row and, behind them, element t of what does not fill a vector. A reduction
/// combines the lanes of a thread, the threads of a warp by halving, and the
/// warps in order.
class BlockRowWalker final : public codegen::RowWalker {
public:
  BlockRowWalker(CudaEmitter &emitter, const codegen::RowSpace &space,
                 int64_t lanes);

  void forEachRow(llvm::function_ref<void()> body) override;
  mlir::Value reduce(mlir::TypedAttr identity, ElementFn element,
                     CombineFn combine) override;
  void forEachElement(VisitFn visit) override;
  void once(llvm::function_ref<void()> body) override;

private:
  llvm::SmallVector<LaneIndex> at(mlir::Value position, int64_t width);
  /// The condition that this thread has an element behind the vectors, and the
  /// position of that.
  std::pair<mlir::Value, mlir::Value> rest();

  CudaEmitter &cuda;
  int64_t length;  ///< elements of the row
  int64_t main;    ///< those in vectors
  int64_t threads; ///< of a block
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ROWS_BLOCKROWWALKER_H
