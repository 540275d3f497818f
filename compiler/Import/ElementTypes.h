//===- ElementTypes.h - ONNX element types as MLIR types ------------------===//
#ifndef AMPC_COMPILER_IMPORT_ELEMENTTYPES_H
#define AMPC_COMPILER_IMPORT_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace ampc::importer {

/// The amp dialect's type for a TensorProto.DataType: signed integers are
/// signless, booleans i1. Null where the dialect has none (strings, complex
/// numbers, 8-bit floats and types below a byte).
mlir::Type getElementType(mlir::MLIRContext *context, int32_t onnxType);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_ELEMENTTYPES_H
