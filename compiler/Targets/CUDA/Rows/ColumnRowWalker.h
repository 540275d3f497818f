//===- ColumnRowWalker.h - Rows that lie across memory --------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ROWS_COLUMNROWWALKER_H
#define AMPC_COMPILER_TARGETS_CUDA_ROWS_COLUMNROWWALKER_H

#include "compiler/Targets/CUDA/Rows/GridSum.h"

namespace ampc::cuda {

/// Rows whose elements are far apart while neighbouring rows are side by side:
/// neighbouring threads take neighbouring vectors of rows, so that a warp reads
/// along memory. Where there are few rows, several threads share each: thread
/// p of them takes the elements p, p + phases, ...; a reduction combines their
/// results in order. Long rows that are reduced once may have several blocks.
class ColumnRowWalker final : public codegen::RowWalker {
public:
  ColumnRowWalker(CudaEmitter &emitter, const codegen::RowSpace &space,
                  int64_t lanes, bool isReducedOnce);

  void forEachRow(llvm::function_ref<void()> body) override;
  mlir::Value reduce(mlir::TypedAttr identity, ElementFn element,
                     CombineFn combine) override;
  void forEachElement(VisitFn visit) override;
  void once(llvm::function_ref<void()> body) override;
  bool canKeep(int64_t) const override { return false; }

private:
  mlir::Value combinePhases(mlir::Value mine, CombineFn combine);

  CudaEmitter &cuda;
  int64_t vectors;           ///< of rows, in the innermost dimension
  int64_t columns;           ///< vectors that a block takes
  int64_t phases;            ///< threads that share a vector
  mlir::Value column, phase; ///< of the thread, in the block
  mlir::Value exists;        ///< whether it has a row; null: always
  int64_t parts = 1;         ///< of the rows, a block's each
  GridSum grid;
  mlir::Value part;   ///< that this block takes; null: all
  mlir::Value isLast; ///< of its blocks, which has the result; null: always
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ROWS_COLUMNROWWALKER_H
