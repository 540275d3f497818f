//===- Passes.h - From launches to a program with static memory -----------===//
#ifndef AMPC_PASSES_MEMORY_PASSES_H
#define AMPC_PASSES_MEMORY_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ampc::memory {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Memory/Passes.h.inc"
} // namespace ampc::memory

#endif // AMPC_PASSES_MEMORY_PASSES_H
