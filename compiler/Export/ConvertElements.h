//===- ConvertElements.h - Constants in another float type ----------------===//
#ifndef AMPC_COMPILER_EXPORT_CONVERTELEMENTS_H
#define AMPC_COMPILER_EXPORT_CONVERTELEMENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>

namespace ampc::exporter {

/// Writes floats of one TensorProto.DataType as another; both are f32, f16 or
/// bf16. Rounds to the nearest, ties to even; a finite element beyond the range
/// becomes the largest finite one, as in a compiled program. Little-endian.
void convertElements(llvm::ArrayRef<uint8_t> bytes, int32_t from, int32_t to,
                     llvm::raw_ostream &os);

/// The size in bytes of an element of these types.
unsigned getElementSize(int32_t type);

} // namespace ampc::exporter

#endif // AMPC_COMPILER_EXPORT_CONVERTELEMENTS_H
