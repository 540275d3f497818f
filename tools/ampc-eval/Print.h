//===- Print.h - Tensors as text, and how far two are apart ---------------===//
#ifndef AMPC_TOOLS_AMPC_EVAL_PRINT_H
#define AMPC_TOOLS_AMPC_EVAL_PRINT_H

#include "dialects/Amp/Reference/Tensor.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace ampc::eval {

/// Prints the elements in nested brackets, with as many digits as tell floats
/// of the type apart; at most `limit` elements.
void printElements(llvm::raw_ostream &out, const ref::Tensor &tensor,
                   int64_t limit);

/// A tensor of values that depend on `seed` and the element's index only:
/// floats in [-1, 1), integers 0 to 9, booleans. nullopt without memory.
std::optional<ref::Tensor> getRandom(mlir::RankedTensorType type,
                                     uint64_t seed);

struct Difference {
  /// Frobenius norm of the difference over that of the reference (over 1 where
  /// that is 0). Infinite when NaNs or infinities stand at different places.
  double relative = 0;
  double largest = 0;
};
/// How far `value` is from `reference`, of the same shape.
Difference getDifference(const ref::Tensor &reference,
                         const ref::Tensor &value);

} // namespace ampc::eval

#endif // AMPC_TOOLS_AMPC_EVAL_PRINT_H
