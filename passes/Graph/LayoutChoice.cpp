//===- LayoutChoice.cpp - Which ops work with channels last ---------------===//
// A cut of the block's graph: ops on the source's side work with channels last,
// and each value whose maker and readers are on different sides costs its
// bytes, once, however many readers it has.
#include "passes/Graph/LayoutChoice.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/MinCut.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::graph;

bool graph::isFreeTranspose(ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t dim : permutation) {
    if (shape[dim] != 1 && dim < last) {
      return false;
    }
    last = shape[dim] != 1 ? dim : last;
  }
  return true;
}

namespace {
class LayoutGraph {
public:
  explicit LayoutGraph(Block &block) : block(block) {}

  LayoutChoice solve() {
    bool wanted = false;
    for (Operation &op : block) {
      auto rule = getChannelsLastRule(&op);
      // Weights that are computed have the order that their readers expect.
      if (!rule || isConstantExpression(op.getResult(0))) {
        continue;
      }
      unsigned node = cut.addNode();
      nodes[&op] = node;
      rules[&op] = *rule;
      auto layout = dyn_cast<LayoutOpInterface>(op);
      if (layout && layout.wantsChannelsLast()) {
        cut.addEdge(MinCut::source, node, MinCut::infinite);
        wanted = true;
      }
    }
    if (!wanted) {
      return {};
    }
    for (Value argument : block.getArguments()) {
      addValue(argument);
    }
    for (Operation &op : block) {
      for (Value result : op.getResults()) {
        addValue(result);
      }
    }
    std::vector<bool> isLast = cut.solve();
    LayoutChoice choice;
    for (auto [op, node] : nodes) {
      if (isLast[node]) {
        choice.insert(op);
      }
    }
    return choice;
  }

private:
  /// The node whose side says how `use` reads its value: the sink's for what
  /// cannot change. Nullopt when it does not matter: a transposition takes any
  /// order.
  std::optional<unsigned> getReader(OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<amp::TransposeOp>(user)) {
      return std::nullopt;
    }
    auto it = rules.find(user);
    bool moves =
        it != rules.end() &&
        llvm::is_contained(it->second.operands, use.getOperandNumber()) &&
        tensorType(use.get()).getRank() == getRank(user);
    return moves ? nodes.lookup(user) : MinCut::sink;
  }

  /// The rank in which an op permutes.
  int64_t getRank(Operation *op) {
    int64_t rank = tensorType(op->getResult(0)).getRank();
    for (unsigned i : rules[op].operands) {
      rank = std::max(rank, tensorType(op->getOperand(i)).getRank());
    }
    return rank;
  }

  void addValue(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    Operation *maker = value.getDefiningOp();
    if (!type || type.getRank() < 3 || value.use_empty() ||
        isa_and_nonnull<amp::TransposeOp>(maker) ||
        isConstantExpression(value)) {
      return;
    }
    auto it = rules.find(maker);
    unsigned from = it != rules.end() && it->second.results
                        ? nodes.lookup(maker)
                        : MinCut::sink;
    llvm::SmallSetVector<unsigned, 4> readers;
    for (OpOperand &use : value.getUses()) {
      if (auto reader = getReader(use)) {
        readers.insert(*reader);
      }
    }
    readers.remove(from);
    connect(from, readers.getArrayRef(), getCost(type));
  }

  /// The bytes that a transposition moves; next to nothing if it is a reshape.
  int64_t getCost(RankedTensorType type) {
    if (isFreeTranspose(type.getShape(),
                        getChannelsLastPermutation(type.getRank()))) {
      return 1;
    }
    return 1 + type.getNumElements() *
                   llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  }

  /// One transposition, of cost `cost`, serves all readers on the other side.
  void connect(unsigned from, ArrayRef<unsigned> readers, int64_t cost) {
    if (readers.empty()) {
      return;
    }
    if (from != MinCut::sink) {
      unsigned natural = cut.addNode();
      cut.addEdge(from, natural, cost);
      for (unsigned reader : readers) {
        cut.addEdge(natural, reader, MinCut::infinite);
      }
    }
    unsigned last = cut.addNode();
    cut.addEdge(last, from, cost);
    for (unsigned reader : readers) {
      if (reader != MinCut::sink) {
        cut.addEdge(reader, last, MinCut::infinite);
      }
    }
  }

  Block &block;
  MinCut cut;
  llvm::MapVector<Operation *, unsigned> nodes;
  DenseMap<Operation *, LayoutRule> rules;
};
} // namespace

LayoutChoice graph::chooseLayouts(Block &block) {
  return LayoutGraph(block).solve();
}
