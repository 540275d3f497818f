//===- RegisterRowWalker.h - Rows in the registers of some threads --------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ROWS_REGISTERROWWALKER_H
#define AMPC_COMPILER_TARGETS_CUDA_ROWS_REGISTERROWWALKER_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// A group of threads for each row: part of a warp, a warp, or a block. Thread
/// t takes the vectors t, t + group, ... of the row, few enough that all stay
/// in registers: a row is read once, however many passes go over it. Groups of
/// up to a warp share a block. A reduction combines the vectors of a thread in
/// order, then its lanes, then the threads by halving.
class RegisterRowWalker final : public codegen::RowWalker {
public:
  /// Whether a row fits the registers of a block.
  static bool covers(const codegen::RowSpace &space, int64_t lanes,
                     int64_t elementBytes);

  RegisterRowWalker(CudaEmitter &emitter, const codegen::RowSpace &space,
                    int64_t lanes, int64_t elementBytes);

  void forEachRow(llvm::function_ref<void()> body) override;
  mlir::Value reduce(mlir::TypedAttr identity, ElementFn element,
                     CombineFn combine) override;
  void forEachElement(VisitFn visit) override;
  void once(llvm::function_ref<void()> body) override;
  bool canKeep(int64_t) const override { return false; }
  bool hold(mlir::TypedAttr zero, ElementFn element) override;
  mlir::Value held() const override { return values[slot]; }
  void setHeld(mlir::Value value) override { values[slot] = value; }

private:
  /// Where vector number `slot` of this thread begins.
  mlir::Value position();
  /// The condition that it has that vector; null: every thread has.
  mlir::Value isActive(mlir::Value position);
  llvm::SmallVector<LaneIndex> at(mlir::Value position);
  mlir::Value guarded(mlir::Value position, mlir::Value otherwise,
                      ElementFn element);

  CudaEmitter &cuda;
  int64_t length;       ///< elements of a row
  int64_t group;        ///< threads that share a row
  int64_t rowsPerBlock; ///< 1 for a group of several warps
  int64_t slots;        ///< vectors of a thread
  mlir::Value member;   ///< number of the thread in its group
  mlir::Value exists;   ///< whether the group has a row; null: always
  int64_t slot = 0;     ///< that is being visited
  llvm::SmallVector<mlir::Value> values; ///< held, by slot
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ROWS_REGISTERROWWALKER_H
