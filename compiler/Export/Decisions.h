//===- Decisions.h - The table of decisions by place in the model ---------===//
#ifndef AMPC_COMPILER_EXPORT_DECISIONS_H
#define AMPC_COMPILER_EXPORT_DECISIONS_H

#include "passes/Precision/Report.h"
#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ampc::exporter {

/// TensorProto.DataType of a type's name in the table; 0 for what is not f32,
/// f16 or bf16.
int32_t parseTypeName(llvm::StringRef name);

/// Whether autocast may change a TensorProto.DataType: f32, f16 and bf16.
bool isEligible(int32_t type);

/// Whether a TensorProto.DataType is one of the 16-bit floats.
bool isLow(int32_t type);

/// Finds decisions by the path of a node: `main/3`, or in a subgraph or a
/// function's body `main/3/then_branch/0`.
class DecisionIndex {
public:
  explicit DecisionIndex(const precision::Report &report);

  /// The decisions that do work of the node at `path`, in program order.
  llvm::ArrayRef<const precision::OpDecision *>
  find(llvm::StringRef path) const;

  /// What stands directly below `path` in places of nodes: the iterations of a
  /// loop, the branches of a conditional.
  std::vector<std::string> findSteps(llvm::StringRef path) const;

private:
  llvm::StringMap<std::vector<const precision::OpDecision *>> byPath;
  llvm::StringMap<std::set<std::string>> steps;
};

} // namespace ampc::exporter

#endif // AMPC_COMPILER_EXPORT_DECISIONS_H
