//===- NodeTypes.h - What the decisions mean for one node -----------------===//
#ifndef AMPC_COMPILER_EXPORT_NODETYPES_H
#define AMPC_COMPILER_EXPORT_NODETYPES_H

#include "compiler/Export/Decisions.h"
#include "compiler/Export/Plan.h"
#include "compiler/Export/Schemas.h"

namespace ampc::exporter {

using DecisionList = std::vector<const precision::OpDecision *>;

/// How a node computes.
struct NodeCompute {
  enum Kind {
    Keep,     ///< as the model has it
    Pinned,   ///< as the model has it, reading whatever fits
    Unnamed,  ///< no decision: as its operands are
    Typed,    ///< in `type`
    Interior, ///< in f32, within an operation of several nodes
  };
  Kind kind = Unnamed;
  int32_t type =
      0; ///< of a Typed node; what an Interior one's result rounds to
  /// A contraction before it does the node's work, in its weights and bias.
  bool isFolded = false;
  /// Of a loop's body, those of the first iteration that has any.
  DecisionList decisions;
};

/// The decisions for the nodes of one region, operations of several nodes being
/// split among them.
///
/// An operation that rounds each of its nodes' results (class lower, or moving
/// data only) types them all alike. Any other computes in f32 and rounds its
/// last result: nodes that feed others of the operation are its interior.
class RegionDecisions {
public:
  RegionDecisions(
      const DecisionIndex &index, const RegionPlan &region,
      const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
      llvm::ArrayRef<std::string> regionOutputs);

  const NodeCompute &get(uint32_t node) const { return computes[node]; }

private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  void chooseType(uint32_t node, const DecisionList &all);
  bool feeds(uint32_t node, uint32_t user) const;
  void splitGroup(const precision::OpDecision &op,
                  llvm::ArrayRef<uint32_t> members);

  const Nodes &nodes;
  std::vector<NodeCompute> computes;
  llvm::StringMap<uint32_t> producers;
  llvm::StringMap<llvm::SmallVector<uint32_t, 2>> users;
  llvm::StringMap<bool> isOutput;
};

/// Chooses the types of a node's slots from how it computes, what its schema
/// allows and which operands the compiler left wide. The values of its inputs
/// are typed; the originals of its outputs are known.
void typeSlots(NodePlan &node, const NodeCompute &compute,
               const OpSchema *schema);

} // namespace ampc::exporter

#endif // AMPC_COMPILER_EXPORT_NODETYPES_H
