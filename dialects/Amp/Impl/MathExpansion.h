//===- MathExpansion.h - Functions as plain arithmetic --------------------===//
#ifndef AMPC_DIALECTS_AMP_IMPL_MATHEXPANSION_H
#define AMPC_DIALECTS_AMP_IMPL_MATHEXPANSION_H

#include "mlir/IR/Builders.h"

namespace ampc::amp {

// Each function takes a scalar or a vector of f32 or f64. For f32 it expands to
// IEEE additions, multiplications, divisions, `math.fma`, integer operations
// and selects, so a result is the same bit for bit on every target; for f64 it
// is the op of `math`, a call of the target's library. NaN gives NaN, and no
// function has undefined behaviour for any input.

/// e^x within 1 ulp; overflows to infinity, underflows through subnormals.
mlir::Value buildExp(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// The natural logarithm within 2 ulp; -inf of zeros, NaN below.
mlir::Value buildLog(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// log(1 + u) for u in [0, 1] within 2 ulp.
mlir::Value buildLog1pOfUnit(mlir::OpBuilder &b, mlir::Location loc,
                             mlir::Value u);

/// The error function within 2 ulp.
mlir::Value buildErf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// The hyperbolic tangent within 2 ulp.
mlir::Value buildTanh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// 1 / (1 + e^-x) within 2.5 ulp, never overflowing inside.
mlir::Value buildSigmoid(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// log(1 + e^x) within 2 ulp.
mlir::Value buildSoftplus(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value x);

/// The larger (smaller) operand as compare and select; NaN if either is NaN.
/// `isUnsigned` is how integers compare.
mlir::Value buildMax(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     mlir::Value y, bool isUnsigned = false);
mlir::Value buildMin(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     mlir::Value y, bool isUnsigned = false);

} // namespace ampc::amp

#endif // AMPC_DIALECTS_AMP_IMPL_MATHEXPANSION_H
