//===- GraphRewriter.h - Write a plan into the model's message ------------===//
#ifndef AMPC_COMPILER_EXPORT_GRAPHREWRITER_H
#define AMPC_COMPILER_EXPORT_GRAPHREWRITER_H

#include "compiler/Export/Plan.h"
#include "compiler/Import/ImportDiagnostics.h"
#include "llvm/ADT/StringSet.h"

namespace ampc::exporter {

/// A tensor of the new model whose elements are those of an old one in another
/// type. It has no elements yet but `raw_slice`, which is `firstConversion`
/// plus the position in the list.
struct Conversion {
  const onnx::TensorProto *source = nullptr; ///< in the old model, or:
  const onnx::AttributeProto *numbers = nullptr;
  int32_t type = 0;
};
constexpr uint32_t firstConversion = 1u << 30;

/// Names that a model, or a function, does not have yet.
class FreshNames {
public:
  explicit FreshNames(const onnx::ModelProto &model);
  explicit FreshNames(const onnx::FunctionProto &function);
  /// `base`, an underscore and `suffix`, with a number if that is taken.
  std::string make(llvm::StringRef base, llvm::StringRef suffix);

private:
  void addFunction(const onnx::FunctionProto &function);
  void addGraph(const onnx::GraphProto &graph);
  void
  addNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes);
  llvm::StringSet<> taken;
};

/// Changes a copy of the model: Cast nodes where a value is read in another
/// type than it has, constants in the types they are read in. Each region gets
/// one cast per value and type, before the first node that reads it; a loop's
/// body reads a cast that stands before the loop. Nodes keep their names and
/// order.
class GraphRewriter {
public:
  GraphRewriter(const importer::CheckedModel &checked, ModelPlan &plan,
                onnx::ModelProto &model, importer::ImportDiagnostics &diags);

  /// Reports and fails when the model's opset has no such Cast.
  llvm::LogicalResult run();
  llvm::ArrayRef<Conversion> getConversions() const { return conversions; }

private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  using ValueInfos = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;
  /// A function as some of its calls see it.
  struct Variant {
    std::string original, name, domain, overload, body;
  };

  /// A region while its nodes are written.
  struct Emission {
    std::vector<std::unique_ptr<onnx::NodeProto>> nodes;
    std::map<std::pair<const ValuePlan *, Form>, std::string> casts;
  };

  void nameConstants(const RegionPlan &region);
  void rewriteGraph(RegionPlan &region, onnx::GraphProto &graph);
  void rewriteNodes(RegionPlan &region, Nodes &nodes);
  void rewriteNode(RegionPlan &region, NodePlan &node,
                   std::unique_ptr<onnx::NodeProto> proto);
  void rewriteGraphOutputs(RegionPlan &region, onnx::GraphProto &graph);
  void nameOutput(RegionPlan &region, ValuePlan &value, std::string &name,
                  Emission &casts);
  void rewriteCall(RegionPlan &region, NodePlan &node, onnx::NodeProto &proto);
  void rewriteInitializers(RegionPlan &region, onnx::GraphProto &graph);
  void rewriteConstantNode(RegionPlan &region, const ValuePlan &value,
                           std::unique_ptr<onnx::NodeProto> proto);
  void retypeValueInfos(const RegionPlan &region, ValueInfos &infos);
  void fillTensor(onnx::TensorProto &tensor, const ValuePlan &value,
                  int32_t type);
  void placeFunctions();

  std::string getName(RegionPlan &region, ValuePlan &value, Form form);
  void addCast(const RegionPlan &region, Emission &emission,
               const std::string &input, const std::string &output,
               int32_t type);
  std::vector<int32_t> getConstantTypes(const ValuePlan &value) const;

  const importer::CheckedModel &checked;
  ModelPlan &plan;
  onnx::ModelProto &model;
  importer::ImportDiagnostics &diags;
  FreshNames names;
  std::map<const RegionPlan *, Emission> emissions;
  std::map<const RegionPlan *, std::vector<ValuePlan *>> constants;
  /// Names of values in the types they hold.
  std::map<std::pair<const ValuePlan *, int32_t>, std::string> valueNames;
  /// The types that the values' own names stand for, if not the current ones.
  llvm::DenseMap<const ValuePlan *, int32_t> namedTypes;
  std::vector<Conversion> conversions;
  std::map<std::pair<const void *, int32_t>, uint32_t> conversionIndex;
  std::vector<Variant> variants;
  std::vector<std::unique_ptr<onnx::FunctionProto>> newFunctions;
  llvm::StringSet<> keptFunctions; ///< still called in their original form
  bool failedCast = false;
};

} // namespace ampc::exporter

#endif // AMPC_COMPILER_EXPORT_GRAPHREWRITER_H
