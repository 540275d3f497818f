//===- TrainingState.cpp - What the functions of a trainer share ----------===//
#include "passes/Training/TrainingState.h"

using namespace mlir;

namespace ampc::training {

FlatSymbolRefAttr TrainingState::addState(StringRef name, RankedTensorType type,
                                          train::Role role,
                                          ElementsAttr initial) {
  auto state = train::StateOp::create(
      b, module.getLoc(), b.getStringAttr(name), TypeAttr::get(type),
      FlatSymbolRefAttr(), IntegerAttr(), initial,
      train::RoleAttr::get(b.getContext(), role));
  return FlatSymbolRefAttr::get(state.getSymNameAttr());
}

FlatSymbolRefAttr TrainingState::addArena(StringRef name) {
  auto arena = train::ArenaOp::create(b, module.getLoc(), b.getStringAttr(name),
                                      TypeAttr::get(flat));
  return FlatSymbolRefAttr::get(arena.getSymNameAttr());
}

SmallVector<train::StateOp> TrainingState::addStates(FlatSymbolRefAttr arena,
                                                     StringRef suffix,
                                                     train::Role role) {
  SmallVector<train::StateOp> states;
  for (TrainedParameter &parameter : trained) {
    train::StateOp of = parameter.state;
    states.push_back(train::StateOp::create(
        b, of.getLoc(), b.getStringAttr(of.getSymName() + "." + suffix),
        of.getTypeAttr(), arena, of.getOffsetAttr(), ElementsAttr(),
        train::RoleAttr::get(b.getContext(), role)));
  }
  return states;
}

FlatSymbolRefAttr TrainingState::findSum(StringRef name) const {
  for (const auto &[known, state] : sums) {
    if (known == name) {
      return state;
    }
  }
  return nullptr;
}

DictionaryAttr stateAttrs(Attribute state) {
  Builder b(state.getContext());
  return b.getDictionaryAttr(b.getNamedAttr(train::stateName, state));
}

DictionaryAttr nameAttrs(MLIRContext *context, StringRef name) {
  Builder b(context);
  return b.getDictionaryAttr(b.getNamedAttr("amp.name", b.getStringAttr(name)));
}

FunctionBuilder::FunctionBuilder(func::FuncOp after, StringRef name)
    : at(after.getContext()) {
  at.setInsertionPointAfter(after);
  function = func::FuncOp::create(at, after.getLoc(), name,
                                  at.getFunctionType({}, {}));
  at.setInsertionPointToStart(function.addEntryBlock());
}

Value FunctionBuilder::addArgument(Type type, DictionaryAttr attrs) {
  unsigned i = function.getNumArguments();
  (void)function.insertArgument(i, type, attrs, function.getLoc());
  return function.getArgument(i);
}

void FunctionBuilder::addResult(Value value, DictionaryAttr attrs) {
  (void)function.insertResult(values.size(), value.getType(), attrs);
  values.push_back(value);
}

func::FuncOp FunctionBuilder::finish() {
  func::ReturnOp::create(at, function.getLoc(), values);
  return function;
}

} // namespace ampc::training
