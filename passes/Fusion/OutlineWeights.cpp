//===- OutlineWeights.cpp - Constants and the ops on them into weights ----===//
#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Fusion/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ampc::fusion {
#define GEN_PASS_DEF_OUTLINEWEIGHTSPASS
#include "passes/Fusion/Passes.h.inc"

namespace {

struct OutlineWeightsPass final
    : impl::OutlineWeightsPassBase<OutlineWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>()) {
      Block &block = function.getBody().front();
      SetVector<Operation *> constants;
      for (Operation &op : block.without_terminator()) {
        bool constant = !isa<amp::LaunchOp, amp::GetWeightOp>(op) &&
                        isPure(&op) && op.getNumResults() == 1 &&
                        llvm::all_of(op.getOperands(), [&](Value operand) {
                          return operand.getDefiningOp() &&
                                 constants.contains(operand.getDefiningOp());
                        });
        if (constant) {
          constants.insert(&op);
        }
      }
      for (Operation *op : constants) {
        bool read = llvm::any_of(op->getUsers(), [&](Operation *user) {
          return !constants.contains(user);
        });
        if (read) {
          outline(op, constants, module);
        }
      }
      for (Operation *op : llvm::reverse(constants)) {
        if (op->use_empty()) {
          op->erase();
        }
      }
    }
  }

private:
  void outline(Operation *op, const SetVector<Operation *> &constants,
               ModuleOp module) {
    SetVector<Operation *> slice;
    SmallVector<Operation *> work{op};
    while (!work.empty()) {
      Operation *next = work.pop_back_val();
      if (slice.insert(next)) {
        for (Value operand : next->getOperands()) {
          work.push_back(operand.getDefiningOp());
        }
      }
    }
    SmallVector<Operation *> ordered(slice.begin(), slice.end());
    llvm::sort(ordered, [](Operation *lhs, Operation *rhs) {
      return lhs->isBeforeInBlock(rhs);
    });
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    OpBuilder b(module.getBody(), module.getBody()->end());
    auto weight = amp::WeightOp::create(
        b, op->getLoc(), b.getStringAttr("w" + std::to_string(number++)),
        TypeAttr::get(type));
    Block &body = weight.getBody().emplaceBlock();
    b.setInsertionPointToStart(&body);
    IRMapping mapping;
    for (Operation *member : ordered) {
      b.clone(*member, mapping);
    }
    amp::YieldOp::create(b, op->getLoc(), mapping.lookup(op->getResult(0)));
    b.setInsertionPointAfter(op);
    auto get = amp::GetWeightOp::create(
        b, op->getLoc(), type, FlatSymbolRefAttr::get(weight.getSymNameAttr()));
    op->getResult(0).replaceUsesWithIf(get, [&](OpOperand &use) {
      return !constants.contains(use.getOwner());
    });
  }

  unsigned number = 0;
};

} // namespace
} // namespace ampc::fusion
