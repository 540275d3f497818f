//===- ImportTestUtils.h - Models built in memory for the import tests ----===//
#ifndef AMPC_TEST_COMPILER_IMPORT_IMPORTTESTUTILS_H
#define AMPC_TEST_COMPILER_IMPORT_IMPORTTESTUTILS_H

#include "compiler/Import/Proto/onnx_subset.pb.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace ampc::importer::test {

/// A folder of its own for each test, removed at its end.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "ampc-import-XXXXXX");
    path = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }

  std::string file(const std::string &name) const { return path / name; }
  std::string write(const std::string &name, const std::string &content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

  std::filesystem::path path;
};

/// The smallest valid model: graph `g` of the given opset, without nodes.
inline onnx::ModelProto makeModel(int64_t opset = 17) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("g");
  return model;
}

inline onnx::NodeProto &addNode(onnx::GraphProto &graph, const char *op,
                                std::initializer_list<const char *> inputs,
                                std::initializer_list<const char *> outputs,
                                const char *name = "") {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const char *input : inputs) {
    node.add_input(input);
  }
  for (const char *output : outputs) {
    node.add_output(output);
  }
  return node;
}

inline void addInput(onnx::GraphProto &graph, const char *name) {
  graph.add_input()->set_name(name);
}

inline void addOutput(onnx::GraphProto &graph, const char *name) {
  graph.add_output()->set_name(name);
}

} // namespace ampc::importer::test

#endif // AMPC_TEST_COMPILER_IMPORT_IMPORTTESTUTILS_H
