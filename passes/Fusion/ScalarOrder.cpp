//===- ScalarOrder.cpp - Where numbers of rank 0 are computed -------------===//
#include "passes/Fusion/ScalarOrder.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ampc;

static bool isRank0(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

bool fusion::isScalarOp(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && fusable.getFusionKind() == FusionKind::Elementwise &&
         llvm::all_of(op->getOperands(), isRank0) &&
         llvm::all_of(op->getResults(), isRank0);
}

bool fusion::isScalarRoot(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && fusable.getFusionKind() == FusionKind::RowReduction &&
         op->getNumResults() == 1 && isRank0(op->getResult(0));
}

namespace {

class ScalarOrder {
public:
  ScalarOrder(Block &block, const ConstantSlice &constants)
      : block(block), constants(constants) {
    for (Operation &op : block.without_terminator()) {
      if (fusion::isScalarRoot(&op) && !constants.isComputable(&op)) {
        lastRoot = &op;
      }
    }
  }

  void run() {
    if (!lastRoot) {
      return;
    }
    collect();
    raise();
    hoistDependent();
    copyForEarlyUsers();
    sinkFree();
  }

private:
  bool isScalar(Operation *op) const {
    return fusion::isScalarOp(op) && !constants.isComputable(op);
  }
  bool isFree(Value value) const {
    Operation *op = value.getDefiningOp();
    return !op || constants.isComputable(op) || free.contains(op);
  }

  /// Scalar ops that no tensor op comes before are free, others are not.
  void collect() {
    for (Operation &op : block.without_terminator()) {
      if (!isScalar(&op)) {
        continue;
      }
      bool is = llvm::all_of(op.getOperands(),
                             [&](Value operand) { return isFree(operand); });
      if (is) {
        free.insert(&op);
      }
      (is ? order : dependent).push_back(&op);
    }
  }

  /// Free scalars to the start of the block, and the constants of all scalars.
  void raise() {
    Operation *first = &block.front();
    for (const auto *list : {&order, &dependent}) {
      for (Operation *op : *list) {
        for (Value operand : op->getOperands()) {
          raiseConstant(operand, first);
        }
      }
    }
    for (Operation *op : order) {
      if (op != first) {
        op->moveBefore(first);
      } else {
        first = op->getNextNode();
      }
    }
  }

  void raiseConstant(Value value, Operation *&first) {
    Operation *op = value.getDefiningOp();
    if (!op || !constants.isComputable(op) || !raised.insert(op).second) {
      return;
    }
    for (Value operand : op->getOperands()) {
      raiseConstant(operand, first);
    }
    if (op != first) {
      op->moveBefore(first);
    } else {
      first = op->getNextNode();
    }
  }

  /// Those that are not free go right behind what they need, in their order.
  void hoistDependent() {
    for (Operation *op : dependent) {
      Operation *after = nullptr;
      for (Value operand : op->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (producer && (!after || after->isBeforeInBlock(producer))) {
          after = producer;
        }
      }
      for (Operation *next = after->getNextNode(); next != op && isScalar(next);
           next = next->getNextNode()) {
        after = next;
      }
      if (after->getNextNode() != op) {
        op->moveAfter(after);
      }
    }
  }

  /// Free scalars that others read before the last reduction is done are
  /// computed there.
  void copyForEarlyUsers() {
    for (Operation *op : llvm::reverse(order)) {
      for (OpOperand &use :
           llvm::make_early_inc_range(op->getResult(0).getUses())) {
        Operation *user = use.getOwner();
        bool isEarly = user == lastRoot || user->isBeforeInBlock(lastRoot);
        if (isEarly && !free.contains(user)) {
          OpBuilder b(user);
          IRMapping copies;
          use.set(copy(b, use.get(), copies));
        }
      }
    }
    for (Operation *op : llvm::reverse(order)) {
      if (op->use_empty()) {
        free.erase(op);
        op->erase();
      }
    }
    llvm::erase_if(order, [&](Operation *op) { return !free.contains(op); });
  }

  Value copy(OpBuilder &b, Value value, IRMapping &copies) {
    Operation *op = value.getDefiningOp();
    if (!op || !free.contains(op)) {
      return value;
    }
    if (!copies.contains(value)) {
      for (Value operand : op->getOperands()) {
        Value copied = copy(b, operand, copies);
        if (copied != operand) {
          copies.map(operand, copied);
        }
      }
      b.clone(*op, copies);
    }
    return copies.lookup(value);
  }

  void sinkFree() {
    Operation *after = lastRoot;
    for (Operation *op : order) {
      op->moveAfter(after);
      after = op;
    }
  }

  Block &block;
  const ConstantSlice &constants;
  Operation *lastRoot = nullptr;
  DenseSet<Operation *> free, raised;
  SmallVector<Operation *> order, dependent; ///< the free ones; the others
};

} // namespace

void fusion::orderScalars(Block &block, const ConstantSlice &constants) {
  ScalarOrder(block, constants).run();
}
