//===- LossFormula.cpp - Losses as operations of amp ----------------------===//
#include "passes/Training/LossFormula.h"

#include <limits>

using namespace mlir;

namespace ampc::training {
using P = amp::ComparePredicate;

Value LossFormula::sumAll(Value value) {
  return amp::ReduceSumOp::create(b, loc, value, amp::axesFrom(value, 0),
                                  /*keepdims=*/false);
}

Value LossFormula::asNumber(Value flag) { return cast(flag, b.getF32Type()); }

Value LossFormula::getCounted(ArrayRef<int64_t> shape) {
  int64_t rows = shape.empty() ? 1 : shape.front();
  // A model may flatten the positions of its samples into rows.
  int64_t rowsPerSample = batch > 0 && rows % batch == 0 ? rows / batch : 1;
  Type index = b.getI64Type();
  Value bound = samples;
  if (rowsPerSample != 1) {
    bound = mul(samples, number(index, static_cast<double>(rowsPerSample)));
  }
  if (shape.empty()) {
    return compare(bound, P::GT, number(index, 0));
  }
  SmallVector<int64_t> column(shape.size(), 1);
  column.front() = rows;
  Value row = amp::IotaOp::create(b, loc, RankedTensorType::get(column, index),
                                  /*dimension=*/0);
  return compare(row, P::LT, bound);
}

Value LossFormula::spreadClasses(Value weights, Value like, int64_t axis) {
  SmallVector<int64_t> shape(typeOf(like).getRank(), 1);
  shape[axis] = shapeOf(weights).front();
  return reshape(weights, shape);
}

LossSums LossFormula::crossEntropy(Value logits, Value labels,
                                   const CrossEntropy &options) {
  Value logs = amp::LogSoftmaxOp::create(b, loc, logits, options.axis);
  return negativeLogLikelihood(logs, labels, options);
}

LossSums LossFormula::negativeLogLikelihood(Value logs, Value labels,
                                            const CrossEntropy &options) {
  Type index = elementOf(labels);
  int64_t axis = options.axis, classes = shapeOf(logs)[axis];
  auto at = [&](int64_t value) -> Value {
    auto type = RankedTensorType::get({}, index);
    return amp::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getIntegerAttr(index, value)));
  };
  auto isNot = [&](Value flag) -> Value {
    return amp::LogicalNotOp::create(b, loc, flag);
  };
  Value counted = getCounted(shapeOf(labels));
  counted = broadcast(counted, shapeOf(labels));
  if (options.ignoreIndex) {
    counted =
        both(counted, isNot(compare(labels, P::EQ, at(*options.ignoreIndex))));
  }
  Value isClass =
      both(compare(labels, P::GE, at(0)), compare(labels, P::LT, at(classes)));
  Value active = both(counted, isClass);

  // One position of each row, by comparing: its gradient is a map, while that
  // of a gather scatters.
  SmallVector<int64_t> column(shapeOf(labels)), row(shapeOf(logs).size(), 1);
  column.insert(column.begin() + axis, 1);
  row[axis] = classes;
  Value position =
      amp::IotaOp::create(b, loc, RankedTensorType::get(row, index), axis);
  Value isLabel = compare(position, P::EQ, reshape(labels, column));
  Value scores = logs, weight;
  if (options.classWeights) {
    scores = mul(logs, spreadClasses(options.classWeights, logs, axis));
    Value bounded = select(active, labels, at(0));
    weight = amp::GatherOp::create(b, loc, options.classWeights, bounded,
                                   /*axis=*/0);
  }
  auto sumOfClasses = [&](Value value) -> Value {
    return neg(amp::ReduceSumOp::create(b, loc, value, axis,
                                        /*keepdims=*/false));
  };
  Value loss = sumOfClasses(where(isLabel, scores));
  if (options.smoothing != 0) {
    loss = add(scale(loss, 1 - options.smoothing),
               scale(sumOfClasses(scores),
                     options.smoothing / static_cast<double>(classes)));
  }
  Value isWrong = both(counted, isNot(isClass));
  Value otherwise =
      select(isWrong, constant(loss, std::numeric_limits<double>::quiet_NaN()),
             constant(loss, 0));
  Value predicted = amp::ArgMaxOp::create(b, loc, logs, axis,
                                          /*keepdims=*/false,
                                          /*select_last=*/false);
  predicted = cast(predicted, index);
  LossSums sums;
  sums.loss = sumAll(select(active, loss, otherwise));
  sums.weight = sumAll(weight ? where(active, weight) : asNumber(active));
  sums.correct =
      sumAll(asNumber(both(active, compare(predicted, P::EQ, labels))));
  sums.count = weight ? sumAll(asNumber(active)) : sums.weight;
  return sums;
}

LossSums LossFormula::crossEntropyOfProbabilities(Value logits, Value labels,
                                                  const CrossEntropy &options) {
  int64_t axis = options.axis, classes = shapeOf(logits)[axis];
  Value logs = amp::LogSoftmaxOp::create(b, loc, logits, axis), y = labels;
  if (options.smoothing != 0) {
    y = plus(scale(y, 1 - options.smoothing),
             options.smoothing / static_cast<double>(classes));
  }
  if (options.classWeights) {
    y = mul(y, spreadClasses(options.classWeights, logits, axis));
  }
  Value loss = neg(amp::ReduceSumOp::create(b, loc, mul(y, logs), axis,
                                            /*keepdims=*/false));
  Value counted = broadcast(getCounted(shapeOf(loss)), shapeOf(loss));
  auto best = [&](Value value) -> Value {
    return amp::ArgMaxOp::create(b, loc, value, axis, /*keepdims=*/false,
                                 /*select_last=*/false);
  };
  Value isRight = compare(best(logits), P::EQ, best(labels));
  Value weight = sumAll(asNumber(counted));
  return {sumAll(where(counted, loss)), weight,
          sumAll(asNumber(both(counted, isRight))), weight};
}

LossSums LossFormula::average(Value loss) {
  ArrayRef<int64_t> shape = shapeOf(loss);
  int64_t elements = typeOf(loss).getNumElements();
  int64_t rows = shape.empty() ? 1 : shape.front();
  double share =
      elements == 0 ? 1
                    : static_cast<double>(rows) / static_cast<double>(elements);
  Value counted = getCounted(shape);
  return {scale(sumAll(select(counted, loss, constant(loss, 0))), share),
          sumAll(asNumber(counted)), Value(), Value()};
}

LossSums LossFormula::elementwise(Loss kind, Value x, Value labels) {
  if (kind == Loss::BceWithLogits) {
    // max(x, 0) - x y + log(1 + exp(-|x|)), as
    // torch.nn.BCEWithLogitsLoss has it: nothing cancels. By conditions, so
    // that its gradient at 0 is sigmoid(0) - y.
    Value isPositive = compare(x, P::GE, 0);
    Value linear = sub(where(isPositive, x), mul(x, labels));
    Value below = select(isPositive, neg(x), x);
    LossSums sums = average(add(linear, apply<amp::SoftplusOp>(below)));
    Value isRight = compare(asNumber(compare(x, P::GT, 0)), P::EQ,
                            asNumber(compare(labels, P::GT, 0.5)));
    sums.correct = average(asNumber(isRight)).loss;
    sums.count = sums.weight;
    return sums;
  }
  Value difference = sub(x, labels);
  if (kind == Loss::Mse) {
    return average(square(difference));
  }
  Value distance = apply<amp::AbsOp>(difference);
  if (kind == Loss::L1) {
    return average(distance);
  }
  // torch.nn.HuberLoss with delta = 1.
  return average(select(compare(distance, P::LT, 1),
                        scale(square(difference), 0.5), plus(distance, -0.5)));
}

LossSums LossFormula::given(Value loss) {
  if (typeOf(loss).getRank() != 0) {
    return average(loss);
  }
  // Nothing tells which of its samples a number is of.
  Type index = b.getI64Type();
  Value isWhole =
      compare(samples, P::GE, number(index, static_cast<double>(batch)));
  return {select(isWhole, loss, constant(loss, 0)), asNumber(isWhole), Value(),
          Value()};
}

LossSums LossFormula::reduced(LossSums sums, StringRef reduction,
                              Value targets) {
  if (reduction == "mean") {
    return sums;
  }
  sums.weight =
      reduction == "sum"
          ? asNumber(compare(samples, P::GT, number(b.getI64Type(), 0)))
          : sumAll(asNumber(
                broadcast(getCounted(shapeOf(targets)), shapeOf(targets))));
  return sums;
}

} // namespace ampc::training
