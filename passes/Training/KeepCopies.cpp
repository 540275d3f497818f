//===- KeepCopies.cpp - 16-bit copies of parameters -----------------------===//
#include "dialects/Amp/IR/Formula.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGKEEPCOPIESPASS
#include "passes/Training/Passes.h.inc"

namespace {

/// The memory of all copies of one type, with the index of the parameters'.
struct CopyArena {
  train::ArenaOp arena;
  llvm::MapVector<StringAttr, train::StateOp> states; ///< by parameter
};

class CopyKeeper {
public:
  CopyKeeper(ModuleOp module, train::ArenaOp parameters, func::FuncOp apply)
      : module(module), parameters(parameters), apply(apply),
        b(module.getContext()) {}

  LogicalResult run() {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function != apply && !function.isDeclaration()) {
        replaceCasts(function);
      }
    }
    if (arenas.empty()) {
      return success();
    }
    if (failed(writeInApply())) {
      return failure();
    }
    addRefresh();
    return success();
  }

private:
  void replaceCasts(func::FuncOp function);
  amp::CastOp findCast(OpOperand &use, SmallVectorImpl<Operation *> &views);
  train::StateOp copyOf(train::StateOp parameter, FloatType element);
  LogicalResult writeInApply();
  void addRefresh();

  ModuleOp module;
  train::ArenaOp parameters;
  func::FuncOp apply;
  OpBuilder b;
  llvm::MapVector<Type, CopyArena> arenas; ///< by element type
};

/// The cast to a 16-bit float at the end of views of a parameter.
amp::CastOp CopyKeeper::findCast(OpOperand &use,
                                 SmallVectorImpl<Operation *> &views) {
  Operation *user = use.getOwner();
  while (isa<amp::ReshapeOp, amp::TransposeOp>(user) && user->hasOneUse()) {
    views.push_back(user);
    user = *user->user_begin();
  }
  auto cast = dyn_cast<amp::CastOp>(user);
  auto element =
      cast ? dyn_cast<FloatType>(cast.getType().getElementType()) : FloatType();
  return element && element.getWidth() == 16 ? cast : amp::CastOp();
}

train::StateOp CopyKeeper::copyOf(train::StateOp parameter, FloatType element) {
  CopyArena &copies = arenas[element];
  std::string suffix;
  llvm::raw_string_ostream(suffix) << "." << element;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(apply);
  if (!copies.arena) {
    auto flat = cast<RankedTensorType>(parameters.getType());
    copies.arena = train::ArenaOp::create(
        b, apply.getLoc(), b.getStringAttr(parameters.getSymName() + suffix),
        TypeAttr::get(flat.clone(element)));
  }
  train::StateOp &copy = copies.states[parameter.getSymNameAttr()];
  if (!copy) {
    auto type = cast<RankedTensorType>(parameter.getType());
    copy = train::StateOp::create(
        b, parameter.getLoc(), b.getStringAttr(parameter.getSymName() + suffix),
        TypeAttr::get(type.clone(element)),
        FlatSymbolRefAttr::get(copies.arena.getSymNameAttr()),
        parameter.getOffsetAttr(), ElementsAttr(),
        train::RoleAttr::get(b.getContext(), train::Role::Transient));
  }
  return copy;
}

/// A cast of a parameter, through views, becomes the copy under those views.
void CopyKeeper::replaceCasts(func::FuncOp function) {
  DenseMap<Operation *, Value> arguments; // by the state of the copy
  unsigned numArguments = function.getNumArguments();
  for (unsigned i = 0; i < numArguments; ++i) {
    auto symbol =
        function.getArgAttrOfType<FlatSymbolRefAttr>(i, train::stateName);
    auto state =
        symbol ? module.lookupSymbol<train::StateOp>(symbol) : train::StateOp();
    if (!state || state.getArenaAttr() !=
                      FlatSymbolRefAttr::get(parameters.getSymNameAttr())) {
      continue;
    }
    for (OpOperand &use :
         llvm::make_early_inc_range(function.getArgument(i).getUses())) {
      SmallVector<Operation *> views;
      amp::CastOp cast = findCast(use, views);
      if (!cast) {
        continue;
      }
      auto element = mlir::cast<FloatType>(cast.getType().getElementType());
      train::StateOp copy = copyOf(state, element);
      Value &argument = arguments[copy];
      if (!argument) {
        unsigned at = function.getNumArguments();
        NamedAttrList attrs;
        attrs.set(train::stateName,
                  FlatSymbolRefAttr::get(copy.getSymNameAttr()));
        (void)function.insertArgument(at, copy.getType(),
                                      attrs.getDictionary(b.getContext()),
                                      cast.getLoc());
        argument = function.getArgument(at);
      }
      Value value = argument;
      OpBuilder at(cast);
      for (Operation *view : views) {
        Operation *again = at.clone(*view);
        again->setOperand(0, value);
        auto type = mlir::cast<RankedTensorType>(view->getResult(0).getType());
        again->getResult(0).setType(type.clone(element));
        value = again->getResult(0);
      }
      cast.replaceAllUsesWith(value);
      cast.erase();
      for (Operation *view : llvm::reverse(views)) {
        view->erase();
      }
    }
  }
}

LogicalResult CopyKeeper::writeInApply() {
  Operation *terminator = apply.getBody().front().getTerminator();
  Value updated;
  for (unsigned i = 0; i < apply.getNumResults(); ++i) {
    if (apply.getResultAttr(i, train::stateName) ==
        FlatSymbolRefAttr::get(parameters.getSymNameAttr())) {
      updated = terminator->getOperand(i);
    }
  }
  if (!updated) {
    return apply.emitError("expected a result that replaces the parameters");
  }
  OpBuilder at(terminator);
  amp::Formula formula(at, apply.getLoc());
  for (auto &[element, copies] : arenas) {
    Value narrow = formula.cast(updated, element);
    unsigned last = apply.getNumResults();
    NamedAttrList attrs;
    attrs.set(train::stateName,
              FlatSymbolRefAttr::get(copies.arena.getSymNameAttr()));
    if (failed(apply.insertResult(last, narrow.getType(),
                                  attrs.getDictionary(b.getContext())))) {
      return failure();
    }
    terminator->insertOperands(last, narrow);
  }
  return success();
}

/// What has been written into the parameters from outside reaches the copies by
/// this.
void CopyKeeper::addRefresh() {
  b.setInsertionPointAfter(apply);
  auto stateAttrs = [&](train::ArenaOp arena) {
    NamedAttrList attrs;
    attrs.set(train::stateName, FlatSymbolRefAttr::get(arena.getSymNameAttr()));
    return attrs.getDictionary(b.getContext());
  };
  auto refresh = func::FuncOp::create(b, apply.getLoc(), "refresh",
                                      b.getFunctionType({}, {}));
  OpBuilder at = OpBuilder::atBlockBegin(refresh.addEntryBlock());
  (void)refresh.insertArgument(0, parameters.getType(), stateAttrs(parameters),
                               apply.getLoc());
  amp::Formula formula(at, apply.getLoc());
  SmallVector<Value> values;
  for (auto &[element, copies] : arenas) {
    Value narrow = formula.cast(refresh.getArgument(0), element);
    (void)refresh.insertResult(values.size(), narrow.getType(),
                               stateAttrs(copies.arena));
    values.push_back(narrow);
  }
  func::ReturnOp::create(at, apply.getLoc(), values);
}

struct TrainingKeepCopiesPass final
    : impl::TrainingKeepCopiesPassBase<TrainingKeepCopiesPass> {
  using Base::Base;

  void runOnOperation() override {
    auto apply = getOperation().lookupSymbol<func::FuncOp>("apply");
    auto parameters = getOperation().lookupSymbol<train::ArenaOp>("parameters");
    if (!apply || !parameters) {
      getOperation().emitError("expected a trainer: @apply and @parameters");
      return signalPassFailure();
    }
    if (failed(CopyKeeper(getOperation(), parameters, apply).run())) {
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace ampc::training
