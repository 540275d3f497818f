//===- PrecisionInterfaces.h - What the precision phase asks of an op -----===//
#ifndef AMPC_DIALECTS_INTERFACES_PRECISIONINTERFACES_H
#define AMPC_DIALECTS_INTERFACES_PRECISIONINTERFACES_H

#include "dialects/Interfaces/AutocastClass.h"
#include "mlir/IR/OpDefinition.h"

namespace ampc {
/// Whether autocast may change `type`: a tensor of f32, f16 or bf16. float64
/// and integers are never touched.
bool isAutocastEligible(mlir::Type type);

/// Sets the result types of `op` that its InferTypeOpInterface derives from its
/// operands. Does nothing on an op without that interface.
mlir::LogicalResult inferAndSetResultTypes(mlir::Operation *op);
} // namespace ampc

#include "dialects/Interfaces/PrecisionInterfaces.h.inc"

#endif // AMPC_DIALECTS_INTERFACES_PRECISIONINTERFACES_H
