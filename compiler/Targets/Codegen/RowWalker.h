//===- RowWalker.h - Reductions over and maps of the rows of a tensor -----===//
#ifndef AMPC_COMPILER_TARGETS_CODEGEN_ROWWALKER_H
#define AMPC_COMPILER_TARGETS_CODEGEN_ROWWALKER_H

#include "compiler/Targets/Codegen/KernelEmitter.h"

namespace ampc::codegen {

/// A tensor seen as rows: an index of the kept space names a row, one of the
/// row space an element in it.
struct RowSpace {
  llvm::SmallVector<int64_t> kept, row;
  /// The tensor index of an element.
  std::function<llvm::SmallVector<LaneIndex>(llvm::ArrayRef<LaneIndex> kept,
                                             llvm::ArrayRef<LaneIndex> row)>
      locate;
  /// Whether the innermost dimension of memory is the last of `row` (lanes run
  /// along the row) or of `kept` (lanes hold neighbouring rows).
  bool lanesAlongRow = true;

  int64_t rows() const;
  int64_t rowLength() const;
};

/// Emits code over the rows of a RowSpace: here, loops of one thread. A target
/// may share a row among threads. All orders are fixed by the shape: results do
/// not depend on the number of threads.
class RowWalker {
public:
  /// Builds the element(s) at tensor index `index`, which is number `position`
  /// of its row, as `lanes` lanes.
  using ElementFn = llvm::function_ref<mlir::Value(
      int64_t lanes, llvm::ArrayRef<LaneIndex> index, mlir::Value position)>;
  using CombineFn =
      llvm::function_ref<mlir::Value(mlir::Value lhs, mlir::Value rhs)>;

  RowWalker(KernelEmitter &emitter, const RowSpace &space, int64_t lanes)
      : e(emitter), space(space), lanes(lanes) {}
  virtual ~RowWalker() = default;

  /// Work items and the loop over them. `body` is built for one row, or for
  /// `rowLanes()` rows at once.
  virtual void forEachRow(llvm::function_ref<void()> body);

  /// Rows that the values of the current body stand for.
  int64_t rowLanes() const { return currentLanes; }
  llvm::ArrayRef<LaneIndex> keptIndex() const { return kept; }

  /// Combines all elements of the row: a value per row of the body. `identity`
  /// is a scalar of the element's compute type.
  virtual mlir::Value reduce(mlir::TypedAttr identity, ElementFn element,
                             CombineFn combine);

  using VisitFn = llvm::function_ref<void(
      int64_t lanes, llvm::ArrayRef<LaneIndex> index, mlir::Value position)>;
  /// Visits each element of the row; the same thread visits an element in
  /// every pass.
  virtual void forEachElement(VisitFn visit);

  /// Whether scratch can hold the `bytes` that the elements of one body take; a
  /// row is pulled anew for each pass otherwise.
  virtual bool canKeep(int64_t bytes) const {
    return bytes <= e.traits.rowScratchBytes;
  }

  /// Builds all elements of the row now and holds them in registers for the
  /// passes that follow, if the target can. Then a pass finds the elements that
  /// it visits in `held`, and may replace them; a reduction ignores what it is
  /// given where a thread has no element.
  virtual bool hold(mlir::TypedAttr zero, ElementFn element) {
    (void)zero;
    (void)element;
    return false;
  }
  virtual mlir::Value held() const { return {}; }
  virtual void setHeld(mlir::Value value) { (void)value; }

  /// Builds what is done once for the row, after a reduction.
  virtual void once(llvm::function_ref<void()> body) { body(); }

  /// A statistic of the row for use beside `lanes` of its elements.
  mlir::Value spread(mlir::Value statistic, int64_t lanes);

protected:
  mlir::Value horizontal(mlir::Value vector, CombineFn combine);
  mlir::Value splat(mlir::Value value, int64_t width);
  llvm::SmallVector<LaneIndex> locate(llvm::ArrayRef<mlir::Value> row,
                                      int64_t width);

  KernelEmitter &e;
  const RowSpace &space;
  int64_t lanes;
  int64_t currentLanes = 1;
  llvm::SmallVector<LaneIndex> kept;
};

} // namespace ampc::codegen

#endif // AMPC_COMPILER_TARGETS_CODEGEN_ROWWALKER_H
