//===- Strided.h - Walks over tensors with strides ------------------------===//
// Offsets and strides count elements.
#ifndef AMPC_DIALECTS_AMP_REFERENCE_STRIDED_H
#define AMPC_DIALECTS_AMP_REFERENCE_STRIDED_H

#include "dialects/Amp/Reference/Tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ampc::ref {

using Dims = llvm::SmallVector<int64_t>;

/// The strides of a contiguous tensor of `shape`.
Dims getStrides(llvm::ArrayRef<int64_t> shape);

/// The strides with which `tensor` is read under NumPy's broadcast to `shape`:
/// 0 where it repeats. All 0 for a splat.
Dims getBroadcastStrides(const Tensor &tensor, llvm::ArrayRef<int64_t> shape);

/// The strides of `tensor`, all 0 for a splat.
Dims getStoredStrides(const Tensor &tensor);

/// Walks an index space in row-major order, one row at a time, for several
/// arrays at once, joining dimensions that are contiguous in all of them.
/// `strides` holds one array's strides each; `row` gets the arrays' offsets of
/// its first element, its length, and the arrays' steps within it.
void walkRows(
    llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Dims> strides,
    llvm::function_ref<void(llvm::ArrayRef<int64_t> offsets, int64_t length,
                            llvm::ArrayRef<int64_t> steps)>
        row);

/// Copies elements of `width` bytes between two strided arrays of `shape`, in
/// blocks that suit caches when their orders differ.
void copyStrided(unsigned width, llvm::ArrayRef<int64_t> shape, char *to,
                 llvm::ArrayRef<int64_t> toStrides, const char *from,
                 llvm::ArrayRef<int64_t> fromStrides);

} // namespace ampc::ref

#endif // AMPC_DIALECTS_AMP_REFERENCE_STRIDED_H
