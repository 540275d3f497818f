//===- Phases.h - The phases of a compilation, in order -------------------===//
#ifndef AMPC_COMPILER_PIPELINES_PHASES_H
#define AMPC_COMPILER_PIPELINES_PHASES_H

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace ampc {

/// A point at which compilation can stop (`--compile-to`) and whose output can
/// be dumped (`--dump-phases-to`).
enum class Phase {
  Import,    ///< ONNX as written, in the amp dialect
  Graph,     ///< canonical: folded, raised, layouts assigned
  Precision, ///< typed: casts explicit, composites inlined
  Training,  ///< loss, backward and update added (training only)
  Fusion,    ///< kernels outlined and deduplicated, weights outlined
  Memory,    ///< rt program with one static arena
  Codegen,   ///< machine code
};

/// Spelling of a phase on the command line.
llvm::StringRef stringifyPhase(Phase phase);
std::optional<Phase> symbolizePhase(llvm::StringRef name);

} // namespace ampc

#endif // AMPC_COMPILER_PIPELINES_PHASES_H
