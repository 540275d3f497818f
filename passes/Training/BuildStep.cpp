//===- BuildStep.cpp - Micro-step and update as functions on state --------===//
#include "dialects/Amp/IR/Formula.h"
#include "passes/Training/TrainingState.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGBUILDSTEPPASS
#include "passes/Training/Passes.h.inc"

namespace {
using P = amp::ComparePredicate;
using train::Role;

/// Elements to which states are aligned in an arena: 64 bytes of the narrowest
/// float, so that arenas of all types share one index.
constexpr int64_t stateAlignment = 32;

/// Makes a micro-step of a differentiated function.
class StepBuilder {
public:
  StepBuilder(TrainingState &state, func::FuncOp step)
      : state(state), step(step), loc(step.getLoc()) {}

  LogicalResult run() {
    if (failed(findParts())) {
      return failure();
    }
    placeParameters();
    addStates();
    return wire();
  }

private:
  LogicalResult findParts();
  void placeParameters();
  void addStates();
  LogicalResult wire();

  TrainingState &state;
  func::FuncOp step;
  Location loc;
  /// Results that are added up over a window, with their states.
  SmallVector<std::pair<unsigned, FlatSymbolRefAttr>> summed;
  unsigned lossResult = 0, firstGradient = 0;
};

LogicalResult StepBuilder::findParts() {
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (step.getArgAttr(i, trainableName)) {
      auto symbol =
          step.getArgAttrOfType<FlatSymbolRefAttr>(i, train::stateName);
      if (!symbol ||
          !getElementTypeOrSelf(step.getArgumentTypes()[i]).isF32()) {
        return step.emitError("expected trained argument ")
               << i << " to be a state of f32";
      }
      auto of = state.module.lookupSymbol<train::StateOp>(symbol);
      state.trained.push_back({i, of, nullptr});
    }
  }
  if (state.trained.empty()) {
    return step.emitError("nothing is trained");
  }
  std::optional<unsigned> weight;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (auto nominal =
            step.getResultAttrOfType<FloatAttr>(i, nominalWeightName)) {
      weight = i;
      state.nominalWeight = nominal.getValueAsDouble();
    }
  }
  bool isDifferentiated = weight && *weight > 0 &&
                          step.getNumResults() >= state.trained.size() + 2 &&
                          step.getArgumentTypes().back() == state.scalarType();
  if (!isDifferentiated) {
    return step.emitError("expected a loss, its weight, its cotangent and a "
                          "gradient of each trained argument");
  }
  lossResult = *weight - 1;
  firstGradient = step.getNumResults() - state.trained.size();
  return success();
}

/// One after the other in the order of the arguments, which is the model's.
void StepBuilder::placeParameters() {
  SmallVector<int64_t> places;
  int64_t size = 0;
  for (const TrainedParameter &parameter : state.trained) {
    train::StateOp of = parameter.state;
    places.push_back(size);
    size = llvm::alignTo(
        size + cast<RankedTensorType>(of.getType()).getNumElements(),
        stateAlignment);
  }
  state.flat = RankedTensorType::get({size}, state.b.getF32Type());
  state.b.setInsertionPoint(state.trained.front().state);
  state.parameters = state.addArena("parameters");
  state.gradients = state.addArena("gradients");
  for (auto [parameter, place] : llvm::zip_equal(state.trained, places)) {
    parameter.state.setArenaAttr(state.parameters);
    parameter.state.setOffset(place);
  }
}

void StepBuilder::addStates() {
  RankedTensorType scalar = state.scalarType();
  state.b.setInsertionPoint(step);
  state.scale = state.addState("train.scale", scalar, Role::Control,
                               DenseElementsAttr::get(scalar, 65536.0f));
  state.micro =
      state.addState("train.micro", state.countType(), Role::Transient);
  auto sum = [&](unsigned result, StringRef name) {
    FlatSymbolRefAttr symbol =
        state.addState(("train." + name).str(), scalar, Role::Transient);
    state.sums.emplace_back(name.str(), symbol);
    summed.push_back({result, symbol});
  };
  sum(lossResult, "loss");
  sum(lossResult + 1, "weight");
  for (unsigned i = 0; i < firstGradient; ++i) {
    if (auto name = step.getResultAttrOfType<StringAttr>(i, summedName)) {
      sum(i, name.getValue());
    }
  }
  auto gradients =
      state.addStates(state.gradients, "gradient", Role::Transient);
  for (auto [i, gradient] : llvm::enumerate(gradients)) {
    state.trained[i].gradient = gradient;
    summed.push_back(
        {firstGradient + i, FlatSymbolRefAttr::get(gradient.getSymNameAttr())});
  }
}

LogicalResult StepBuilder::wire() {
  Block &block = step.getBody().front();
  Operation *terminator = block.getTerminator();
  OpBuilder front = OpBuilder::atBlockBegin(&block);
  amp::Formula f(front, loc);
  unsigned cotangent = step.getNumArguments() - 1;
  auto addArgument = [&](FlatSymbolRefAttr symbol, Type type) -> Value {
    unsigned i = step.getNumArguments();
    (void)step.insertArgument(i, type, stateAttrs(symbol), loc);
    return step.getArgument(i);
  };
  Value micro = addArgument(state.micro, state.countType());
  Value isLater = f.compare(micro, P::GT, 0);
  // The cotangent of the loss is the scale, for the mean over a whole batch.
  step.setArgAttrs(cotangent, stateAttrs(state.scale));
  BlockArgument scale = block.getArgument(cotangent);
  Value seed = f.scale(scale, 1 / state.nominalWeight);
  scale.replaceAllUsesExcept(seed, seed.getDefiningOp());
  for (auto [result, symbol] : summed) {
    Value value = terminator->getOperand(result);
    // At once, so that nothing has to be kept for the sum.
    if (Operation *by = value.getDefiningOp()) {
      front.setInsertionPointAfter(by);
    } else {
      front.setInsertionPoint(terminator);
    }
    // The first of a window starts from zero, whatever a skipped one left.
    Value old = f.where(isLater, addArgument(symbol, value.getType()));
    terminator->setOperand(result, f.add(old, value));
    step.setResultAttrs(result, stateAttrs(symbol));
  }
  // What is no state is of no use in training.
  llvm::BitVector dropped(step.getNumResults());
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    dropped[i] = !step.getResultAttr(i, train::stateName);
  }
  terminator->eraseOperands(dropped);
  if (failed(step.eraseResults(dropped))) {
    return failure();
  }
  front.setInsertionPoint(terminator);
  Value next = f.plus(micro, 1);
  unsigned last = step.getNumResults();
  if (failed(
          step.insertResult(last, next.getType(), stateAttrs(state.micro)))) {
    return failure();
  }
  terminator->insertOperands(last, next);
  step.setName("step");
  return success();
}

struct TrainingBuildStepPass final
    : impl::TrainingBuildStepPassBase<TrainingBuildStepPass> {
  using Base::Base;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      getOperation().emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    TrainingState state(getOperation());
    if (failed(StepBuilder(state, main).run())) {
      return signalPassFailure();
    }
    buildGradStats(state, main);
    buildApply(state, main, optimizer, firstCount);
  }
};

} // namespace
} // namespace ampc::training
