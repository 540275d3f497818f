//===- ConstantSlice.h - What is computable at compile time ---------------===//
#ifndef AMPC_PASSES_ANALYSIS_CONSTANTSLICE_H
#define AMPC_PASSES_ANALYSIS_CONSTANTSLICE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace ampc {

/// Says which values below an op are computed from constants alone, by ops that
/// the reference evaluator knows. Values of resource constants are among them:
/// computable does not mean small. Blocks are walked once, in order; an op that
/// is changed or added later is unknown to the analysis.
class ConstantSlice {
public:
  explicit ConstantSlice(mlir::Operation *root);

  bool isComputable(mlir::Operation *op) const { return ops.contains(op); }
  bool isComputable(mlir::Value value) const {
    return value.getDefiningOp() && isComputable(value.getDefiningOp());
  }

  /// The ops that compute `value`, which must be computable, each once and
  /// after the makers of its operands.
  llvm::SmallVector<mlir::Operation *> getSlice(mlir::Value value) const;

private:
  llvm::DenseSet<mlir::Operation *> ops;
};

} // namespace ampc

#endif // AMPC_PASSES_ANALYSIS_CONSTANTSLICE_H
