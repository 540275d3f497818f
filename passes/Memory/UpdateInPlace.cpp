//===- UpdateInPlace.cpp - Results that may overwrite an argument ---------===//
#include "passes/Memory/UpdateInPlace.h"

#include "dialects/Interfaces/KernelInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ampc::memory {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether an element of a result is written when all that is read for the same
/// element of all results has been: of elementwise ops, and of the numbers that
/// follow from a reduction to one.
static bool readsBeforeWriting(amp::KernelOp kernel) {
  bool isElementwise = llvm::all_of(
      kernel.getBody().front().without_terminator(), [](Operation &op) {
        return isa<ScalarBodyOpInterface, amp::ConstantOp>(op);
      });
  return isElementwise || llvm::all_of(kernel.getResultTypes(), [](Type type) {
           return cast<RankedTensorType>(type).getRank() == 0;
         });
}

bool canUpdateInPlace(amp::KernelOp kernel, unsigned argument,
                      unsigned result) {
  Value start = kernel.getBody().front().getArgument(argument);
  amp::YieldOp yield = kernel.getYield();
  if (yield.getValues()[result].getType() != start.getType()) {
    return false;
  }
  bool readsFirst = readsBeforeWriting(kernel);
  llvm::SetVector<Value> reached;
  reached.insert(start);
  for (size_t i = 0; i < reached.size(); ++i) {
    for (OpOperand &use : reached[i].getUses()) {
      Operation *user = use.getOwner();
      if (user == yield) {
        if (!readsFirst && use.getOperandNumber() != result) {
          return false;
        }
        continue;
      }
      if (!isa<ScalarBodyOpInterface>(user) ||
          shapeOf(user->getResult(0)) != shapeOf(start)) {
        return false;
      }
      reached.insert(user->getResult(0));
    }
  }
  return true;
}

} // namespace ampc::memory
