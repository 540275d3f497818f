//===- ConstantValue.h - The value of an SSA value that is constant -------===//
#ifndef AMPC_DIALECTS_AMP_REFERENCE_CONSTANTVALUE_H
#define AMPC_DIALECTS_AMP_REFERENCE_CONSTANTVALUE_H

#include "dialects/Amp/Reference/Tensor.h"
#include "mlir/IR/Value.h"

namespace ampc::ref {

/// The tensor that `value` holds, if it is computed from constants (`dense<>`
/// or `dense_resource<>`) by ops with ReferenceOpInterface only. Looks at the
/// ops behind it once each and evaluates nothing unless all are constant.
///
/// Fails, having said nothing, when `value` is not constant; when the results
/// to be computed exceed `byteBudget` bytes together (constants themselves are
/// borrowed and count nothing); when more than `maxOps` ops would have to be
/// evaluated, or more than 2^28 elements touched. The tensor may borrow bytes
/// of attributes.
///
/// Needs registerReferenceModels on the context's registry.
mlir::FailureOr<Tensor> evaluateConstant(mlir::Value value, uint64_t byteBudget,
                                         unsigned maxOps = 4096);

/// As evaluateConstant, of an integer tensor: its elements in row-major order.
mlir::FailureOr<llvm::SmallVector<int64_t>>
evaluateConstantInts(mlir::Value value, uint64_t byteBudget = 1 << 20);

} // namespace ampc::ref

#endif // AMPC_DIALECTS_AMP_REFERENCE_CONSTANTVALUE_H
