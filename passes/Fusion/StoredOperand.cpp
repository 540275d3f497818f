//===- StoredOperand.cpp - Operands stored as kernels read them -----------===//
#include "passes/Fusion/StoredOperand.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ampc;

fusion::LaunchMap fusion::collectLaunches(ModuleOp module) {
  LaunchMap launches;
  module.walk([&](amp::LaunchOp launch) {
    launches[launch.getKernelAttr().getAttr()].push_back(launch);
  });
  return launches;
}

bool fusion::isAlwaysConstant(const ConstantSlice &constants,
                              ArrayRef<amp::LaunchOp> launches,
                              BlockArgument argument) {
  return llvm::all_of(launches, [&](amp::LaunchOp launch) {
    return constants.isComputable(launch.getInputs()[argument.getArgNumber()]);
  });
}

void fusion::storeOperand(amp::KernelOp kernel, BlockArgument argument,
                          ArrayRef<amp::LaunchOp> launches,
                          function_ref<Value(OpBuilder &, Value)> store,
                          function_ref<Value(OpBuilder &, Type)> read) {
  OpBuilder b(kernel.getContext());
  unsigned number = argument.getArgNumber();
  Type logical = argument.getType(), stored;
  for (amp::LaunchOp launch : launches) {
    b.setInsertionPoint(launch);
    Value moved = store(b, launch.getInputs()[number]);
    launch.getInputsMutable()[number].set(moved);
    stored = moved.getType();
  }
  argument.setType(stored);
  b.setInsertionPointToStart(argument.getOwner());
  Value back = read(b, logical);
  argument.replaceAllUsesExcept(back, back.getDefiningOp());
  SmallVector<Type> inputs(kernel.getArgumentTypes());
  inputs[number] = stored;
  kernel.setFunctionType(b.getFunctionType(inputs, kernel.getResultTypes()));
}

void fusion::outlineStore(Operation *op, StringRef name, ModuleOp module) {
  OpBuilder b(module.getBody(), module.getBody()->end());
  Location loc = op->getLoc();
  auto kernel = amp::KernelOp::create(
      b, loc, name,
      b.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  kernel.setPrivate();
  Block &body = kernel.getBody().front();
  b.setInsertionPointToStart(&body);
  IRMapping mapping;
  mapping.map(op->getOperands(), body.getArguments());
  Operation *inside = b.clone(*op, mapping);
  amp::YieldOp::create(b, loc, inside->getResults());
  b.setInsertionPoint(op);
  auto launch = amp::LaunchOp::create(
      b, loc, op->getResultTypes(),
      FlatSymbolRefAttr::get(kernel.getNameAttr()), op->getOperands());
  op->replaceAllUsesWith(launch);
  op->erase();
}
