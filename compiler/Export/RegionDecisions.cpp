//===- RegionDecisions.cpp - What the decisions mean for each node --------===//
#include "compiler/Export/NodeTypes.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;

namespace ampc::exporter {

using precision::OpDecision;
using precision::Rule;

/// The names that a node reads, those that its subgraphs capture among them.
static void forEachRead(const onnx::NodeProto &node,
                        function_ref<void(StringRef)> visit) {
  for (const std::string &input : node.input()) {
    visit(input);
  }
  importer::forEachSubgraph(node, [&](const onnx::GraphProto &graph) {
    for (const onnx::NodeProto &inner : graph.node()) {
      forEachRead(inner, visit);
    }
    for (const onnx::ValueInfoProto &output : graph.output()) {
      visit(output.name());
    }
  });
}

static bool keepsTypes(const OpDecision &op) {
  return op.rule == Rule::Pinned || op.rule == Rule::Kept;
}

/// How strongly a decision speaks for the nodes it names: one for an operation
/// that only takes the types of others says less.
static int getStrength(const OpDecision &op) {
  int strength = keepsTypes(op)             ? 0
                 : op.rule == Rule::Follow  ? 1
                 : op.rule == Rule::Promote ? 2
                                            : 3;
  return strength + (op.isView ? 0 : 10) + (op.ofConstants ? 0 : 20);
}

RegionDecisions::RegionDecisions(const DecisionIndex &index,
                                 const RegionPlan &region, const Nodes &nodes,
                                 ArrayRef<std::string> regionOutputs)
    : nodes(nodes), computes(nodes.size()) {
  for (const auto &[i, node] : enumerate(nodes)) {
    for (const std::string &output : node.output()) {
      producers[output] = i;
    }
    forEachRead(node, [&, i = i](StringRef name) {
      auto &list = users[name];
      if (list.empty() || list.back() != i) {
        list.push_back(i);
      }
    });
  }
  for (StringRef output : regionOutputs) {
    isOutput[output] = true;
  }
  // Members of each operation that stand in this region.
  MapVector<const OpDecision *, SetVector<uint32_t>> members;
  for (uint32_t node = 0; node < computes.size(); ++node) {
    DecisionList all;
    for (const std::string &context : region.contexts) {
      ArrayRef<const OpDecision *> found =
          index.find(context + "/" + std::to_string(node));
      for (const OpDecision *op : found) {
        members[op].insert(node);
      }
      append_range(all, found);
      if (computes[node].decisions.empty()) {
        computes[node].decisions = found.vec();
      }
    }
    chooseType(node, all);
  }
  for (const auto &[op, group] : members) {
    bool isWhole = op->autocastClass == AutocastClass::Lower || op->isView ||
                   op->ofConstants || keepsTypes(*op) ||
                   !isLow(parseTypeName(op->type));
    if (!isWhole && group.size() > 1) {
      splitGroup(*op, group.getArrayRef());
    }
    if (op->autocastClass == AutocastClass::Lower) {
      for (uint32_t node : group) {
        computes[node].isFolded |=
            any_of(group, [&](uint32_t other) { return feeds(other, node); });
      }
    }
  }
}

void RegionDecisions::chooseType(uint32_t node, const DecisionList &all) {
  NodeCompute &compute = computes[node];
  const OpDecision *chosen = nullptr;
  for (const OpDecision *op : all) {
    int gain = chosen ? getStrength(*op) - getStrength(*chosen) : 1;
    bool isWider = gain == 0 && isLow(parseTypeName(chosen->type)) &&
                   op->type != chosen->type;
    if (gain > 0) {
      chosen = op;
    } else if (isWider) {
      // Iterations that differ, or two 16-bit types: all in f32.
      chosen =
          parseTypeName(op->type) == onnx::TensorProto::FLOAT ? op : chosen;
    }
  }
  if (!chosen) {
    return;
  }
  compute.type = parseTypeName(chosen->type);
  compute.kind = chosen->rule == Rule::Pinned ? NodeCompute::Pinned
                 : compute.type == 0 || chosen->rule == Rule::Kept
                     ? NodeCompute::Keep
                     : NodeCompute::Typed;
}

bool RegionDecisions::feeds(uint32_t node, uint32_t user) const {
  return any_of(nodes[node].output(), [&](const std::string &output) {
    return is_contained(users.lookup(output), user);
  });
}

void RegionDecisions::splitGroup(const OpDecision &op,
                                 ArrayRef<uint32_t> members) {
  EquivalenceClasses<uint32_t> connected;
  for (uint32_t member : members) {
    connected.insert(member);
  }
  for (uint32_t member : members) {
    for (uint32_t user : members) {
      if (feeds(member, user)) {
        connected.unionSets(member, user);
      }
    }
  }
  for (uint32_t member : members) {
    bool isAlone = none_of(members, [&](uint32_t other) {
      return other != member && connected.isEquivalent(member, other);
    });
    if (isAlone) {
      continue;
    }
    bool isLast = any_of(nodes[member].output(), [&](const std::string &out) {
      return isOutput.count(out) ||
             any_of(users.lookup(out), [&](uint32_t user) {
               return !is_contained(members, user);
             });
    });
    NodeCompute &compute = computes[member];
    compute.kind = NodeCompute::Interior;
    compute.type = isLast ? parseTypeName(op.type) : onnx::TensorProto::FLOAT;
  }
}

} // namespace ampc::exporter
