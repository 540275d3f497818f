//===- ExpandDropout.cpp - Dropout as operations of amp -------------------===//
#include "dialects/Amp/IR/Formula.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGEXPANDDROPOUTPASS
#include "passes/Training/Passes.h.inc"

namespace {

/// The numbers that tell one micro-step from all others.
struct Counters {
  Value seed, update, micro;
};

struct TrainingExpandDropoutPass final
    : impl::TrainingExpandDropoutPassBase<TrainingExpandDropoutPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<train::DropoutOp> dropouts;
      function.walk([&](train::DropoutOp op) { dropouts.push_back(op); });
      if (dropouts.empty()) {
        continue;
      }
      if (function->hasAttr(inferenceName)) {
        for (train::DropoutOp op : dropouts) {
          op.replaceAllUsesWith(op.getInput());
          op.erase();
        }
        continue;
      }
      FailureOr<Counters> counters = makeCounters(function);
      if (failed(counters)) {
        return signalPassFailure();
      }
      for (train::DropoutOp op : dropouts) {
        expand(op, *counters);
      }
    }
  }

private:
  /// The argument that is the state `name`, both made where they are missing.
  FailureOr<Value> getState(func::FuncOp function, StringRef name, Type element,
                            train::Role role) {
    auto type = RankedTensorType::get({}, element);
    auto symbol = FlatSymbolRefAttr::get(&getContext(), name);
    for (BlockArgument argument : function.getArguments()) {
      if (function.getArgAttr(argument.getArgNumber(), train::stateName) ==
          symbol) {
        return Value(argument);
      }
    }
    Operation *known = getOperation().lookupSymbol(name);
    auto state = dyn_cast_or_null<train::StateOp>(known);
    if (known && (!state || state.getType() != type)) {
      return known->emitOpError("expected the state '")
             << name << "' of type " << type;
    }
    OpBuilder b(&getContext());
    if (!state) {
      b.setInsertionPointToStart(getOperation().getBody());
      train::StateOp::create(b, function.getLoc(), b.getStringAttr(name),
                             TypeAttr::get(type), FlatSymbolRefAttr(),
                             IntegerAttr(), ElementsAttr(),
                             train::RoleAttr::get(&getContext(), role));
    }
    unsigned at = function.getNumArguments();
    NamedAttrList attrs;
    attrs.set(train::stateName, symbol);
    if (failed(function.insertArgument(
            at, type, attrs.getDictionary(&getContext()), function.getLoc()))) {
      return failure();
    }
    return Value(function.getArgument(at));
  }

  FailureOr<Counters> makeCounters(func::FuncOp function) {
    Builder b(&getContext());
    FailureOr<Value> seed =
        getState(function, "train.seed", b.getI64Type(), train::Role::Control);
    FailureOr<Value> micro = getState(function, "train.micro", b.getI32Type(),
                                      train::Role::Transient);
    FailureOr<Value> taken =
        getState(function, "train.taken", b.getI32Type(), train::Role::Control);
    FailureOr<Value> skipped = getState(function, "train.skipped",
                                        b.getI32Type(), train::Role::Control);
    if (failed(seed) || failed(micro) || failed(taken) || failed(skipped)) {
      return failure();
    }
    OpBuilder at = OpBuilder::atBlockBegin(&function.getBody().front());
    amp::Formula formula(at, function.getLoc());
    return Counters{*seed, formula.add(*taken, *skipped), *micro};
  }

  static void expand(train::DropoutOp op, const Counters &counters) {
    OpBuilder b(op);
    amp::Formula formula(b, op.getLoc());
    double keep = 1 - op.getRatio().convertToDouble();
    RankedTensorType type = op.getResult().getType();
    Value x = op.getInput();
    Value kept = train::BernoulliOp::create(
        b, op.getLoc(), type.clone(b.getI1Type()), counters.seed,
        counters.update, counters.micro, b.getF64FloatAttr(keep),
        op.getStreamAttr(), op.getBackwardAttr());
    Value result = formula.where(kept, formula.scale(x, 1 / keep));
    op.replaceAllUsesWith(result);
    op.erase();
  }
};

} // namespace
} // namespace ampc::training
