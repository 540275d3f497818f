//===- UpdateInPlace.cpp - Results that may overwrite an argument ---------===//
#include "passes/Memory/UpdateInPlace.h"

#include "dialects/Interfaces/KernelInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ampc::memory {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether all ops compute an element from the same element of their operands.
static bool isElementwise(amp::KernelOp kernel) {
  return llvm::all_of(kernel.getBody().front().without_terminator(),
                      [](Operation &op) {
                        return isa<ScalarBodyOpInterface, amp::ConstantOp>(op);
                      });
}

bool canUpdateInPlace(amp::KernelOp kernel, unsigned argument,
                      unsigned result) {
  Value start = kernel.getBody().front().getArgument(argument);
  amp::YieldOp yield = kernel.getYield();
  if (yield.getValues()[result].getType() != start.getType()) {
    return false;
  }
  bool mapsAll = isElementwise(kernel);
  llvm::SetVector<Value> reached;
  reached.insert(start);
  for (size_t i = 0; i < reached.size(); ++i) {
    for (OpOperand &use : reached[i].getUses()) {
      Operation *user = use.getOwner();
      if (user == yield) {
        if (!mapsAll && use.getOperandNumber() != result) {
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
