//===- FoldConstants.cpp - Computes small constants -----------------------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Reference/Evaluator.h"
#include "dialects/Interfaces/ReferenceInterfaces.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/Graph/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ampc::graph {
#define GEN_PASS_DEF_GRAPHFOLDCONSTANTSPASS
#include "passes/Graph/Passes.h.inc"

namespace {

/// Elements that folding one op, and all of them, may touch: large operands of
/// an op with a small result must not cost minutes.
constexpr uint64_t maxOpWork = uint64_t(1) << 28;
constexpr uint64_t maxWork = uint64_t(1) << 30;

/// Evaluates ops on known tensors, in order, within budgets.
class Folder {
public:
  Folder(uint64_t tensorBytes, uint64_t totalBytes)
      : tensorBytes(tensorBytes), totalBytes(totalBytes) {}

  void visit(Operation *op) {
    if (auto constant = dyn_cast<amp::ConstantOp>(op)) {
      if (isa<DenseElementsAttr>(constant.getValue())) {
        if (auto tensor = ref::Tensor::fromAttribute(constant.getValue())) {
          known[constant.getResult()] = std::move(*tensor);
        }
      }
      return;
    }
    auto evaluable = dyn_cast<ReferenceOpInterface>(op);
    SmallVector<ref::Tensor> operands, results;
    for (Value operand : op->getOperands()) {
      operands.push_back(known.lookup(operand));
      if (!operands.back()) {
        return;
      }
    }
    uint64_t work = ref::estimateWork(op);
    if (!evaluable || !isWithinBudget(op, operands, work) ||
        failed(evaluable.evaluate(operands, results))) {
      return;
    }
    usedWork += work;
    for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results)) {
      usedBytes += tensor.getBytes().size();
      known[result] = std::move(tensor);
    }
    folded.push_back(op);
  }

  /// Writes the constants that remaining ops read and erases what is left
  /// without a use. Returns how many ops were folded.
  unsigned finish() {
    llvm::DenseSet<Operation *> gone(folded.begin(), folded.end());
    for (Operation *op : folded) {
      OpBuilder b(op);
      for (Value result : op->getResults()) {
        bool read = llvm::any_of(result.getUsers(), [&](Operation *user) {
          return !gone.contains(user);
        });
        if (read) {
          auto constant = amp::ConstantOp::create(
              b, op->getLoc(), known.lookup(result).toAttribute());
          result.replaceUsesWithIf(constant, [&](OpOperand &use) {
            return !gone.contains(use.getOwner());
          });
        }
      }
    }
    SetVector<Operation *> constants;
    for (Operation *op : llvm::reverse(folded)) {
      for (Value operand : op->getOperands()) {
        if (operand.getDefiningOp<amp::ConstantOp>()) {
          constants.insert(operand.getDefiningOp());
        }
      }
      op->erase();
    }
    for (Operation *constant : constants) {
      if (constant->use_empty()) {
        constant->erase();
      }
    }
    return folded.size();
  }

private:
  bool isWithinBudget(Operation *op, ArrayRef<ref::Tensor> operands,
                      uint64_t work) const {
    // Elementwise ops and views of splats store one element, however many the
    // type has.
    auto fusable = dyn_cast<FusableOpInterface>(op);
    bool splat = !operands.empty() && fusable &&
                 (fusable.getFusionKind() == FusionKind::Elementwise ||
                  fusable.getFusionKind() == FusionKind::View) &&
                 llvm::all_of(operands, [](const ref::Tensor &tensor) {
                   return tensor.isSplat();
                 });
    if (splat) {
      return true;
    }
    uint64_t bytes = 0;
    for (Type type : op->getResultTypes()) {
      auto size = ref::getByteSize(type);
      if (!size || static_cast<uint64_t>(*size) > tensorBytes) {
        return false;
      }
      bytes += *size;
    }
    return usedBytes + bytes <= totalBytes && work <= maxOpWork &&
           usedWork + work <= maxWork;
  }

  uint64_t tensorBytes, totalBytes;
  uint64_t usedBytes = 0, usedWork = 0;
  llvm::DenseMap<Value, ref::Tensor> known;
  SmallVector<Operation *> folded;
};

struct GraphFoldConstantsPass final
    : impl::GraphFoldConstantsPassBase<GraphFoldConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    Folder folder(tensorBytes, totalBytes);
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumRegions() == 0) {
        folder.visit(op);
      }
    });
    if (unsigned count = folder.finish()) {
      remark::analysis(
          getOperation().getLoc(),
          remark::RemarkOpts::name("folded").category(getArgument()))
          << remark::metric("ops", count);
    }
  }
};

} // namespace
} // namespace ampc::graph
