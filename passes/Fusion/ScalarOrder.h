//===- ScalarOrder.h - Where numbers of rank 0 are computed ---------------===//
#ifndef AMPC_PASSES_FUSION_SCALARORDER_H
#define AMPC_PASSES_FUSION_SCALARORDER_H

#include "mlir/IR/Block.h"
#include "passes/Analysis/ConstantSlice.h"

namespace ampc::fusion {

/// Whether `op` computes a number of rank 0 from such numbers.
bool isScalarOp(mlir::Operation *op);

/// Whether `op` reduces a tensor to a number of rank 0.
bool isScalarRoot(mlir::Operation *op);

/// Moves scalar ops so that those which follow from a reduction to rank 0 stand
/// right behind it, and those that need none behind the last one, where the
/// reduction's kernel can compute them. An op before that gets copies of its
/// own.
void orderScalars(mlir::Block &block, const ConstantSlice &constants);

} // namespace ampc::fusion

#endif // AMPC_PASSES_FUSION_SCALARORDER_H
