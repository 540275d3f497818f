//===- Phases.cpp - Names of the phases -----------------------------------===//
#include "compiler/Pipelines/Phases.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

namespace ampc {

llvm::StringRef stringifyPhase(Phase phase) {
  switch (phase) {
  case Phase::Import:
    return "import";
  case Phase::Graph:
    return "graph";
  case Phase::Precision:
    return "precision";
  case Phase::Training:
    return "training";
  case Phase::Fusion:
    return "fusion";
  case Phase::Memory:
    return "memory";
  case Phase::Codegen:
    return "codegen";
  }
  llvm_unreachable("not a phase");
}

std::optional<Phase> symbolizePhase(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Phase>>(name)
      .Case("import", Phase::Import)
      .Case("graph", Phase::Graph)
      .Case("precision", Phase::Precision)
      .Case("training", Phase::Training)
      .Case("fusion", Phase::Fusion)
      .Case("memory", Phase::Memory)
      .Case("codegen", Phase::Codegen)
      .Default(std::nullopt);
}

} // namespace ampc
