//===- FreshNames.cpp - Names that a model does not have yet --------------===//
#include "compiler/Export/GraphRewriter.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"

using namespace llvm;

namespace ampc::exporter {

FreshNames::FreshNames(const onnx::ModelProto &model) {
  addGraph(model.graph());
  for (const onnx::FunctionProto &function : model.functions()) {
    addFunction(function);
  }
}

FreshNames::FreshNames(const onnx::FunctionProto &function) {
  addFunction(function);
}

void FreshNames::addFunction(const onnx::FunctionProto &function) {
  taken.insert(function.name());
  for (const auto *list : {&function.input(), &function.output()}) {
    for (const std::string &name : *list) {
      taken.insert(name);
    }
  }
  addNodes(function.node());
}

void FreshNames::addGraph(const onnx::GraphProto &graph) {
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    taken.insert(tensor.name());
  }
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
    taken.insert(tensor.values().name());
  }
  for (const auto *list : {&graph.input(), &graph.output()}) {
    for (const onnx::ValueInfoProto &value : *list) {
      taken.insert(value.name());
    }
  }
  addNodes(graph.node());
}

void FreshNames::addNodes(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
  for (const onnx::NodeProto &node : nodes) {
    taken.insert(node.name());
    for (const std::string &name : node.input()) {
      taken.insert(name);
    }
    for (const std::string &name : node.output()) {
      taken.insert(name);
    }
    importer::forEachSubgraph(
        node, [&](const onnx::GraphProto &graph) { addGraph(graph); });
  }
}

std::string FreshNames::make(StringRef base, StringRef suffix) {
  std::string wanted = (base + "_" + suffix).str(), name = wanted;
  for (unsigned number = 1; !taken.insert(name).second; ++number) {
    name = wanted + "_" + std::to_string(number);
  }
  return name;
}

} // namespace ampc::exporter
