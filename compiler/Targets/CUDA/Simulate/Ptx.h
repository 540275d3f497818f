//===- Ptx.h - The statements of an inline assembly string ----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_SIMULATE_PTX_H
#define AMPC_COMPILER_TARGETS_CUDA_SIMULATE_PTX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace ampc::cuda {

/// "$3", a number, or a name.
struct PtxToken {
  enum Kind { operand, number, name } kind;
  int64_t value = 0; // of an operand its number
  llvm::StringRef text;
};

/// One operand of a statement: "$0", "[$1, {$2, $3}]", "{$0, $1}".
struct PtxOperand {
  llvm::SmallVector<PtxToken> tokens;
  bool isList = false; // in braces
};

struct PtxStatement {
  llvm::StringRef label;
  std::optional<PtxToken> predicate; // @p
  bool negated = false;              // @!p
  llvm::StringRef mnemonic;
  llvm::SmallVector<PtxOperand> operands;
};

/// Nothing if the text is not understood.
std::optional<llvm::SmallVector<PtxStatement>> parsePtx(llvm::StringRef text);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_SIMULATE_PTX_H
