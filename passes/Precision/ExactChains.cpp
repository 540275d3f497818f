//===- ExactChains.cpp - Positions, which are never lowered ---------------===//
#include "passes/Precision/ExactChains.h"

#include "dialects/Interfaces/PrecisionInterfaces.h"

using namespace mlir;
using namespace ampc;

namespace {
class Finder {
public:
  llvm::DenseSet<Operation *> run(FunctionOpInterface function) {
    SmallVector<PrecisionOpInterface> ops;
    for (BlockArgument argument : function.getArguments()) {
      unrounded.insert(argument);
    }
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      visitForward(op);
      if (auto typed = dyn_cast<PrecisionOpInterface>(op)) {
        ops.push_back(typed);
        // The regions of a typed op (a composite) are its own business.
        return WalkResult::skip();
      }
      return WalkResult::advance();
    });
    for (PrecisionOpInterface op : llvm::reverse(ops)) {
      visitBackward(op);
    }
    return std::move(exact);
  }

private:
  static bool isLowered(PrecisionOpInterface op) {
    return op.getAutocastClass() == AutocastClass::Lower;
  }

  bool hasUnroundedOperands(Operation *op) const {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isAutocastEligible(operand.getType()) ||
             unrounded.contains(operand);
    });
  }

  void visitForward(Operation *op) {
    auto typed = dyn_cast<PrecisionOpInterface>(op);
    bool source = op->getNumOperands() == 0 && op->getNumRegions() == 0;
    if ((typed && !isLowered(typed) && hasUnroundedOperands(op)) || source) {
      unrounded.insert_range(op->getResults());
    }
  }

  void visitBackward(PrecisionOpInterface op) {
    bool reaches = llvm::any_of(op->getResults(), [&](Value result) {
      return needed.contains(result);
    });
    bool ends = llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
      return op.needsExactOperand(operand.getOperandNumber());
    });
    if ((reaches || ends) && hasUnroundedOperands(op)) {
      exact.insert(op);
    }
    for (OpOperand &operand : op->getOpOperands()) {
      bool through = reaches && (!isLowered(op) || exact.contains(op));
      if (through || op.needsExactOperand(operand.getOperandNumber())) {
        needed.insert(operand.get());
      }
    }
  }

  llvm::DenseSet<Value> unrounded; ///< made without a lowered op
  llvm::DenseSet<Value> needed;    ///< ends in an operand that must be exact
  llvm::DenseSet<Operation *> exact;
};
} // namespace

llvm::DenseSet<Operation *>
precision::findExactChains(FunctionOpInterface function) {
  return Finder().run(function);
}
