//===- BuildApply.cpp - One update of all parameters ----------------------===//
#include "dialects/Amp/IR/Formula.h"
#include "passes/Training/TrainingState.h"

using namespace mlir;

namespace ampc::training {

namespace {
using P = amp::ComparePredicate;
using train::Role;

/// Writes @apply. Its arguments are numbers that the program's options give,
/// its results are states.
class ApplyBuilder : amp::Formula {
public:
  ApplyBuilder(TrainingState &state, FunctionBuilder &apply,
               Optimizer optimizer, int64_t firstCount)
      : Formula(apply.at, state.module.getLoc()), state(state), apply(apply),
        optimizer(optimizer), firstCount(firstCount),
        scalar(state.scalarType()), count(state.countType()) {}

  void build();

private:
  Value given(StringRef name) { return given(name, scalar); }
  Value given(StringRef name, RankedTensorType type) {
    return apply.addArgument(type, nameAttrs(b.getContext(), name));
  }
  Value read(FlatSymbolRefAttr symbol, Type type) {
    return apply.addArgument(type, stateAttrs(symbol));
  }
  void write(FlatSymbolRefAttr symbol, Value value) {
    apply.addResult(value, stateAttrs(symbol));
  }
  void addMetric(StringRef name, Value value) {
    write(state.addState(("metrics." + name).str(), typeOf(value),
                         Role::Transient),
          value);
  }
  /// A new arena of moments, and its content.
  std::pair<FlatSymbolRefAttr, Value> addMoment(StringRef name) {
    FlatSymbolRefAttr arena = state.addArena(name);
    state.addStates(arena, name, Role::Moment);
    return {arena, read(arena, state.flat)};
  }
  Value clipValue(Value gradient, Value inverse);
  void updateScale(Value scaler, Value scale, Value found, Value isEmpty);
  void move(Value gradient, Value multiplier, Value skip, Value taken);
  void moveByAdam(Value gradient, Value multiplier, Value skip, Value taken);
  void moveByAdagrad(Value gradient, Value multiplier, Value skip, Value taken);

  TrainingState &state;
  FunctionBuilder &apply;
  Optimizer optimizer;
  int64_t firstCount;
  RankedTensorType scalar, count;
};

/// Within +-max_value / inverse, where there is a largest value.
Value ApplyBuilder::clipValue(Value gradient, Value inverse) {
  Value most = given("max_value");
  Value bound = select(compare(most, P::GT, 0), div(most, inverse),
                       constant(most, HUGE_VAL));
  return amp::MaxOp::create(b, loc, amp::MinOp::create(b, loc, gradient, bound),
                            neg(bound));
}

/// `scaler`: 2 moves the scale, 1 and 0 leave it as it is. Nothing is learnt
/// about it from an empty window.
void ApplyBuilder::updateScale(Value scaler, Value scale, Value found,
                               Value isEmpty) {
  FlatSymbolRefAttr trackerState =
      state.addState("train.tracker", count, Role::Control);
  Value growth = given("growth_factor"), backoff = given("backoff_factor");
  Value interval = given("growth_interval", count);
  Value floor = given("scale_floor");
  Value tracker = read(trackerState, count);
  auto updated =
      train::UpdateScaleOp::create(b, loc, scalar, count, scale, tracker, found,
                                   growth, backoff, interval, floor);
  Value isDynamic = compare(scaler, P::EQ, 2);
  auto writeUpdated = [&](FlatSymbolRefAttr symbol, Value updated, Value old) {
    write(symbol, select(isEmpty, old, select(isDynamic, updated, old)));
  };
  writeUpdated(state.scale, updated.getNewScale(), scale);
  writeUpdated(trackerState, updated.getNewTracker(), tracker);
}

/// Steps are counted with the one that is made. ONNX counts those before it,
/// and may begin with another number.
void ApplyBuilder::moveByAdam(Value gradient, Value multiplier, Value skip,
                              Value taken) {
  Value rate = given("learning_rate"), decay = given("weight_decay");
  RankedTensorType flat = state.flat;
  Value parameters = read(state.parameters, flat);
  Value beta1 = given("beta1"), beta2 = given("beta2");
  Value epsilon = given("epsilon");
  auto [meanArena, mean] = addMoment("mean");
  auto [squareArena, square] = addMoment("square");
  bool isOnnx = optimizer == Optimizer::AdamEpsilonHat;
  Value step = plus(taken, isOnnx ? static_cast<double>(firstCount) : 1);
  auto moved = train::AdamOp::create(b, loc, flat, flat, flat, parameters, mean,
                                     square, gradient, multiplier, skip, step,
                                     rate, beta1, beta2, epsilon, decay,
                                     optimizer == Optimizer::AdamW, isOnnx);
  write(state.parameters, moved.getNewParameter());
  write(meanArena, moved.getNewMean());
  write(squareArena, moved.getNewSquare());
}

void ApplyBuilder::moveByAdagrad(Value gradient, Value multiplier, Value skip,
                                 Value taken) {
  Value rate = given("learning_rate"), decay = given("weight_decay");
  Value rateDecay = given("rate_decay"), epsilon = given("epsilon");
  RankedTensorType flat = state.flat;
  Value parameters = read(state.parameters, flat);
  auto [sumArena, sum] = addMoment("square_sum");
  Value step = plus(taken, static_cast<double>(firstCount) + 1);
  auto moved = train::AdagradOp::create(b, loc, flat, flat, parameters, sum,
                                        gradient, multiplier, skip, step, rate,
                                        rateDecay, epsilon, decay);
  write(state.parameters, moved.getNewParameter());
  write(sumArena, moved.getNewSquareSum());
}

void ApplyBuilder::move(Value gradient, Value multiplier, Value skip,
                        Value taken) {
  if (optimizer == Optimizer::Adagrad) {
    return moveByAdagrad(gradient, multiplier, skip, taken);
  }
  if (optimizer == Optimizer::Adam || optimizer == Optimizer::AdamW ||
      optimizer == Optimizer::AdamEpsilonHat) {
    return moveByAdam(gradient, multiplier, skip, taken);
  }
  Value rate = given("learning_rate"), decay = given("weight_decay");
  RankedTensorType flat = state.flat;
  Value parameters = read(state.parameters, flat);
  auto step = [&](Value buffer, Value momentum) {
    return train::SgdOp::create(b, loc, flat, flat, parameters, buffer,
                                gradient, multiplier, skip, rate, momentum,
                                decay, optimizer == Optimizer::Nesterov);
  };
  if (optimizer == Optimizer::Sgd) {
    // Without momentum nothing is kept.
    auto moved = step(full(parameters, 0), number(b.getF32Type(), 0));
    write(state.parameters, moved.getNewParameter());
    return;
  }
  Value momentum = given("momentum");
  auto [arena, buffer] = addMoment("momentum_buffer");
  auto moved = step(buffer, momentum);
  write(state.parameters, moved.getNewParameter());
  write(arena, moved.getNewMomentumBuffer());
}

void ApplyBuilder::build() {
  Value scaler = given("scaler", count);
  FlatSymbolRefAttr takenState =
      state.addState("train.taken", count, Role::Control);
  FlatSymbolRefAttr skippedState =
      state.addState("train.skipped", count, Role::Control);
  Value taken = read(takenState, count), skipped = read(skippedState, count);
  Value scale = read(state.scale, scalar);
  Value loss = read(state.findSum("loss"), scalar);
  Value weight = read(state.findSum("weight"), scalar);
  Value g = read(state.gradients, state.flat);

  // A window in which nothing counts, or without a micro-step, changes nothing.
  weight = where(compare(read(state.micro, count), P::GT, 0), weight);
  Value isEmpty = compare(weight, P::EQ, 0);
  Value divisor = select(isEmpty, constant(weight, 1), weight);
  // gradient * scale / nominal was summed over `weight`.
  Value inverse =
      div(constant(scale, state.nominalWeight), mul(scale, divisor));
  auto check = train::CheckOp::create(
      b, loc, RankedTensorType::get({}, b.getI1Type()), scalar, g, inverse);
  Value found = both(check.getFoundInf(), compare(weight, P::NE, 0));
  Value isSkipped = both(found, compare(scaler, P::GT, 0));
  Value clip =
      train::ClipOp::create(b, loc, scalar, check.getNorm(), given("max_norm"));
  Value next = plus(taken, 1);
  Value skip = amp::OrOp::create(b, loc, isSkipped, isEmpty);
  write(takenState, select(skip, taken, next));
  write(skippedState, add(skipped, cast(isSkipped, b.getI32Type())));
  updateScale(scaler, scale, found, isEmpty);
  move(clipValue(g, inverse), mul(inverse, clip), skip, taken);

  addMetric("loss", div(loss, divisor));
  addMetric("weight", weight);
  addMetric("norm", check.getNorm());
  addMetric("scale", scale);
  addMetric("found_inf", cast(found, b.getI32Type()));
  FlatSymbolRefAttr correct = state.findSum("correct");
  FlatSymbolRefAttr samples = state.findSum("count");
  if (correct && samples) {
    Value counted = read(samples, scalar);
    addMetric("correct", div(read(correct, scalar), counted));
    addMetric("count", counted);
  }
  // The next window starts its sums anew.
  write(state.micro, number(b.getI32Type(), 0));
}

} // namespace

void buildApply(TrainingState &state, func::FuncOp step, Optimizer optimizer,
                int64_t firstCount) {
  FunctionBuilder apply(step, "apply");
  ApplyBuilder(state, apply, optimizer, firstCount).build();
  apply.finish();
}

} // namespace ampc::training
