//===- ConstantSlice.cpp - What is computable at compile time -------------===//
#include "passes/Analysis/ConstantSlice.h"

#include "dialects/Interfaces/ReferenceInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ampc;

/// Whether the evaluator can run `op` where it knows its operands: the op has a
/// reference, or is a region on its own of such ops.
static bool hasReference(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    return true;
  }
  if (!isPure(op)) {
    return false;
  }
  if (op->getNumRegions() == 0) {
    return isa<ReferenceOpInterface>(op);
  }
  if (!op->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    return false;
  }
  WalkResult result = op->walk([&](Operation *inner) {
    bool known = inner == op || inner->hasTrait<OpTrait::IsTerminator>() ||
                 inner->hasTrait<OpTrait::ConstantLike>() ||
                 isa<ReferenceOpInterface>(inner) ||
                 (inner->getNumRegions() != 0 &&
                  inner->hasTrait<OpTrait::IsIsolatedFromAbove>());
    return known ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

ConstantSlice::ConstantSlice(Operation *root) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool computable = op != root && op->getNumResults() != 0 &&
                      llvm::all_of(op->getOperands(), [&](Value operand) {
                        return isComputable(operand);
                      });
    if (computable && hasReference(op)) {
      ops.insert(op);
    }
  });
}

SmallVector<Operation *> ConstantSlice::getSlice(Value value) const {
  assert(isComputable(value) && "value is not computable");
  SmallVector<Operation *> order;
  // An op stays on the stack, with the operand to visit next, until all its
  // operands are ordered.
  SmallVector<std::pair<Operation *, unsigned>> stack;
  llvm::DenseSet<Operation *> seen{value.getDefiningOp()};
  stack.emplace_back(value.getDefiningOp(), 0);
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    if (next == op->getNumOperands()) {
      order.push_back(op);
      stack.pop_back();
      continue;
    }
    Operation *maker = op->getOperand(next++).getDefiningOp();
    if (seen.insert(maker).second) {
      stack.emplace_back(maker, 0);
    }
  }
  return order;
}
