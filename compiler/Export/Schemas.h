//===- Schemas.h - Float types that ONNX's operators take -----------------===//
#ifndef AMPC_COMPILER_EXPORT_SCHEMAS_H
#define AMPC_COMPILER_EXPORT_SCHEMAS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace ampc::exporter {

/// What the slots of an operator may hold, from ONNX's own schemas. A slot is a
/// letter: a lower-case one is a type variable that may be f16, bf16 or f32,
/// and slots of one letter share one type; `F` is always f32, `S` a sequence or
/// an optional, `-` anything else.
struct OpSchema {
  llvm::StringRef inputs, outputs;
  llvm::StringRef types; ///< per variable: letters of h, b and f
  /// The attribute that gives the type of an output no input determines.
  llvm::StringRef attribute;
  bool moves; ///< the results are elements of the first input, unchanged

  char getInput(unsigned index) const;
  char getOutput(unsigned index) const;
  bool hasSequence() const;
  /// Whether a type variable may be this TensorProto.DataType.
  bool allows(char variable, int32_t type) const;
};

/// Whether a slot is a type variable.
inline bool isVariable(char slot) { return slot >= 'a' && slot <= 'z'; }

/// The schema of an operator at a version of its domain's operator set; null
/// for an unknown operator.
const OpSchema *findSchema(llvm::StringRef domain, llvm::StringRef op,
                           int64_t version);

} // namespace ampc::exporter

#endif // AMPC_COMPILER_EXPORT_SCHEMAS_H
