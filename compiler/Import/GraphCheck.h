//===- GraphCheck.h - Is this message a well-formed ONNX model ------------===//
#ifndef AMPC_COMPILER_IMPORT_GRAPHCHECK_H
#define AMPC_COMPILER_IMPORT_GRAPHCHECK_H

#include "compiler/Import/ImportDiagnostics.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <vector>

namespace ampc::importer {

/// Versions of the format that the importer reads.
constexpr int64_t minIrVersion = 3, maxIrVersion = 14;
constexpr int64_t minOpset = 1, maxOpset = 28;

/// Operator set versions by domain; the default domain is "" ("ai.onnx" is
/// folded into it).
using OpsetMap = llvm::StringMap<int64_t>;

/// "" for either spelling of the default domain, else the domain.
llvm::StringRef normalizeDomain(llvm::StringRef domain);

/// How a node is called in messages: its name, or `<op>_<index>` without one.
std::string getNodeLabel(const onnx::NodeProto &node, size_t index);

/// The key by which a node finds its model-local function.
std::string getFunctionKey(llvm::StringRef domain, llvm::StringRef name,
                           llvm::StringRef overload);

/// What the check learns for the conversion. Points into the model's message.
struct CheckedModel {
  OpsetMap opsets;
  llvm::StringMap<const onnx::FunctionProto *> functions; // by getFunctionKey
  /// Indices of the nodes of each graph and function body in an order where
  /// producers precede users,
  /// keyed by the address of the GraphProto or FunctionProto.
  llvm::DenseMap<const void *, std::vector<uint32_t>> orders;

  /// The function that `node` calls, or null.
  const onnx::FunctionProto *findFunction(const onnx::NodeProto &node) const;
};

/// Checks versions, names, scoping, cycles (of nodes and of functions). Nodes
/// out of order are sorted stably. All defects are reported; nothing is
/// returned if there was an error.
std::optional<CheckedModel> checkModel(const onnx::ModelProto &model,
                                       ImportDiagnostics &diags);

/// Calls `visit` with each subgraph that an attribute of `node` holds.
void forEachSubgraph(const onnx::NodeProto &node,
                     llvm::function_ref<void(const onnx::GraphProto &)> visit);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_GRAPHCHECK_H
