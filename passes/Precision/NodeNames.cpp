//===- NodeNames.cpp - The ONNX nodes that an operation stands for --------===//
#include "passes/Precision/NodeNames.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

/// Reads one node and the location below its operator, which is unknown where
/// no call surrounds it.
static OnnxNode readNode(NameLoc name, Location &rest) {
  OnnxNode node;
  node.name = name.getName().getValue();
  rest = name.getChildLoc();
  if (auto path = dyn_cast<NameLoc>(rest)) {
    node.path = path.getName().getValue();
    rest = path.getChildLoc();
    if (auto operatorName = dyn_cast<NameLoc>(rest)) {
      node.operatorName = operatorName.getName().getValue();
      rest = operatorName.getChildLoc();
    }
  }
  return node;
}

static void collectNodes(Location loc, SmallVectorImpl<NestedNode> &nodes) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    NestedNode nested;
    Location rest = UnknownLoc::get(loc.getContext());
    nested.node = readNode(name, rest);
    while (auto call = dyn_cast<NameLoc>(rest)) {
      nested.calls.push_back(readNode(call, rest));
    }
    nodes.push_back(std::move(nested));
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations()) {
      collectNodes(part, nodes);
    }
  }
}

SmallVector<NestedNode, 2> precision::getNodes(Location loc) {
  SmallVector<NestedNode, 2> nodes;
  collectNodes(loc, nodes);
  return nodes;
}

NodeNames precision::getNodeNames(Location loc) {
  llvm::SmallSetVector<StringRef, 2> names, paths, operators;
  for (const NestedNode &nested : getNodes(loc)) {
    names.insert(nested.node.name);
    if (!nested.node.path.empty()) {
      paths.insert(nested.node.path);
    }
    if (!nested.node.operatorName.empty()) {
      operators.insert(nested.node.operatorName);
    }
  }
  return {names.takeVector(), paths.takeVector(), operators.takeVector()};
}

StringRef precision::getOperatorName(Operation *op) {
  if (auto composite = dyn_cast<amp::CompositeOp>(op)) {
    return composite.getName();
  }
  return op->getName().stripDialect();
}

std::string precision::normalizeOperator(StringRef name) {
  std::string text;
  // The default domain goes without a name; "ai.onnx.ml" is another one.
  if (!name.consume_front("ai.onnx::") &&
      !name.drop_front(std::min<size_t>(name.size(), 8)).contains('.')) {
    name.consume_front("ai.onnx.");
  }
  name.consume_back("alization");
  bool wasColon = false;
  for (char c : name.lower()) {
    bool isColon = c == ':';
    if (isColon && !wasColon) {
      text += '.';
    } else if (!isColon && c != '_') {
      text += c;
    }
    wasColon = isColon;
  }
  return text;
}

std::string precision::describeNearest(StringRef wanted,
                                       ArrayRef<StringRef> names) {
  SmallVector<std::pair<unsigned, StringRef>> ranked;
  for (StringRef name : names) {
    ranked.emplace_back(wanted.edit_distance(name), name);
  }
  llvm::sort(ranked);
  std::string text;
  for (auto [distance, name] : ArrayRef(ranked).take_front(3)) {
    text += (text.empty() ? "; nearest: '" : ", '") + name.str() + "'";
  }
  return text;
}
