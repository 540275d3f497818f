//===- Recurrent.cpp - RNN, GRU and LSTM, unrolled over time --------------===//
//
// The product with the inputs is taken for all time steps at once; what remains
// in the chain of steps is the product with the state.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ampc::importer {
namespace {

enum class Cell { Rnn, Gru, Lstm };

/// One activation function with its parameters.
struct Activation {
  std::string name; // lower case
  double alpha = 0, beta = 0;
};

/// Operands of one direction, the direction's dimension taken away.
struct Direction {
  Value weight, recurrent, inputBias, stateBias; // biases may be null
  Value peephole;                                // null without one
  Value hidden, cell;                            // initial state
  ArrayRef<Activation> activations;
  bool isReverse = false;
};

constexpr int64_t maxSteps = 4096;

class RecurrentConverter {
public:
  RecurrentConverter(Node &n, Cell cell) : n(n), cell(cell) {}
  LogicalResult run();

private:
  unsigned numGates() const {
    return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1;
  }
  LogicalResult readAttributes();
  LogicalResult readActivations();
  LogicalResult checkShapes();
  SmallVector<Value> buildBody(ArrayRef<Value> in);
  Direction makeDirection(int64_t index);
  /// Runs one direction; fills in the outputs of each step and the last state.
  void runDirection(const Direction &direction, Value x,
                    SmallVectorImpl<Value> &steps, Value &hidden, Value &state);
  void stepRnn(const Direction &d, Value input, Value &hidden);
  void stepGru(const Direction &d, Value input, Value &hidden);
  void stepLstm(const Direction &d, Value input, Value &hidden, Value &state);
  Value activate(const Activation &activation, Value x);
  Value bound(Value x) {
    return clip > 0 ? n.unary<amp::ClipOp>(x, llvm::APFloat(-clip),
                                           llvm::APFloat(clip))
                    : x;
  }
  Value gate(Value gates, int64_t index) {
    return n.sliceDim(gates, n.rank(gates) - 1, index * hiddenSize, hiddenSize);
  }
  Value product(Value x, Value weight) {
    return n.build<amp::MatmulOp>(x, weight, Value(), false, true);
  }
  Value add(Value x, Value y) { return y ? n.build<amp::AddOp>(x, y) : x; }
  Value mul(Value x, Value y) { return n.build<amp::MulOp>(x, y); }
  /// Operand `input` inside of the composite's body, or null.
  Value operand(unsigned input) {
    return position[input] < 0 ? Value() : body[position[input]];
  }

  Node &n;
  Cell cell;
  SmallVector<Activation> activations;
  double clip = 0;
  bool isBatchFirst = false, resetsLate = false, couplesForget = false;
  int64_t directions = 1, steps = 0, batch = 0, hiddenSize = 0;
  bool startsReverse = false;
  SmallVector<int, 8> position; // of each input among the body's arguments
  SmallVector<Value> body;
};

} // namespace

LogicalResult RecurrentConverter::readActivations() {
  auto names = n.attrs.findStrings("activations");
  auto alphas = n.attrs.findFloats("activation_alpha");
  auto betas = n.attrs.findFloats("activation_beta");
  SmallVector<std::string> all;
  if (names && !names->empty()) {
    all = *names;
  } else {
    for (int64_t i = 0; i < directions; ++i) {
      if (cell != Cell::Rnn) {
        all.push_back("Sigmoid");
      }
      all.push_back("Tanh");
      if (cell == Cell::Lstm) {
        all.push_back("Tanh");
      }
    }
  }
  size_t perDirection = cell == Cell::Lstm ? 3 : cell == Cell::Gru ? 2 : 1;
  if (all.size() != perDirection * directions) {
    return n.invalid("expected " + Twine(perDirection * directions) +
                     " activations, got " + Twine(all.size()));
  }
  struct Default {
    const char *name;
    bool hasAlpha, hasBeta;
    double alpha, beta;
  };
  static constexpr Default table[] = {
      {"affine", true, true, 1, 0},
      {"elu", true, false, 1, 0},
      {"hardsigmoid", true, true, 0.2, 0.5},
      {"leakyrelu", true, false, 0.01, 0},
      {"relu", false, false, 0, 0},
      {"scaledtanh", true, true, 1, 1},
      {"sigmoid", false, false, 0, 0},
      {"softplus", false, false, 0, 0},
      {"softsign", false, false, 0, 0},
      {"tanh", false, false, 0, 0},
      {"thresholdedrelu", true, false, 1, 0},
  };
  size_t nextAlpha = 0, nextBeta = 0;
  for (const std::string &name : all) {
    std::string lower = StringRef(name).lower();
    const Default *entry = llvm::find_if(
        table, [&](const Default &entry) { return lower == entry.name; });
    if (entry == std::end(table)) {
      return n.unsupported("activation '" + printableName(name) + "'");
    }
    Activation activation{lower, entry->alpha, entry->beta};
    if (entry->hasAlpha && alphas && nextAlpha < alphas->size()) {
      activation.alpha = (*alphas)[nextAlpha++];
    }
    if (entry->hasBeta && betas && nextBeta < betas->size()) {
      activation.beta = (*betas)[nextBeta++];
    }
    activations.push_back(activation);
  }
  return success();
}

LogicalResult RecurrentConverter::readAttributes() {
  std::string direction = n.attrs.getString("direction", "forward");
  clip = n.attrs.getFloat("clip", 0);
  isBatchFirst = n.attrs.getFlag("layout");
  n.attrs.ignore("hidden_size"); // the weights say it
  if (cell == Cell::Gru) {
    resetsLate = n.attrs.getFlag("linear_before_reset");
  }
  if (cell == Cell::Lstm) {
    couplesForget = n.attrs.getFlag("input_forget");
  }
  if (direction == "bidirectional") {
    directions = 2;
  } else if (direction == "reverse") {
    startsReverse = true;
  } else if (direction != "forward") {
    return n.invalid("unknown direction '" + printableName(direction) + "'");
  }
  return readActivations();
}

LogicalResult RecurrentConverter::checkShapes() {
  Value x = n.in(0), w = n.in(1), r = n.in(2);
  if (n.rank(x) != 3 || n.rank(w) != 3 || n.rank(r) != 3) {
    return n.invalid("expected input and weights of rank 3");
  }
  steps = n.shape(x)[isBatchFirst ? 1 : 0];
  batch = n.shape(x)[isBatchFirst ? 0 : 1];
  hiddenSize = n.shape(r)[2];
  int64_t gates = hiddenSize * numGates();
  auto hasShape = [&](unsigned i, ArrayRef<int64_t> shape) {
    return !n.has(i) || n.shape(n.in(i)) == shape;
  };
  SmallVector<int64_t> state{directions, batch, hiddenSize};
  if (isBatchFirst) {
    std::swap(state[0], state[1]);
  }
  bool fits = hasShape(1, {directions, gates, n.shape(x)[2]}) &&
              hasShape(2, {directions, gates, hiddenSize}) &&
              hasShape(3, {directions, 2 * gates}) && hasShape(4, {batch}) &&
              hasShape(5, state);
  if (cell == Cell::Lstm) {
    fits =
        fits && hasShape(6, state) && hasShape(7, {directions, 3 * hiddenSize});
  }
  if (!fits) {
    return n.invalid("its operands do not fit together");
  }
  if (steps > maxSteps || steps == 0) {
    return n.unsupported("sequence of " + Twine(steps) + " steps");
  }
  return success();
}

Value RecurrentConverter::activate(const Activation &f, Value x) {
  Type element = n.element(x);
  auto number = [&](double value) { return n.scalar(element, value); };
  auto where = [&](Value bound, Value otherwise) {
    Value isAbove =
        n.build<amp::CompareOp>(x, bound, amp::ComparePredicate::GT);
    return n.build<amp::SelectOp>(isAbove, x, otherwise);
  };
  if (f.name == "tanh") {
    return n.unary<amp::TanhOp>(x);
  }
  if (f.name == "sigmoid") {
    return n.unary<amp::SigmoidOp>(x);
  }
  if (f.name == "relu") {
    return n.unary<amp::ReluOp>(x);
  }
  if (f.name == "affine") {
    return add(mul(x, number(f.alpha)), number(f.beta));
  }
  if (f.name == "leakyrelu") {
    return n.unary<amp::LeakyReluOp>(x, llvm::APFloat(f.alpha));
  }
  if (f.name == "thresholdedrelu") {
    return where(number(f.alpha), number(0));
  }
  if (f.name == "scaledtanh") {
    return mul(number(f.alpha), n.unary<amp::TanhOp>(mul(x, number(f.beta))));
  }
  if (f.name == "hardsigmoid") {
    return n.unary<amp::HardSigmoidOp>(x, llvm::APFloat(f.alpha),
                                       llvm::APFloat(f.beta));
  }
  if (f.name == "elu") {
    Value shifted = n.build<amp::SubOp>(n.unary<amp::ExpOp>(x), number(1));
    return where(number(0), mul(shifted, number(f.alpha)));
  }
  if (f.name == "softsign") {
    return n.build<amp::DivOp>(x, add(n.unary<amp::AbsOp>(x), number(1)));
  }
  assert(f.name == "softplus" && "the table above names all functions");
  return n.unary<amp::SoftplusOp>(x);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void RecurrentConverter::stepRnn(const Direction &d, Value input,
                                 Value &hidden) {
  Value sum = add(input, add(product(hidden, d.recurrent), d.stateBias));
  hidden = activate(d.activations[0], bound(sum));
}

/// Gates stand in the order update, reset, hidden.
void RecurrentConverter::stepGru(const Direction &d, Value input,
                                 Value &hidden) {
  auto rows = [&](Value parameter, int64_t first, int64_t count) {
    return parameter ? n.sliceDim(parameter, 0, first * hiddenSize,
                                  count * hiddenSize)
                     : Value();
  };
  Value gates = product(hidden, rows(d.recurrent, 0, 2));
  gates = add(gates, rows(d.stateBias, 0, 2));
  Value update =
      activate(d.activations[0], bound(add(gate(input, 0), gate(gates, 0))));
  Value reset =
      activate(d.activations[0], bound(add(gate(input, 1), gate(gates, 1))));
  Value weight = rows(d.recurrent, 2, 1), bias = rows(d.stateBias, 2, 1);
  Value fromState = resetsLate ? mul(reset, add(product(hidden, weight), bias))
                               : add(product(mul(reset, hidden), weight), bias);
  Value fresh =
      activate(d.activations[1], bound(add(gate(input, 2), fromState)));
  Value one = n.scalar(n.element(fresh), 1);
  hidden =
      add(mul(n.build<amp::SubOp>(one, update), fresh), mul(update, hidden));
}

/// Gates stand in the order input, output, forget, cell.
void RecurrentConverter::stepLstm(const Direction &d, Value input,
                                  Value &hidden, Value &state) {
  Value gates = add(input, add(product(hidden, d.recurrent), d.stateBias));
  auto peep = [&](int64_t index, Value cellState) {
    return d.peephole ? mul(gate(d.peephole, index), cellState) : Value();
  };
  const Activation &f = d.activations[0];
  Value in = activate(f, bound(add(gate(gates, 0), peep(0, state))));
  Value forget = couplesForget
                     ? n.build<amp::SubOp>(n.scalar(n.element(in), 1), in)
                     : activate(f, bound(add(gate(gates, 2), peep(2, state))));
  Value fresh = activate(d.activations[1], bound(gate(gates, 3)));
  state = add(mul(forget, state), mul(in, fresh));
  Value out = activate(f, bound(add(gate(gates, 1), peep(1, state))));
  hidden = mul(out, activate(d.activations[2], state));
}

//===----------------------------------------------------------------------===//
// The whole sequence
//===----------------------------------------------------------------------===//

Direction RecurrentConverter::makeDirection(int64_t index) {
  // A parameter of this direction, without the dimension of directions.
  auto pick = [&](unsigned input, int64_t dim) {
    Value x = operand(input);
    if (!x) {
      return x;
    }
    SmallVector<int64_t> shape(n.shape(x));
    shape.erase(shape.begin() + dim);
    return n.reshape(n.sliceDim(x, dim, index, 1), shape);
  };
  int64_t stateDim = isBatchFirst ? 1 : 0;
  Direction d;
  d.weight = pick(1, 0);
  d.recurrent = pick(2, 0);
  if (Value bias = pick(3, 0)) {
    int64_t half = hiddenSize * numGates();
    d.inputBias = n.sliceDim(bias, 0, 0, half);
    d.stateBias = n.sliceDim(bias, 0, half, half);
  }
  auto zeros = [&] {
    return n.splat(
        RankedTensorType::get({batch, hiddenSize}, n.element(d.recurrent)), 0);
  };
  d.hidden = operand(5) ? pick(5, stateDim) : zeros();
  if (cell == Cell::Lstm) {
    d.cell = operand(6) ? pick(6, stateDim) : zeros();
    d.peephole = pick(7, 0);
  }
  size_t count = activations.size() / directions;
  d.activations = ArrayRef(activations).slice(index * count, count);
  d.isReverse = startsReverse || index == 1;
  return d;
}

void RecurrentConverter::runDirection(const Direction &d, Value x,
                                      SmallVectorImpl<Value> &outputs,
                                      Value &hidden, Value &state) {
  hidden = d.hidden;
  state = d.cell;
  Value projected =
      n.build<amp::MatmulOp>(x, d.weight, d.inputBias, false, true);
  Value lengths = operand(4);
  outputs.resize(steps);
  for (int64_t i = 0; i < steps; ++i) {
    int64_t t = d.isReverse ? steps - 1 - i : i;
    Value input = n.reshape(n.sliceDim(projected, 0, t * batch, batch),
                            {batch, hiddenSize * numGates()});
    Value nextHidden = hidden, nextState = state;
    if (cell == Cell::Rnn) {
      stepRnn(d, input, nextHidden);
    } else if (cell == Cell::Gru) {
      stepGru(d, input, nextHidden);
    } else {
      stepLstm(d, input, nextHidden, nextState);
    }
    outputs[t] = nextHidden;
    if (lengths) {
      // Behind its end a sequence keeps its state and puts out zero.
      Value isInside = n.build<amp::CompareOp>(n.scalar(n.element(lengths), t),
                                               n.reshape(lengths, {batch, 1}),
                                               amp::ComparePredicate::LT);
      outputs[t] = n.build<amp::SelectOp>(isInside, nextHidden,
                                          n.scalar(n.element(nextHidden), 0));
      nextHidden = n.build<amp::SelectOp>(isInside, nextHidden, hidden);
      if (nextState) {
        nextState = n.build<amp::SelectOp>(isInside, nextState, state);
      }
    }
    hidden = nextHidden;
    state = nextState;
    if (n.hasFailed()) {
      return;
    }
  }
}

SmallVector<Value> RecurrentConverter::buildBody(ArrayRef<Value> in) {
  body.assign(in.begin(), in.end());
  Value x = operand(0);
  if (isBatchFirst) {
    x = n.transpose(x, {1, 0, 2});
  }
  x = n.reshape(x, {steps * batch, n.shape(x).empty() ? 0 : n.shape(x)[2]});
  SmallVector<Value> perDirection, lastHidden, lastState;
  int64_t stateDim = isBatchFirst ? 1 : 0;
  SmallVector<int64_t> stateShape{1, batch, hiddenSize};
  if (isBatchFirst) {
    std::swap(stateShape[0], stateShape[1]);
  }
  for (int64_t i = 0; i < directions; ++i) {
    SmallVector<Value> outputs;
    Value hidden, state;
    runDirection(makeDirection(i), x, outputs, hidden, state);
    if (n.hasFailed()) {
      return {Value()};
    }
    for (Value &output : outputs) {
      output = n.reshape(output, {1, 1, batch, hiddenSize});
    }
    perDirection.push_back(n.concat(outputs, 0));
    lastHidden.push_back(n.reshape(hidden, stateShape));
    if (state) {
      lastState.push_back(n.reshape(state, stateShape));
    }
  }
  Value y = n.concat(perDirection, 1); // [steps, directions, batch, hidden]
  if (isBatchFirst) {
    y = n.transpose(y, {2, 0, 1, 3});
  }
  SmallVector<Value> results{y, n.concat(lastHidden, stateDim)};
  if (cell == Cell::Lstm) {
    results.push_back(n.concat(lastState, stateDim));
  }
  return results;
}

LogicalResult RecurrentConverter::run() {
  if (failed(readAttributes()) || failed(checkShapes())) {
    return failure();
  }
  SmallVector<Value> operands;
  position.assign(8, -1);
  for (unsigned i = 0; i < n.numInputs(); ++i) {
    if (n.has(i)) {
      position[i] = operands.size();
      operands.push_back(n.in(i));
    }
  }
  SmallVector<Value> outputs =
      n.composite(operands, [&](ArrayRef<Value> in) { return buildBody(in); });
  for (auto [i, output] : llvm::enumerate(outputs)) {
    n.set(i, output);
  }
  return success();
}

template <Cell cell>
static LogicalResult convertRecurrent(Node &n) {
  return RecurrentConverter(n, cell).run();
}

void addRecurrentOps(OpTable &table) {
  table.add({
      {"GRU", convertRecurrent<Cell::Gru>, AutocastClass::Lower, 3, 6, 2, 3},
      {"LSTM", convertRecurrent<Cell::Lstm>, AutocastClass::Lower, 3, 8, 3},
      {"RNN", convertRecurrent<Cell::Rnn>, AutocastClass::Lower, 3, 6, 2},
  });
}

} // namespace ampc::importer
