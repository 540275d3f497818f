//===- GraphCheckTest.cpp - Versions, names, scopes, cycles ---------------===//
#include "compiler/Import/GraphCheck.h"
#include "test/compiler/import/ImportTestUtils.h"
#include "llvm/Support/raw_ostream.h"

using namespace ampc;
using namespace ampc::importer;
using namespace ampc::importer::test;

namespace {

class GraphCheckTest : public testing::Test {
protected:
  std::optional<CheckedModel> check() { return checkModel(model, diags); }
  std::string message(size_t index = 0) const {
    return index < diags.getAll().size() ? diags.getAll()[index].message : "";
  }
  onnx::GraphProto &addSubgraph(onnx::NodeProto &node) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name("body");
    return *attribute.mutable_g();
  }

  /// A test that is not about outputs declares one.
  void declareOutput() {
    addInput(graph, "declared");
    addOutput(graph, "declared");
  }

  onnx::ModelProto model = makeModel();
  onnx::GraphProto &graph = *model.mutable_graph();
  ImportDiagnostics diags{"m.onnx"};
};

TEST_F(GraphCheckTest, unsortedNodesAreSorted) {
  addInput(graph, "x");
  addNode(graph, "Relu", {"b"}, {"c"});
  addNode(graph, "Relu", {"x"}, {"a"});
  addNode(graph, "Relu", {"a"}, {"b"});
  addOutput(graph, "c");
  auto checked = check();
  ASSERT_TRUE(checked) << message();
  EXPECT_EQ(checked->orders[&graph], (std::vector<uint32_t>{1, 2, 0}));
}

TEST_F(GraphCheckTest, subgraphCapturesOrderTheOuterNodes) {
  declareOutput();
  addInput(graph, "x");
  onnx::NodeProto &node = addNode(graph, "If", {"x"}, {"y"});
  onnx::GraphProto &body = addSubgraph(node);
  addNode(body, "Relu", {"late"}, {"inner"});
  addOutput(body, "inner");
  addNode(graph, "Relu", {"x"}, {"late"});
  auto checked = check();
  ASSERT_TRUE(checked) << message();
  EXPECT_EQ(checked->orders[&graph], (std::vector<uint32_t>{1, 0}));
}

TEST_F(GraphCheckTest, negative_cycle) {
  declareOutput();
  addNode(graph, "Relu", {"b"}, {"a"}, "first");
  addNode(graph, "Relu", {"a"}, {"b"}, "second");
  EXPECT_FALSE(check());
  EXPECT_EQ(message(),
            "nodes depend on each other in a cycle: first <- second");
  EXPECT_EQ(diags.getExitCode(), 3);
}

TEST_F(GraphCheckTest, negative_allDefectsAtOnce) {
  addNode(graph, "Relu", {"nowhere"}, {"a"}, "n0");
  addNode(graph, "Relu", {"a"}, {"a"}, "n1");
  addOutput(graph, "missing");
  EXPECT_FALSE(check());
  std::string all;
  llvm::raw_string_ostream os(all);
  diags.print(os);
  EXPECT_EQ(all,
            "m.onnx:n1: error: value 'a' is defined twice\n"
            "m.onnx:n0: error: input 'nowhere' is defined by no node, graph "
            "input or initializer\n"
            "m.onnx:missing: error: graph output is defined by no node, graph "
            "input or initializer\n"
            "3 errors, 0 warnings\n");
}

TEST_F(GraphCheckTest, negative_innerNameIsNotVisibleOutside) {
  declareOutput();
  addInput(graph, "x");
  onnx::NodeProto &node = addNode(graph, "If", {"x"}, {"y"});
  onnx::GraphProto &body = addSubgraph(node);
  addNode(body, "Relu", {"x"}, {"inner"});
  addNode(graph, "Relu", {"inner"}, {"z"}, "outer");
  EXPECT_FALSE(check());
  EXPECT_EQ(diags.getAll().front().where, "outer");
}

TEST_F(GraphCheckTest, negative_noOutputs) {
  EXPECT_FALSE(check());
  EXPECT_EQ(message(), "the graph has no outputs");
}

TEST_F(GraphCheckTest, negative_versions) {
  declareOutput();
  model.set_ir_version(15);
  model.mutable_opset_import(0)->set_version(29);
  EXPECT_FALSE(check());
  EXPECT_EQ(message(0), "expected an IR version between 3 and 14, got 15");
  EXPECT_EQ(message(1), "expected an opset between 1 and 28, got 29");
  EXPECT_EQ(diags.getExitCode(), 4);
}

TEST_F(GraphCheckTest, negative_functionsCallingEachOtherThroughASubgraph) {
  declareOutput();
  for (auto [name, callee] : {std::pair("f", "g"), std::pair("g", "f")}) {
    onnx::FunctionProto &function = *model.add_functions();
    function.set_name(name);
    function.set_domain("local");
    onnx::NodeProto &node = *function.add_node();
    node.set_op_type("If");
    node.add_output("y");
    onnx::NodeProto &call = *addSubgraph(node).add_node();
    call.set_op_type(callee);
    call.set_domain("local");
    call.add_output("z");
  }
  EXPECT_FALSE(check());
  EXPECT_EQ(message(), "model function calls itself");
}

} // namespace
