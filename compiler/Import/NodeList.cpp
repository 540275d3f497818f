//===- NodeList.cpp - The names of a model's nodes ------------------------===//
#include "compiler/Import/GraphCheck.h"
#include "compiler/Import/Import.h"
#include "compiler/Import/ModelFile.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ampc::importer {

namespace {

/// Walks a model that has passed checkModel: no function calls itself.
class NodeLister {
public:
  explicit NodeLister(const onnx::ModelProto &model) : model(model) {
    for (const onnx::FunctionProto &function : model.functions()) {
      functions.functions[getFunctionKey(function.domain(), function.name(),
                                         function.overload())] = &function;
    }
  }

  std::vector<std::string> run() {
    list(model.graph().node(), "");
    return std::move(names);
  }

private:
  void list(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
            const std::string &prefix) {
    // Functions that call functions multiply; the importer stops there, too.
    constexpr size_t maxNames = 1 << 18;
    for (auto [index, node] : enumerate(nodes)) {
      if (names.size() >= maxNames) {
        return;
      }
      names.push_back(prefix + getNodeLabel(node, index));
      std::string inner = names.back() + "/";
      if (const onnx::FunctionProto *function = functions.findFunction(node)) {
        list(function->node(), inner);
      }
      forEachSubgraph(node, [&](const onnx::GraphProto &graph) {
        list(graph.node(), inner);
      });
    }
  }

  const onnx::ModelProto &model;
  CheckedModel functions;
  std::vector<std::string> names;
};

} // namespace

std::vector<std::string> listNodeNames(const ModelFile &model) {
  return NodeLister(model.getProto()).run();
}

} // namespace ampc::importer
