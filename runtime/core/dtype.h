//===- dtype.h - Element types and shapes ---------------------------------===//
#ifndef AMPC_RUNTIME_CORE_DTYPE_H
#define AMPC_RUNTIME_CORE_DTYPE_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// Most dimensions that a tensor file may have.
inline constexpr uint32_t maxRank = 64;

/// Number of elements and bytes of a shape; false if a dimension is negative
/// or a product overflows. `elementSize` is at least 1.
[[nodiscard]] bool shapeSize(const int64_t *dims, size_t rank,
                             size_t elementSize, uint64_t *outElements,
                             uint64_t *outBytes);

/// Element type of a file that says only "two raw bytes" (numpy's V2, which is
/// how bf16 arrives in .npy). Never the type of a graph input.
inline constexpr uint32_t dtypeRaw16 = 0x8000;

/// "f32 [1, 3, 224, 224]".
Str describe(uint32_t dtype, const int64_t *dims, size_t rank);
inline Str describe(const ampc_tensor_desc &desc) {
  return describe(desc.dtype, desc.dims, desc.rank);
}

/// Whether `dtype` is f16, bf16, f32 or f64.
bool isFloat(uint32_t dtype);

/// Element `index` as a double; integers beyond 2^53 are rounded.
double elementAsDouble(uint32_t dtype, const void *data, uint64_t index);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_DTYPE_H
