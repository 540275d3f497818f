//===- TypePlanner.h - Type the original graph by the decisions -----------===//
#ifndef AMPC_COMPILER_EXPORT_TYPEPLANNER_H
#define AMPC_COMPILER_EXPORT_TYPEPLANNER_H

#include "compiler/Export/NodeTypes.h"
#include "compiler/Export/Plan.h"
#include "compiler/Import/ImportDiagnostics.h"

namespace ampc::exporter {

/// Walks the model in the order of its nodes and types each by the table of
/// decisions. What the table does not name keeps its types.
///
/// Values that loops carry and elements of sequences keep the types of the
/// model, as do graph inputs and outputs unless told otherwise. The branches of
/// a conditional agree on a type.
class TypePlanner {
public:
  TypePlanner(const onnx::ModelProto &model,
              const importer::CheckedModel &checked,
              const DecisionIndex &decisions, bool keepsIoTypes)
      : model(model), checked(checked), decisions(decisions),
        keepsIoTypes(keepsIoTypes) {}

  /// Fills `plan`, which refers to the model and must not be moved.
  void run(ModelPlan &plan);

private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  ValuePlan *addValue(RegionPlan &region, llvm::StringRef name,
                      int32_t original);
  void addInitializers(RegionPlan &region, const onnx::GraphProto &graph);
  void planNodes(RegionPlan &region, const Nodes &nodes, const void *key,
                 llvm::ArrayRef<std::string> outputs);
  void planNode(RegionPlan &region, const onnx::NodeProto &proto,
                uint32_t index, NodeCompute compute);
  void recordUses(const onnx::NodeProto &proto, NodePlan &node);
  void planGraphOutputs(RegionPlan &region, const onnx::GraphProto &graph);
  void narrowGraphInputs(RegionPlan &region);
  void leaveRoundingToCasts();
  void narrowBeforeMoving();
  void inferOutputs(const onnx::NodeProto &proto, NodePlan &node,
                    const OpSchema *schema);
  void readConstant(const onnx::NodeProto &proto, ValuePlan &value);
  void planSubgraphs(RegionPlan &region, const onnx::NodeProto &proto,
                     uint32_t index, NodePlan &node,
                     const NodeCompute &compute);
  RegionPlan *planSubgraph(RegionPlan &region, const onnx::GraphProto &graph,
                           std::vector<std::string> contexts, NodePlan &node,
                           llvm::ArrayRef<ValuePlan *> arguments);
  void joinBranches(NodePlan &node, const NodeCompute &compute);
  void planCall(RegionPlan &region, const onnx::FunctionProto &function,
                uint32_t index, NodePlan &node);
  void findEqual(RegionPlan &region, const onnx::NodeProto &proto,
                 NodePlan &node, NodeCompute &compute);

  const onnx::ModelProto &model;
  const importer::CheckedModel &checked;
  const DecisionIndex &decisions;
  bool keepsIoTypes;
  ModelPlan *plan = nullptr;
  /// Nodes that compute the same have the same key; the program keeps the
  /// first of them only, and so does the table.
  std::map<std::string, std::pair<NodeCompute, NodePlan *>> equals;
};

} // namespace ampc::exporter

#endif // AMPC_COMPILER_EXPORT_TYPEPLANNER_H
