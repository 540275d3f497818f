//===- RecomputeActivations.cpp - Keep less for the backward pass ---------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Interfaces/FusionInterfaces.h"
#include "passes/Training/BackwardPass.h"
#include "passes/Training/MinCut.h"
#include "passes/Training/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGRECOMPUTEACTIVATIONSPASS
#include "passes/Training/Passes.h.inc"

namespace {

/// Operations that one recomputation may have; a value behind more is kept.
constexpr size_t longestRecomputation = 16;

FusionKind getKind(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable ? fusable.getFusionKind() : FusionKind::Never;
}

/// Whether `op` fuses into what reads its result.
bool isRecomputable(Operation *op) {
  FusionKind kind = getKind(op);
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         (kind == FusionKind::Elementwise || kind == FusionKind::View);
}

/// Whether an operand that is computed on the way is read once by the kernel of
/// `op`, which then has no need of it in memory.
bool fusesOperands(Operation *op) {
  FusionKind kind = getKind(op);
  return kind == FusionKind::Elementwise || kind == FusionKind::View ||
         kind == FusionKind::RowReduction;
}

/// Decides for one function what is kept, and rewrites the backward pass.
class Recomputation {
public:
  explicit Recomputation(func::FuncOp function)
      : block(function.getBody().front()), halves(function) {
    for (Operation *op : halves.forward) {
      for (Value result : op->getResults()) {
        nodes.insert({result, 0});
      }
    }
  }

  void run();

private:
  void findStored();
  void buildNetwork();
  int64_t getCost(Value value) const;
  /// What a reader of `value` computes again, in order; empty: it is kept.
  SmallVector<Operation *> collect(Value value) const;
  void rewrite();
  void eraseDead();

  Block &block;
  BackwardPass halves;
  /// Activations that may be read from memory only, not computed again.
  llvm::DenseSet<Value> stored;
  /// Operations between an activation and the backward pass.
  llvm::DenseMap<Value, int64_t> distance;
  /// Each activation's first node of two, between which it is cut.
  llvm::MapVector<Value, unsigned> nodes;
  FlowNetwork network;
  llvm::BitVector side;
};

/// A contraction reads each element of its operands many times. What it reads
/// is in memory, but for views and casts from less, which cost it nothing.
void Recomputation::findStored() {
  for (Operation *reader : halves.backward) {
    if (fusesOperands(reader)) {
      continue;
    }
    for (Value operand : reader->getOperands()) {
      while (nodes.contains(operand)) {
        Operation *by = operand.getDefiningOp();
        // Of elementwise operations only a cast has a smaller operand.
        bool isFree = getKind(by) == FusionKind::View ||
                      (isRecomputable(by) && by->getNumOperands() == 1 &&
                       countBytes(by->getOperand(0)) < countBytes(operand));
        if (!isFree) {
          stored.insert(operand);
          break;
        }
        operand = by->getOperand(0);
      }
    }
  }
}

/// Bytes, and a tenth more for each operation on the way to the backward pass,
/// up to 16 times as much: of two equal cuts the later one, which recomputes
/// less. PyTorch's partitioner (torch/_functorch/partitioners.py) weighs alike.
int64_t Recomputation::getCost(Value value) const {
  double weight = 1;
  for (int64_t i = 0, e = std::min<int64_t>(distance.lookup(value), 30); i < e;
       ++i) {
    weight *= 1.1;
  }
  return static_cast<int64_t>(static_cast<double>(countBytes(value)) * weight *
                              16);
}

void Recomputation::buildNetwork() {
  unsigned source = network.addNode(), sink = network.addNode();
  for (auto &[value, node] : nodes) {
    node = network.addNode();
    network.addNode();
  }
  // Readers come after what they read.
  for (auto &[value, node] : llvm::reverse(nodes)) {
    int64_t least = std::numeric_limits<int64_t>::max();
    bool isRead = false;
    for (Operation *reader : value.getUsers()) {
      if (halves.isBackward(reader)) {
        isRead = true;
        least = 0;
      }
      for (Value result : reader->getResults()) {
        if (auto it = distance.find(result); it != distance.end()) {
          least = std::min(least, it->second + 1);
        }
      }
    }
    if (least == std::numeric_limits<int64_t>::max()) {
      continue; // the backward pass needs nothing of it
    }
    distance[value] = least;
    network.addEdge(node, node + 1, getCost(value));
    if (isRead) {
      network.addEdge(node + 1, sink, FlowNetwork::unlimited);
    }
  }
  for (auto &[value, node] : nodes) {
    Operation *by = value.getDefiningOp();
    if (!isRecomputable(by) || stored.contains(value)) {
      network.addEdge(source, node, FlowNetwork::unlimited);
      continue;
    }
    for (Value operand : by->getOperands()) {
      if (auto *it = nodes.find(operand); it != nodes.end()) {
        network.addEdge(it->second + 1, node, FlowNetwork::unlimited);
      }
    }
  }
  side = network.cut(source, sink);
}

SmallVector<Operation *> Recomputation::collect(Value value) const {
  SetVector<Operation *> found;
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    auto *it = nodes.find(next);
    // In memory: a parameter, a value on the cut, or one before it.
    if (it == nodes.end() || side[it->second]) {
      continue;
    }
    if (found.insert(next.getDefiningOp())) {
      llvm::append_range(pending, next.getDefiningOp()->getOperands());
    }
    if (found.size() > longestRecomputation) {
      return {};
    }
  }
  SmallVector<Operation *> ops(found.begin(), found.end());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// Each reader gets its own copies, so that they fuse into the reader's kernel.
void Recomputation::rewrite() {
  for (Operation *reader : halves.backward) {
    OpBuilder b(reader);
    IRMapping copies;
    for (OpOperand &operand : reader->getOpOperands()) {
      for (Operation *by : collect(operand.get())) {
        if (!copies.contains(by->getResult(0))) {
          b.clone(*by, copies);
        }
      }
      operand.set(copies.lookupOrDefault(operand.get()));
    }
  }
}

void Recomputation::eraseDead() {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator()) {
    ops.push_back(&op);
  }
  for (Operation *op : llvm::reverse(ops)) {
    if (isOpTriviallyDead(op)) {
      op->erase();
    }
  }
}

void Recomputation::run() {
  if (nodes.empty()) {
    return;
  }
  findStored();
  buildNetwork();
  rewrite();
  eraseDead();
}

struct TrainingRecomputeActivationsPass final
    : impl::TrainingRecomputeActivationsPassBase<
          TrainingRecomputeActivationsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!getOperation().isDeclaration()) {
      Recomputation(getOperation()).run();
    }
  }
};

} // namespace
} // namespace ampc::training
