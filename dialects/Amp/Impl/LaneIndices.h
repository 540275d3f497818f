//===- LaneIndices.h - Arithmetic on the indices of lanes -----------------===//
#ifndef AMPC_DIALECTS_AMP_IMPL_LANEINDICES_H
#define AMPC_DIALECTS_AMP_IMPL_LANEINDICES_H

#include "dialects/Interfaces/KernelInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace ampc::amp {

/// Whether all lanes stand at the same place.
inline bool isUniform(llvm::ArrayRef<LaneIndex> index) {
  return llvm::all_of(index, [](const LaneIndex &i) { return i.step == 0; });
}

/// Whether the index `value` is provably a multiple of `divisor`, from the
/// constants, products, sums and loops that make it.
bool isMultipleOf(mlir::Value value, int64_t divisor);

/// Whether the lanes of `index` cannot cross a multiple of `size`: they stand
/// at one place, or fill an aligned group of neighbours.
bool staysWithin(const ElementBuilder &eb, const LaneIndex &index,
                 int64_t size);

/// The row-major linear index of `index` in `shape`.
mlir::Value linearize(ElementBuilder &eb, llvm::ArrayRef<mlir::Value> index,
                      llvm::ArrayRef<int64_t> shape);

/// Splits a linear index into one per dimension of `shape`.
llvm::SmallVector<mlir::Value> delinearize(ElementBuilder &eb,
                                           mlir::Value linear,
                                           llvm::ArrayRef<int64_t> shape);

/// The base of each index.
llvm::SmallVector<mlir::Value> basesOf(llvm::ArrayRef<LaneIndex> index);

/// Whether `value` lies in [0, size), as i1.
mlir::Value isWithin(ElementBuilder &eb, mlir::Value value, int64_t size);

/// `value`, a signed index, bounded to [0, size - 1].
mlir::Value clampIndex(ElementBuilder &eb, mlir::Value value, int64_t size);

/// `yes` where `condition` holds, else `no`: elements of a tensor of `element`,
/// each built on its path only, and so its loads executed only there. Fails,
/// leaving nothing behind, when either does.
mlir::FailureOr<mlir::Value>
buildIf(ElementBuilder &eb, mlir::Value condition, mlir::Type element,
        llvm::function_ref<mlir::FailureOr<mlir::Value>()> yes,
        llvm::function_ref<mlir::FailureOr<mlir::Value>()> no);

} // namespace ampc::amp

#endif // AMPC_DIALECTS_AMP_IMPL_LANEINDICES_H
