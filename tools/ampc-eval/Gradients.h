//===- Gradients.h - Gradients against differences --------------*- C++ -*-===//
#ifndef AMPC_TOOLS_AMPC_EVAL_GRADIENTS_H
#define AMPC_TOOLS_AMPC_EVAL_GRADIENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ampc::eval {

/// Compares the gradients of `function`'s f64 arguments with central
/// differences of a random combination of its f64 results, at random inputs,
/// and prints the largest relative error for each argument. An argument may
/// give the interval of its values as `amp.range = array<f64: low, high>`. At
/// most 256 elements of an argument are varied. Fails beyond `tolerance`,
/// relative to the gradient's largest element or 1.
mlir::LogicalResult checkGradients(mlir::func::FuncOp function, uint64_t seed,
                                   double tolerance);

} // namespace ampc::eval

#endif // AMPC_TOOLS_AMPC_EVAL_GRADIENTS_H
