//===- GraphCheck.cpp - Is this message a well-formed ONNX model ----------===//
#include "compiler/Import/GraphCheck.h"

#include "compiler/Import/NodeOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <functional>

using namespace llvm;

namespace ampc::importer {

StringRef normalizeDomain(StringRef domain) {
  return domain == "ai.onnx" ? StringRef() : domain;
}

std::string getNodeLabel(const onnx::NodeProto &node, size_t index) {
  if (!node.name().empty()) {
    return node.name();
  }
  return node.op_type() + "_" + std::to_string(index);
}

std::string getFunctionKey(StringRef domain, StringRef name,
                           StringRef overload) {
  // A zero byte cannot be told from a separator elsewhere: names with one are
  // refused before any key is built.
  std::string key = normalizeDomain(domain).str();
  key += '\0';
  key += name;
  key += '\0';
  key += overload;
  return key;
}

const onnx::FunctionProto *
CheckedModel::findFunction(const onnx::NodeProto &node) const {
  return functions.lookup(
      getFunctionKey(node.domain(), node.op_type(), node.overload()));
}

void forEachSubgraph(const onnx::NodeProto &node,
                     function_ref<void(const onnx::GraphProto &)> visit) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g()) {
      visit(attribute.g());
    }
    for (const onnx::GraphProto &graph : attribute.graphs()) {
      visit(graph);
    }
  }
}

namespace {

using Names = SetVector<StringRef>;

/// The names visible at a place: those of a graph and of all around it.
struct Scope {
  StringSet<> names;
  const Scope *outer = nullptr;

  bool contains(StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->outer) {
      if (scope->names.contains(name)) {
        return true;
      }
    }
    return false;
  }
};

/// What graphs and function bodies have in common.
struct Body {
  const void *key = nullptr;
  std::string label; // for messages: the graph's or function's name
  std::vector<StringRef> inputs, initializers, outputs;
  const google::protobuf::RepeatedPtrField<onnx::NodeProto> *nodes = nullptr;
  bool hasOpsets = false; // a function's own
};

class Checker {
public:
  Checker(const onnx::ModelProto &model, ImportDiagnostics &diags)
      : model(model), diags(diags) {}

  void run(CheckedModel &out) {
    result = &out;
    checkVersions();
    collectFunctions();
    checkBody(fromGraph(model.graph()), nullptr);
    for (const onnx::FunctionProto &function : model.functions()) {
      checkBody(fromFunction(function), nullptr);
    }
    checkFunctionCycles();
  }

private:
  void checkVersions();
  void collectFunctions();
  void checkFunctionCycles();
  void checkBody(const Body &body, const Scope *outer);
  void declareNames(const Body &body, Scope &scope,
                    StringMap<uint32_t> &producers);
  void reportCycle(const Body &body, ArrayRef<uint32_t> cycle);

  static Body fromGraph(const onnx::GraphProto &graph);
  static Body fromFunction(const onnx::FunctionProto &function);
  /// Names that a graph takes from the scopes around it.
  const Names &freeNames(const onnx::GraphProto &graph);

  const onnx::ModelProto &model;
  ImportDiagnostics &diags;
  CheckedModel *result = nullptr;
  DenseMap<const onnx::GraphProto *, std::unique_ptr<Names>> freeNamesCache;
};

} // namespace

void Checker::checkVersions() {
  int64_t ir = model.ir_version();
  if (ir < minIrVersion || ir > maxIrVersion) {
    (void)diags.unsupported("", "expected an IR version between " +
                                    Twine(minIrVersion) + " and " +
                                    Twine(maxIrVersion) + ", got " + Twine(ir));
  }
  for (const onnx::OperatorSetIdProto &opset : model.opset_import()) {
    StringRef domain = normalizeDomain(opset.domain());
    auto [it, isNew] = result->opsets.try_emplace(domain, opset.version());
    if (!isNew && it->second != opset.version()) {
      (void)diags.invalid("", "opset of domain '" + printableName(domain) +
                                  "' is imported in two versions");
    }
  }
  auto it = result->opsets.find("");
  if (it == result->opsets.end()) {
    return; // an error only if a node needs it
  }
  if (it->second < minOpset || it->second > maxOpset) {
    (void)diags.unsupported("",
                            "expected an opset between " + Twine(minOpset) +
                                " and " + Twine(maxOpset) + ", got " +
                                Twine(it->second),
                            "export the model again with a supported opset");
  }
}

void Checker::collectFunctions() {
  for (const onnx::FunctionProto &function : model.functions()) {
    StringRef name = function.name(), domain = function.domain();
    if (name.empty() || name.contains('\0') || domain.contains('\0')) {
      (void)diags.invalid(name, "model function without a usable name");
      continue;
    }
    std::string key = getFunctionKey(domain, name, function.overload());
    if (!result->functions.try_emplace(key, &function).second) {
      (void)diags.invalid(name, "model function is defined twice");
    }
  }
}

Body Checker::fromGraph(const onnx::GraphProto &graph) {
  Body body;
  body.key = &graph;
  body.label = graph.name();
  body.nodes = &graph.node();
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    body.initializers.push_back(tensor.name());
  }
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
    body.initializers.push_back(tensor.values().name());
  }
  for (const onnx::ValueInfoProto &input : graph.input()) {
    body.inputs.push_back(input.name());
  }
  for (const onnx::ValueInfoProto &output : graph.output()) {
    body.outputs.push_back(output.name());
  }
  return body;
}

Body Checker::fromFunction(const onnx::FunctionProto &function) {
  Body body;
  body.key = &function;
  body.label = function.name();
  body.nodes = &function.node();
  body.hasOpsets = function.opset_import_size() != 0;
  for (const std::string &input : function.input()) {
    body.inputs.push_back(input);
  }
  for (const std::string &output : function.output()) {
    body.outputs.push_back(output);
  }
  return body;
}

const Names &Checker::freeNames(const onnx::GraphProto &graph) {
  std::unique_ptr<Names> &slot = freeNamesCache[&graph];
  if (slot) {
    return *slot;
  }
  auto names = std::make_unique<Names>();
  StringSet<> own;
  Body body = fromGraph(graph);
  for (ArrayRef<StringRef> list :
       {ArrayRef(body.inputs), ArrayRef(body.initializers)}) {
    for (StringRef name : list) {
      own.insert(name);
    }
  }
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &output : node.output()) {
      own.insert(output);
    }
  }
  auto use = [&](StringRef name) {
    if (!name.empty() && !own.contains(name)) {
      names->insert(name);
    }
  };
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &input : node.input()) {
      use(input);
    }
    forEachSubgraph(node, [&](const onnx::GraphProto &inner) {
      for (StringRef name : freeNames(inner)) {
        use(name);
      }
    });
  }
  llvm::for_each(body.outputs, use);
  // The recursion may have grown the map: look the slot up again.
  std::unique_ptr<Names> &final = freeNamesCache[&graph];
  final = std::move(names);
  return *final;
}

/// Enters all names that `body` defines, each with the node that produces it.
void Checker::declareNames(const Body &body, Scope &scope,
                           StringMap<uint32_t> &producers) {
  StringSet<> initializers;
  for (StringRef name : body.initializers) {
    if (name.empty()) {
      (void)diags.invalid(body.label, "initializer without a name");
    } else if (!initializers.insert(name).second) {
      (void)diags.invalid(name, "initializer is defined twice");
    }
    scope.names.insert(name);
  }
  StringSet<> inputs;
  for (StringRef name : body.inputs) {
    if (name.empty()) {
      (void)diags.invalid(body.label, "graph input without a name");
    } else if (!inputs.insert(name).second) {
      (void)diags.invalid(name, "graph input is declared twice");
    }
    scope.names.insert(name);
  }
  for (int index = 0; index < body.nodes->size(); ++index) {
    const onnx::NodeProto &node = body.nodes->Get(index);
    for (const std::string &output : node.output()) {
      if (output.empty()) {
        continue;
      }
      if (!scope.names.insert(output).second) {
        (void)diags.invalid(getNodeLabel(node, index),
                            "value '" + printableName(output) +
                                "' is defined twice");
      }
      producers.try_emplace(output, index);
    }
  }
}

void Checker::checkBody(const Body &body, const Scope *outer) {
  Scope scope;
  scope.outer = outer;
  StringMap<uint32_t> producers;
  declareNames(body, scope, producers);

  std::vector<NodeDependences> deps(body.nodes->size());
  for (int index = 0; index < body.nodes->size(); ++index) {
    const onnx::NodeProto &node = body.nodes->Get(index);
    std::string label = getNodeLabel(node, index);
    if (node.op_type().empty()) {
      (void)diags.invalid(label, "node without an operator");
    }
    if (node.output_size() == 0) {
      (void)diags.invalid(label, "node without outputs");
    }
    if (!body.hasOpsets && normalizeDomain(node.domain()).empty() &&
        !result->opsets.contains("") && !result->findFunction(node)) {
      (void)diags.invalid(label, "its operator is of ai.onnx, of which the "
                                 "model imports no opset");
    }
    auto use = [&](StringRef name) {
      if (name.empty()) {
        return;
      }
      if (auto it = producers.find(name); it != producers.end()) {
        deps[index].push_back(it->second);
      } else if (!scope.contains(name)) {
        (void)diags.invalid(label, "input '" + printableName(name) +
                                       "' is defined by no node, graph input "
                                       "or initializer");
      }
    };
    for (const std::string &input : node.input()) {
      use(input);
    }
    forEachSubgraph(node, [&](const onnx::GraphProto &graph) {
      for (StringRef name : freeNames(graph)) {
        // What the subgraph cannot see is reported when it is checked itself.
        if (producers.contains(name)) {
          use(name);
        }
      }
      checkBody(fromGraph(graph), &scope);
    });
  }
  if (body.key == &model.graph() && body.outputs.empty()) {
    (void)diags.invalid(body.label, "the graph has no outputs");
  }
  StringSet<> outputs;
  for (StringRef name : body.outputs) {
    if (!scope.contains(name)) {
      (void)diags.invalid(name, "graph output is defined by no node, graph "
                                "input or initializer");
    }
    if (!outputs.insert(name).second && !outer) {
      (void)diags.invalid(name, "graph output is declared twice");
    }
  }
  SortedNodes sorted = sortNodes(deps);
  if (!sorted.cycle.empty()) {
    reportCycle(body, sorted.cycle);
  }
  result->orders[body.key] = std::move(sorted.order);
}

void Checker::reportCycle(const Body &body, ArrayRef<uint32_t> cycle) {
  constexpr size_t maxShown = 8;
  auto label = [&](uint32_t node) {
    return getNodeLabel(body.nodes->Get(node), node);
  };
  std::string chain;
  for (uint32_t node : cycle.take_front(maxShown)) {
    chain += (chain.empty() ? "" : " <- ") + printableName(label(node));
  }
  if (cycle.size() > maxShown) {
    chain += " <- ...";
  }
  (void)diags.invalid(label(cycle.front()),
                      "nodes depend on each other in a cycle: " + chain);
}

/// A function may not call itself, not even through a subgraph of a node.
void Checker::checkFunctionCycles() {
  enum class State : uint8_t { New, Open, Done };
  DenseMap<const onnx::FunctionProto *, State> states;
  // Depth is bounded by the number of functions; an explicit stack keeps long
  // chains of calls off the machine's.
  using Calls = SmallVector<const onnx::FunctionProto *, 4>;
  auto collectCalls = [&](const auto &nodes) {
    Calls calls;
    std::function<void(const onnx::NodeProto &)> visit =
        [&](const onnx::NodeProto &node) {
          if (const onnx::FunctionProto *callee = result->findFunction(node)) {
            calls.push_back(callee);
          }
          forEachSubgraph(node, [&](const onnx::GraphProto &graph) {
            llvm::for_each(graph.node(), visit);
          });
        };
    llvm::for_each(nodes, visit);
    return calls;
  };
  for (const onnx::FunctionProto &root : model.functions()) {
    if (states[&root] != State::New) {
      continue;
    }
    SmallVector<std::pair<const onnx::FunctionProto *, Calls>> stack;
    stack.emplace_back(&root, collectCalls(root.node()));
    states[&root] = State::Open;
    while (!stack.empty()) {
      auto &[function, calls] = stack.back();
      if (calls.empty()) {
        states[function] = State::Done;
        stack.pop_back();
        continue;
      }
      const onnx::FunctionProto *callee = calls.pop_back_val();
      State &state = states[callee];
      if (state == State::Open) {
        (void)diags.invalid(callee->name(), "model function calls itself");
        continue;
      }
      if (state == State::New) {
        state = State::Open;
        stack.emplace_back(callee, collectCalls(callee->node()));
      }
    }
  }
}

std::optional<CheckedModel> checkModel(const onnx::ModelProto &model,
                                       ImportDiagnostics &diags) {
  size_t before = diags.getNumErrors();
  CheckedModel result;
  Checker(model, diags).run(result);
  if (diags.getNumErrors() != before) {
    return std::nullopt;
  }
  return result;
}

} // namespace ampc::importer
