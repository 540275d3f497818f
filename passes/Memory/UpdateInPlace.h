//===- UpdateInPlace.h - Results that may overwrite an argument -----------===//
#ifndef AMPC_PASSES_MEMORY_UPDATEINPLACE_H
#define AMPC_PASSES_MEMORY_UPDATEINPLACE_H

#include "dialects/Amp/IR/AmpOps.h"

namespace ampc::memory {

/// The attribute of a kernel's argument that launches overwrite.
inline constexpr llvm::StringLiteral updatedName = "amp.updated";

/// Whether one buffer may be both an argument and a result of a kernel: each
/// element of the argument is read for the same element of the result only. A
/// kernel of elementwise operations alone reads all that it needs of an element
/// before it writes any; in others the argument may lead to no other result.
bool canUpdateInPlace(amp::KernelOp kernel, unsigned argument, unsigned result);

} // namespace ampc::memory

#endif // AMPC_PASSES_MEMORY_UPDATEINPLACE_H
