//===- SplitEntries.cpp - Prediction and evaluation beside training -------===//
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGSPLITENTRIESPASS
#include "passes/Training/Passes.h.inc"

namespace {

constexpr StringLiteral lossMarks[] = {lossName, nominalWeightName, summedName};

bool isOfLoss(func::FuncOp function, unsigned result) {
  return llvm::any_of(lossMarks, [&](StringRef mark) {
    return static_cast<bool>(function.getResultAttr(result, mark));
  });
}

/// Returns only the results in `kept`, and drops what computed the others.
LogicalResult keepResults(func::FuncOp function, const llvm::BitVector &kept) {
  llvm::BitVector dropped = kept;
  dropped.flip();
  Block &block = function.getBody().front();
  block.getTerminator()->eraseOperands(dropped);
  if (failed(function.eraseResults(dropped))) {
    return failure();
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
    }
  }
  return success();
}

struct TrainingSplitEntriesPass final
    : impl::TrainingSplitEntriesPassBase<TrainingSplitEntriesPass> {
  using Base::Base;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isDeclaration() || !main.getBody().hasOneBlock()) {
      getOperation().emitError("expected a function @main of one block");
      return signalPassFailure();
    }
    llvm::BitVector losses(main.getNumResults()), outputs(losses);
    for (unsigned i = 0; i < main.getNumResults(); ++i) {
      losses[i] = isOfLoss(main, i);
      outputs[i] = !losses[i] && !main.getResultAttr(i, ownLossName);
    }
    if (losses.none()) {
      main.emitError("expected a loss");
      return signalPassFailure();
    }
    if (outputs.none()) {
      // The model returns its loss and nothing else.
      outputs = losses;
      outputs.flip();
    }
    func::FuncOp predict = clone(main, "predict");
    func::FuncOp eval = clone(main, "eval");
    if (!predict || !eval || failed(keepResults(predict, outputs)) ||
        failed(keepResults(eval, losses)) ||
        failed(keepResults(main, losses)) || failed(finish(predict, main)) ||
        failed(finish(eval, main))) {
      signalPassFailure();
    }
  }

private:
  func::FuncOp clone(func::FuncOp main, StringRef name) {
    if (getOperation().lookupSymbol(name)) {
      main.emitError("the name '") << name << "' is taken";
      return {};
    }
    func::FuncOp function = main.clone();
    function.setName(name);
    function->setAttr(inferenceName, UnitAttr::get(&getContext()));
    getOperation().insert(main, function);
    return function;
  }

  /// Takes the marks of training away, and arguments that are read no more:
  /// states, and in a function without labels what belongs to the loss.
  LogicalResult finish(func::FuncOp function, func::FuncOp main) {
    bool isPrediction = function.getName() == "predict";
    llvm::BitVector dead(function.getNumArguments());
    for (BlockArgument argument : function.getArguments()) {
      unsigned i = argument.getArgNumber();
      bool isState =
          static_cast<bool>(function.getArgAttr(i, train::stateName));
      bool isOfLoss = isPrediction && (!main.getArgument(i).use_empty() ||
                                       function.getArgAttr(i, labelName) ||
                                       function.getArgAttr(i, samplesName));
      dead[i] = argument.use_empty() && (isState || isOfLoss);
      function.removeArgAttr(i, trainableName);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      for (StringRef mark : lossMarks) {
        function.removeResultAttr(i, StringAttr::get(&getContext(), mark));
      }
      function.removeResultAttr(i, StringAttr::get(&getContext(), ownLossName));
    }
    return function.eraseArguments(dead);
  }
};

} // namespace
} // namespace ampc::training
