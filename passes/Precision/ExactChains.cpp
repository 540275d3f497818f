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
    // What reads a position as an angle does so as it is, also where all else
    // runs in 16 bits.
    for (PrecisionOpInterface op : ops) {
      visitForward(op);
      if (needsExactOperand(op) && hasUnroundedOperands(op)) {
        exact.insert(op);
      }
    }
    return std::move(exact);
  }

private:
  /// Whether autocast lowers `op`.
  bool isLowered(PrecisionOpInterface op) const {
    return op.getAutocastClass() == AutocastClass::Lower && !exact.contains(op);
  }

  static bool needsExactOperand(PrecisionOpInterface op) {
    return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
      return op.needsExactOperand(operand.getOperandNumber());
    });
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
    if (reaches && hasUnroundedOperands(op)) {
      exact.insert(op);
    }
    for (OpOperand &operand : op->getOpOperands()) {
      bool through = reaches && !isLowered(op);
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
