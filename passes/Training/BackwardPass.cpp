//===- BackwardPass.cpp - Where forward ends and backward begins ----------===//
#include "passes/Training/BackwardPass.h"

#include "dialects/Train/IR/TrainDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::training {

BackwardPass::BackwardPass(func::FuncOp step) {
  Block &block = step.getBody().front();
  llvm::DenseSet<Value> active, seeds;
  for (BlockArgument argument : block.getArguments()) {
    auto state = step.getArgAttrOfType<FlatSymbolRefAttr>(
        argument.getArgNumber(), train::stateName);
    if (!state) {
      active.insert(argument);
    } else if (state.getValue() == "train.scale") {
      seeds.insert(argument);
    }
  }
  for (Operation &op : block.without_terminator()) {
    auto dependsOn = [&](const llvm::DenseSet<Value> &values) {
      return llvm::any_of(op.getOperands(),
                          [&](Value v) { return values.contains(v); });
    };
    bool isActive = dependsOn(active), isSeed = dependsOn(seeds);
    if (!backward.empty() || (isActive && isSeed)) {
      backward.push_back(&op);
      readers.insert(&op);
    } else if (isActive || isSeed) {
      (isActive ? active : seeds)
          .insert(op.getResults().begin(), op.getResults().end());
      if (isActive) {
        forward.push_back(&op);
      }
    }
  }
  if (backward.empty()) {
    forward.clear();
  }
}

int64_t countBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

} // namespace ampc::training
