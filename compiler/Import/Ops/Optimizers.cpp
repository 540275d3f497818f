//===- Optimizers.cpp - Parameter updates of the training preview ---------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"

using namespace mlir;

namespace ampc::importer {
namespace {

/// What one parameter's update works with. All values have one element type.
struct Update {
  Update(Node &n, ArrayRef<Value> in)
      : n(n), element(n.element(in[0])), x(in[0]), gradient(in[1]),
        states(in.slice(2, in.size() - 4)),
        rate(n.cast(in[in.size() - 2], element)),
        steps(n.cast(in.back(), element)) {}

  Value num(double value) { return n.scalar(element, value); }
  Value add(Value l, Value r) { return n.build<amp::AddOp>(l, r); }
  Value sub(Value l, Value r) { return n.build<amp::SubOp>(l, r); }
  Value mul(Value l, Value r) { return n.build<amp::MulOp>(l, r); }
  Value div(Value l, Value r) { return n.build<amp::DivOp>(l, r); }
  Value sqrt(Value v) { return n.unary<amp::SqrtOp>(v); }
  /// `later` after the first step, else `first`.
  Value afterFirstStep(Value later, Value first) {
    Value isLater =
        n.build<amp::CompareOp>(steps, num(0), amp::ComparePredicate::GT);
    return n.build<amp::SelectOp>(isLater, later, first);
  }
  /// The gradient with the penalty on large parameters added.
  Value regularized(double coefficient) {
    return coefficient == 0 ? gradient
                            : add(mul(num(coefficient), x), gradient);
  }
  /// 1 - base^steps
  Value correction(double base) {
    return sub(num(1), n.build<amp::PowOp>(num(base), steps));
  }

  Node &n;
  Type element;
  Value x, gradient;
  ArrayRef<Value> states;
  Value rate, steps;
};

/// The parameter's and the states' new values.
using UpdateFn = function_ref<SmallVector<Value>(Update &)>;

} // namespace

/// The inputs are the learning rate, the count of steps, all parameters, all
/// gradients and all of each state; the outputs all parameters and states.
static LogicalResult convertOptimizer(Node &n, unsigned numStates,
                                      UpdateFn update) {
  unsigned slots = 2 + numStates, given = n.numInputs() - 2;
  if (given % slots != 0) {
    return n.invalid("expected " + Twine(slots) + " tensors per parameter");
  }
  unsigned count = given / slots;
  for (unsigned i = 0; i < count; ++i) {
    SmallVector<Value> operands;
    for (unsigned slot = 0; slot < slots; ++slot) {
      operands.push_back(n.in(2 + slot * count + i));
      if (n.shape(operands.back()) != n.shape(operands.front()) ||
          n.element(operands.back()) != n.element(operands.front())) {
        return n.invalid(
            "expected the tensors of a parameter to have its type");
      }
    }
    operands.append({n.in(0), n.in(1)});
    SmallVector<Value> results = n.composite(operands, [&](ArrayRef<Value> in) {
      Update step(n, in);
      return update(step);
    });
    if (n.hasFailed()) {
      return failure();
    }
    for (auto [slot, value] : llvm::enumerate(results)) {
      n.set(slot * count + i, value);
    }
  }
  return success();
}

static LogicalResult convertAdam(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 0.9f);
  double beta = n.attrs.getFloat("beta", 0.999f);
  double epsilon = n.attrs.getFloat("epsilon", 1e-6f);
  double before = n.attrs.getFloat("norm_coefficient", 0);
  double after = n.attrs.getFloat("norm_coefficient_post", 0);
  return convertOptimizer(n, 2, [&](Update &u) -> SmallVector<Value> {
    Value g = u.regularized(before);
    Value v =
        u.add(u.mul(u.num(alpha), u.states[0]), u.mul(u.num(1 - alpha), g));
    Value h = u.add(u.mul(u.num(beta), u.states[1]),
                    u.mul(u.num(1 - beta), u.mul(g, g)));
    Value corrected =
        u.div(u.mul(u.rate, u.sqrt(u.correction(beta))), u.correction(alpha));
    Value rate = u.afterFirstStep(corrected, u.rate);
    Value x =
        u.sub(u.x, u.mul(rate, u.div(v, u.add(u.sqrt(h), u.num(epsilon)))));
    return {after == 0 ? x : u.mul(u.num(1 - after), x), v, h};
  });
}

static LogicalResult convertAdagrad(Node &n) {
  double decay = n.attrs.getFloat("decay_factor", 0);
  double epsilon = n.attrs.getFloat("epsilon", 1e-6f);
  double norm = n.attrs.getFloat("norm_coefficient", 0);
  return convertOptimizer(n, 1, [&](Update &u) -> SmallVector<Value> {
    Value rate = u.div(u.rate, u.add(u.num(1), u.mul(u.steps, u.num(decay))));
    Value g = u.regularized(norm);
    Value h = u.add(u.states[0], u.mul(g, g));
    Value step = u.div(u.mul(rate, g), u.add(u.sqrt(h), u.num(epsilon)));
    return {u.sub(u.x, step), h};
  });
}

static LogicalResult convertMomentum(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 0);
  double beta = n.attrs.getFloat("beta", 0);
  double norm = n.attrs.getFloat("norm_coefficient", 0);
  std::string mode = n.attrs.getString("mode", "");
  if (mode != "standard" && mode != "nesterov") {
    return n.invalid("expected mode standard or nesterov, got '" +
                     printableName(mode) + "'");
  }
  return convertOptimizer(n, 1, [&](Update &u) -> SmallVector<Value> {
    Value g = u.regularized(norm);
    Value factor = u.afterFirstStep(u.num(beta), u.num(1));
    Value v = u.add(u.mul(u.num(alpha), u.states[0]), u.mul(factor, g));
    Value step = mode == "standard" ? v : u.add(g, u.mul(u.num(alpha), v));
    return {u.sub(u.x, u.mul(u.rate, step)), v};
  });
}

void addOptimizerOps(OpTable &table) {
  table.add({
      {"ai.onnx.preview.training.Adagrad", convertAdagrad, AutocastClass::Fp32,
       5, anyNumber, anyNumber},
      {"ai.onnx.preview.training.Adam", convertAdam, AutocastClass::Fp32, 6,
       anyNumber, anyNumber},
      {"ai.onnx.preview.training.Momentum", convertMomentum,
       AutocastClass::Fp32, 5, anyNumber, anyNumber},
  });
}

} // namespace ampc::importer
