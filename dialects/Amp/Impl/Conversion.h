//===- Conversion.h - Conversions between element types -------------------===//
#ifndef AMPC_DIALECTS_AMP_IMPL_CONVERSION_H
#define AMPC_DIALECTS_AMP_IMPL_CONVERSION_H

#include "mlir/IR/Builders.h"

namespace ampc::amp {

// Values of the 16-bit floats live as f32 that such a float holds exactly (see
// getComputeType). All functions take scalars or vectors.

/// f32 to the nearest bf16, ties to even, as f32. NaN stays NaN, made quiet.
mlir::Value roundToBf16(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// f32 to the nearest f16, ties to even, as f32.
mlir::Value roundToF16(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// Rounds f32 to `element` when that is a 16-bit float, else returns `x`.
mlir::Value roundTo16Bit(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         mlir::Type element);

/// f32 rounded to bf16 as its 16 bits in an i16, to store.
mlir::Value packBf16(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// The bits of a bf16, in an i16, as f32.
mlir::Value unpackBf16(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// `amp.cast` of `x`, an element of a tensor of `from`, to one of a tensor of
/// `to`: both tensor element types, `x` and the result in their compute types.
/// Exactly one rounding, also from f64 and i64 to the 16-bit floats.
mlir::Value buildConversion(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value x, mlir::Type from, mlir::Type to,
                            bool saturate = false);

} // namespace ampc::amp

#endif // AMPC_DIALECTS_AMP_IMPL_CONVERSION_H
