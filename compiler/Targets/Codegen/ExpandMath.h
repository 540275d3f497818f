//===- ExpandMath.h - Functions that a target has no library for ----------===//
#ifndef AMPC_COMPILER_TARGETS_CODEGEN_EXPANDMATH_H
#define AMPC_COMPILER_TARGETS_CODEGEN_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace ampc::codegen {

/// Adds patterns that expand functions of `math` to arithmetic: on f64 exp,
/// log, log1p, expm1, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh,
/// acosh, atanh and powf, to within 2 units in the last place (tan, tanh,
/// acosh and atanh: 3), and sin, cos and tan on f32, to within 2. All arguments
/// are taken as they are, however large. Vectors are taken apart.
void populateMathExpansion(mlir::RewritePatternSet &patterns);

} // namespace ampc::codegen

#endif // AMPC_COMPILER_TARGETS_CODEGEN_EXPANDMATH_H
