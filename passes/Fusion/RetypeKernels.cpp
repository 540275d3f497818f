//===- RetypeKernels.cpp - Types that kernel interiors are computed in ----===//
#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Fusion/Passes.h"

using namespace mlir;

namespace ampc::fusion {
#define GEN_PASS_DEF_FUSIONRETYPEKERNELSPASS
#include "passes/Fusion/Passes.h.inc"

namespace {

bool isNarrow(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isF16() || element.isBF16();
}

class KernelRetyper {
public:
  explicit KernelRetyper(amp::KernelOp kernel)
      : kernel(kernel), b(kernel.getContext()) {}

  void run() {
    Block &body = kernel.getBody().front();
    for (Operation &op :
         llvm::make_early_inc_range(body.without_terminator())) {
      b.setInsertionPoint(&op);
      retype(&op);
    }
    amp::YieldOp yield = kernel.getYield();
    b.setInsertionPoint(yield);
    for (auto [operand, type] :
         llvm::zip_equal(yield->getOpOperands(), kernel.getResultTypes())) {
      if (operand.get().getType() != type) {
        operand.set(amp::CastOp::create(b, yield.getLoc(), type, operand.get(),
                                        false, false));
      }
    }
  }

private:
  /// The f32 form of a 16-bit value: what it was computed as, else a cast.
  Value widen(Value value, Location loc) {
    if (!isNarrow(value)) {
      return value;
    }
    Value &known = wide[value];
    if (!known) {
      auto type = cast<RankedTensorType>(value.getType());
      OpBuilder::InsertionGuard guard(b);
      if (Operation *producer = value.getDefiningOp()) {
        b.setInsertionPointAfter(producer);
      } else {
        b.setInsertionPointToStart(value.getParentBlock());
      }
      known = amp::CastOp::create(b, loc, type.clone(b.getF32Type()), value,
                                  false, false);
    }
    return known;
  }

  void retype(Operation *op) {
    auto fusable = dyn_cast<FusableOpInterface>(op);
    if (!fusable) {
      return;
    }
    Location loc = op->getLoc();
    switch (fusable.getFusionKind()) {
    case FusionKind::Contraction:
    case FusionKind::Attention:
      return widenResult(op);
    case FusionKind::View:
      if (isNarrow(op->getOperand(0)) && computed.contains(op->getOperand(0))) {
        widenOperands(op);
      }
      return;
    case FusionKind::Elementwise:
    case FusionKind::RowReduction:
      if (auto cast = dyn_cast<amp::CastOp>(op)) {
        // A widening cast of a value computed here drops its rounding.
        if (isNarrow(cast.getInput()) &&
            getElementTypeOrSelf(cast.getType()).isF32()) {
          cast.replaceAllUsesWith(widen(cast.getInput(), loc));
          cast.erase();
        }
        return;
      }
      return widenOperands(op);
    default:
      return;
    }
  }

  void widenResult(Operation *op) {
    OpResult result = op->getResult(0);
    if (!isNarrow(result)) {
      return;
    }
    auto type = cast<RankedTensorType>(result.getType());
    result.setType(type.clone(b.getF32Type()));
    narrowFor(result, type);
  }

  void widenOperands(Operation *op) {
    SmallVector<Type> before(op->getResultTypes());
    bool changed = false;
    for (OpOperand &operand : op->getOpOperands()) {
      if (isNarrow(operand.get())) {
        operand.set(widen(operand.get(), op->getLoc()));
        changed = true;
      }
    }
    if (!changed) {
      return;
    }
    (void)cast<PrecisionOpInterface>(op).updateResultTypes();
    for (auto [result, type] : llvm::zip_equal(op->getResults(), before)) {
      if (result.getType() != type) {
        narrowFor(result, cast<RankedTensorType>(type));
      }
    }
  }

  /// `result` became f32: its users so far get a rounded copy, which later
  /// widening sees through.
  void narrowFor(OpResult result, RankedTensorType type) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(result.getOwner());
    auto narrow =
        amp::CastOp::create(b, result.getLoc(), type, result, false, false);
    result.replaceAllUsesExcept(narrow, narrow);
    wide[narrow] = result;
    computed.insert(narrow);
  }

  amp::KernelOp kernel;
  OpBuilder b;
  DenseMap<Value, Value> wide;
  DenseSet<Value> computed;
};

struct FusionRetypeKernelsPass final
    : impl::FusionRetypeKernelsPassBase<FusionRetypeKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<amp::KernelOp>()) {
      KernelRetyper(kernel).run();
      // Roundings that nothing reads any more.
      Block &body = kernel.getBody().front();
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
        if (isa<amp::CastOp>(op) && op.use_empty()) {
          op.erase();
        }
      }
    }
  }
};

} // namespace
} // namespace ampc::fusion
