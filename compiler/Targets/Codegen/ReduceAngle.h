//===- ReduceAngle.h - Arguments of sin and cos to a quarter turn ---------===//
#ifndef AMPC_COMPILER_TARGETS_CODEGEN_REDUCEANGLE_H
#define AMPC_COMPILER_TARGETS_CODEGEN_REDUCEANGLE_H

#include "dialects/Amp/Impl/BodyBuilder.h"

namespace ampc::codegen {

/// x = quadrant * pi / 2 + high + low with |high| <= pi / 4, up to whole turns.
struct ReducedAngle {
  mlir::Value high, low; ///< of x's type; low is zero for f32
  mlir::Value quadrant;  ///< i32, of which the last two bits count
};

/// Reduces the scalar `x`, f32 or f64, of any size; NaN for infinity and NaN.
ReducedAngle reduceAngle(amp::BodyBuilder &m, mlir::Value x);

} // namespace ampc::codegen

#endif // AMPC_COMPILER_TARGETS_CODEGEN_REDUCEANGLE_H
