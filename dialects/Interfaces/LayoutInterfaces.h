//===- LayoutInterfaces.h - What layout assignment asks of an op ----------===//
#ifndef AMPC_DIALECTS_INTERFACES_LAYOUTINTERFACES_H
#define AMPC_DIALECTS_INTERFACES_LAYOUTINTERFACES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace ampc {

/// The tensors of an op that are permuted when it works with channels last.
struct LayoutRule {
  llvm::SmallVector<unsigned, 4> operands; ///< indices of permuted operands
  bool results = true;                     ///< whether all results are
};

/// The permutation that moves dimension 1 of `rank` to the end: result
/// dimension i is dimension perm[i] of the input.
llvm::SmallVector<int64_t> getChannelsLastPermutation(int64_t rank);

/// Its inverse.
llvm::SmallVector<int64_t> getChannelsFirstPermutation(int64_t rank);

/// Where dimension `dim` of `rank` stands with channels last.
inline int64_t getChannelsLastDim(int64_t dim, int64_t rank) {
  return dim == 0 ? 0 : dim == 1 ? rank - 1 : dim - 1;
}

/// `type` with leading ones up to `rank` and channels last.
mlir::RankedTensorType getChannelsLastType(mlir::RankedTensorType type,
                                           int64_t rank);

/// What `op` does with channels last: by LayoutOpInterface, or because it is
/// elementwise with a result of rank 3 or more. Operands of the rule that have
/// a lower rank than the op broadcast; those of several elements get leading
/// ones before they are permuted, those of one element stay as they are.
std::optional<LayoutRule> getChannelsLastRule(mlir::Operation *op);

/// Changes the attributes of an op that has a rule.
void setChannelsLast(mlir::Operation *op);

} // namespace ampc

#include "dialects/Interfaces/LayoutInterfaces.h.inc"

#endif // AMPC_DIALECTS_INTERFACES_LAYOUTINTERFACES_H
