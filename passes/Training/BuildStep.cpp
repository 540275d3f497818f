//===- BuildStep.cpp - Micro-step and update as functions on state --------===//
#include "dialects/Amp/IR/Formula.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGBUILDSTEPPASS
#include "passes/Training/Passes.h.inc"

namespace {

/// Elements to which states are aligned in an arena: 64 bytes of the narrowest
/// float, so that arenas of all types share one index.
constexpr int64_t stateAlignment = 32;

class StepBuilder {
public:
  StepBuilder(ModuleOp module, func::FuncOp step, Optimizer optimizer)
      : module(module), step(step), optimizer(optimizer),
        b(module.getContext()), loc(step.getLoc()),
        scalar(RankedTensorType::get({}, b.getF32Type())),
        count(RankedTensorType::get({}, b.getI32Type())),
        flag(RankedTensorType::get({}, b.getI1Type())) {}

  LogicalResult run();

private:
  LogicalResult findParts();
  void placeParameters();
  LogicalResult wireStep();
  LogicalResult buildApply();

  /// A new symbol of memory that begins with `initial`, or zeros.
  FlatSymbolRefAttr addState(StringRef name, RankedTensorType type,
                             ElementsAttr initial = nullptr) {
    auto state = train::StateOp::create(
        b, loc, b.getStringAttr(name), TypeAttr::get(type), FlatSymbolRefAttr(),
        IntegerAttr(), initial);
    return FlatSymbolRefAttr::get(state.getSymNameAttr());
  }
  FlatSymbolRefAttr addArena(StringRef name) {
    auto arena = train::ArenaOp::create(b, loc, b.getStringAttr(name),
                                        TypeAttr::get(flat));
    return FlatSymbolRefAttr::get(arena.getSymNameAttr());
  }
  DictionaryAttr stateAttrs(Attribute state) {
    return b.getDictionaryAttr(b.getNamedAttr(train::stateName, state));
  }
  DictionaryAttr nameAttrs(StringRef name) {
    return b.getDictionaryAttr(
        b.getNamedAttr("amp.name", b.getStringAttr(name)));
  }
  Value number(OpBuilder &at, double value) {
    return amp::Formula(at, loc).number(b.getF32Type(), value);
  }
  Value zero(OpBuilder &at, RankedTensorType type) {
    return amp::ConstantOp::create(at, loc,
                                   cast<ElementsAttr>(b.getZeroAttr(type)));
  }
  bool isAdam() const {
    return optimizer == Optimizer::Adam || optimizer == Optimizer::AdamW;
  }

  ModuleOp module;
  func::FuncOp step;
  Optimizer optimizer;
  OpBuilder b;
  Location loc;
  RankedTensorType scalar, count, flag, flat;
  SmallVector<unsigned> trained; ///< arguments
  unsigned lossResult = 0, firstGradient = 0;
  double nominalWeight = 1;
  FlatSymbolRefAttr parameters, gradients, scaleState, lossState, weightState;
};

LogicalResult StepBuilder::findParts() {
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (step.getArgAttr(i, trainableName)) {
      if (!step.getArgAttrOfType<FlatSymbolRefAttr>(i, train::stateName) ||
          !getElementTypeOrSelf(step.getArgumentTypes()[i]).isF32()) {
        return step.emitError("expected trained argument ")
               << i << " to be a state of f32";
      }
      trained.push_back(i);
    }
  }
  if (trained.empty()) {
    return step.emitError("nothing is trained");
  }
  std::optional<unsigned> weight;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (auto nominal =
            step.getResultAttrOfType<FloatAttr>(i, nominalWeightName)) {
      weight = i;
      nominalWeight = nominal.getValueAsDouble();
    }
  }
  bool isDifferentiated = weight && *weight > 0 &&
                          step.getNumResults() >= trained.size() + 2 &&
                          step.getArgumentTypes().back() == scalar;
  if (!isDifferentiated) {
    return step.emitError("expected a loss, its weight, its cotangent and a "
                          "gradient of each trained argument");
  }
  lossResult = *weight - 1;
  firstGradient = step.getNumResults() - trained.size();
  return success();
}

/// One after the other in the order of the arguments, which is the model's.
void StepBuilder::placeParameters() {
  SmallVector<std::pair<train::StateOp, int64_t>> places;
  int64_t size = 0;
  for (unsigned i : trained) {
    auto symbol = step.getArgAttrOfType<FlatSymbolRefAttr>(i, train::stateName);
    auto state = module.lookupSymbol<train::StateOp>(symbol);
    places.push_back({state, size});
    size = llvm::alignTo(
        size + cast<RankedTensorType>(state.getType()).getNumElements(),
        stateAlignment);
  }
  flat = RankedTensorType::get({size}, b.getF32Type());
  b.setInsertionPoint(places.front().first);
  parameters = addArena("parameters");
  gradients = addArena("gradients");
  for (auto [state, offset] : places) {
    state.setArenaAttr(parameters);
    state.setOffset(offset);
  }
}

/// Adds up what a micro-batch gives.
LogicalResult StepBuilder::wireStep() {
  Block &block = step.getBody().front();
  Operation *terminator = block.getTerminator();
  OpBuilder at(terminator);
  auto accumulate = [&](unsigned result, FlatSymbolRefAttr state) {
    Value value = terminator->getOperand(result);
    unsigned argument = step.getNumArguments();
    if (failed(step.insertArgument(argument, value.getType(), stateAttrs(state),
                                   loc))) {
      return failure();
    }
    terminator->setOperand(
        result, amp::AddOp::create(at, loc, step.getArgument(argument), value));
    step.setResultAttrs(result, stateAttrs(state));
    return success();
  };
  // The cotangent of the loss is the scale, for the mean over a whole batch.
  unsigned cotangent = step.getNumArguments() - 1;
  step.setArgAttrs(cotangent, stateAttrs(scaleState));
  BlockArgument scale = block.getArgument(cotangent);
  OpBuilder front(&block, block.begin());
  Value seed =
      amp::MulOp::create(front, loc, scale, number(front, 1 / nominalWeight));
  scale.replaceAllUsesExcept(seed, seed.getDefiningOp());
  if (failed(accumulate(lossResult, lossState)) ||
      failed(accumulate(lossResult + 1, weightState))) {
    return failure();
  }
  b.setInsertionPoint(step);
  for (auto [i, argument] : llvm::enumerate(trained)) {
    auto symbol =
        step.getArgAttrOfType<FlatSymbolRefAttr>(argument, train::stateName);
    auto state = module.lookupSymbol<train::StateOp>(symbol);
    auto gradient = train::StateOp::create(
        b, loc, b.getStringAttr(symbol.getValue() + ".gradient"),
        state.getTypeAttr(), gradients, state.getOffsetAttr(), ElementsAttr());
    if (failed(accumulate(firstGradient + i,
                          FlatSymbolRefAttr::get(gradient.getSymNameAttr())))) {
      return failure();
    }
  }
  step.setName("step");
  return success();
}

LogicalResult StepBuilder::buildApply() {
  SmallVector<StringRef> numbers{"learning_rate",  "weight_decay",
                                 "max_norm",       "growth_factor",
                                 "backoff_factor", "scale_floor"};
  if (isAdam()) {
    numbers.append({"beta1", "beta2", "epsilon"});
  } else {
    numbers.push_back("momentum");
  }
  b.setInsertionPointAfter(step);
  auto apply = func::FuncOp::create(b, loc, "apply", b.getFunctionType({}, {}));
  OpBuilder at = OpBuilder::atBlockBegin(apply.addEntryBlock());
  auto argument = [&](Type type, DictionaryAttr attrs) -> Value {
    unsigned i = apply.getNumArguments();
    (void)apply.insertArgument(i, type, attrs, loc);
    return apply.getArgument(i);
  };
  llvm::StringMap<Value> given;
  for (StringRef name : numbers) {
    given[name] = argument(scalar, nameAttrs(name));
  }
  Value interval = argument(count, nameAttrs("growth_interval"));
  Value loss = argument(scalar, stateAttrs(lossState));
  Value weight = argument(scalar, stateAttrs(weightState));
  Value scale = argument(scalar, stateAttrs(scaleState));
  b.setInsertionPoint(step);
  FlatSymbolRefAttr trackerState = addState("train.tracker", count),
                    takenState = addState("train.taken", count),
                    skippedState = addState("train.skipped", count);
  Value tracker = argument(count, stateAttrs(trackerState));
  Value taken = argument(count, stateAttrs(takenState));
  Value skipped = argument(count, stateAttrs(skippedState));
  Value g = argument(flat, stateAttrs(gradients));
  Value w = argument(flat, stateAttrs(parameters));

  // gradient * scale / nominal was summed over `weight`.
  Value held = amp::MulOp::create(at, loc, scale, weight);
  Value inverse = amp::DivOp::create(at, loc, number(at, nominalWeight), held);
  auto check = train::CheckOp::create(at, loc, flag, scalar, g, inverse);
  Value found = check.getFoundInf();
  Value factor = train::ClipOp::create(at, loc, scalar, check.getNorm(),
                                       given["max_norm"]);
  Value multiplier = amp::MulOp::create(at, loc, inverse, factor);
  Value asCount = amp::CastOp::create(at, loc, count, found);
  Value one =
      amp::ConstantOp::create(at, loc, DenseElementsAttr::get(count, 1));
  Value next = amp::AddOp::create(at, loc, taken, one);
  auto newScale = train::UpdateScaleOp::create(
      at, loc, scalar, count, scale, tracker, found, given["growth_factor"],
      given["backoff_factor"], interval, given["scale_floor"]);

  SmallVector<std::pair<Value, DictionaryAttr>> results{
      {amp::DivOp::create(at, loc, loss, weight), nameAttrs("loss")},
      {check.getNorm(), nameAttrs("norm")},
      {scale, nameAttrs("scale")},
      {found, nameAttrs("found_inf")},
      {newScale.getNewScale(), stateAttrs(scaleState)},
      {newScale.getNewTracker(), stateAttrs(trackerState)},
      {amp::SubOp::create(at, loc, next, asCount), stateAttrs(takenState)},
      {amp::AddOp::create(at, loc, skipped, asCount),
       stateAttrs(skippedState)}};
  if (isAdam()) {
    FlatSymbolRefAttr meanState = addArena("mean"),
                      squareState = addArena("square");
    Value mean = argument(flat, stateAttrs(meanState));
    Value square = argument(flat, stateAttrs(squareState));
    auto moved = train::AdamOp::create(
        at, loc, flat, flat, flat, w, mean, square, g, multiplier, found, next,
        given["learning_rate"], given["beta1"], given["beta2"],
        given["epsilon"], given["weight_decay"], optimizer == Optimizer::AdamW);
    results.push_back({moved.getNewParameter(), stateAttrs(parameters)});
    results.push_back({moved.getNewMean(), stateAttrs(meanState)});
    results.push_back({moved.getNewSquare(), stateAttrs(squareState)});
  } else {
    FlatSymbolRefAttr bufferState = addArena("momentum_buffer");
    Value buffer = argument(flat, stateAttrs(bufferState));
    auto moved = train::SgdOp::create(at, loc, flat, flat, w, buffer, g,
                                      multiplier, found, given["learning_rate"],
                                      given["momentum"], given["weight_decay"],
                                      optimizer == Optimizer::Nesterov);
    results.push_back({moved.getNewParameter(), stateAttrs(parameters)});
    results.push_back({moved.getNewMomentumBuffer(), stateAttrs(bufferState)});
  }
  // The sums start anew.
  results.push_back({zero(at, flat), stateAttrs(gradients)});
  results.push_back({zero(at, scalar), stateAttrs(lossState)});
  results.push_back({zero(at, scalar), stateAttrs(weightState)});
  SmallVector<Value> values;
  for (auto [value, attrs] : results) {
    if (failed(apply.insertResult(values.size(), value.getType(), attrs))) {
      return failure();
    }
    values.push_back(value);
  }
  func::ReturnOp::create(at, loc, values);
  return success();
}

LogicalResult StepBuilder::run() {
  if (failed(findParts())) {
    return failure();
  }
  placeParameters();
  scaleState =
      addState("train.scale", scalar, DenseElementsAttr::get(scalar, 65536.0f));
  lossState = addState("train.loss", scalar);
  weightState = addState("train.weight", scalar);
  return success(succeeded(wireStep()) && succeeded(buildApply()));
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
    if (failed(StepBuilder(getOperation(), main, optimizer).run())) {
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace ampc::training
