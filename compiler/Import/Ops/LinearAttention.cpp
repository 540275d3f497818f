//===- LinearAttention.cpp - Attention as a recurrence over a state -------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"

#include <cmath>

using namespace mlir;

namespace ampc::importer {
namespace {

/// Steps are written out one by one.
constexpr int64_t maxSteps = 256;

class LinearAttention {
public:
  explicit LinearAttention(Node &n) : n(n) {}
  LogicalResult run();

private:
  LogicalResult check();
  SmallVector<Value> build(ArrayRef<Value> in);
  /// [B, T, heads * size] as [B, heads, T, size].
  Value splitHeads(Value x, int64_t heads);
  Value mul(Value l, Value r) { return n.build<amp::MulOp>(l, r); }
  Value add(Value l, Value r) { return n.build<amp::AddOp>(l, r); }
  /// Rows [.., rows, keySize] times the state, not as a contraction: those run
  /// in the 16-bit type, while the state shall stay in f32.
  Value read(Value rows, Value state) {
    SmallVector<int64_t> s(n.shape(rows));
    Value products = mul(n.reshape(rows, {s[0], s[1], s[2], keySize, 1}),
                         n.reshape(state, {s[0], s[1], 1, keySize, valueSize}));
    return n.reduceSum(products, 3, /*keepdims=*/false);
  }

  Node &n;
  int64_t queryHeads = 0, keyHeads = 0;
  int64_t batch = 0, steps = 0, keySize = 0, valueSize = 0;
  bool isGated = false, isDelta = false;
  double scale = 1;
  // Positions among the composite's operands; 0 where there is none.
  size_t pastAt = 0, decayAt = 0, betaAt = 0;
};

} // namespace

Value LinearAttention::splitHeads(Value x, int64_t heads) {
  int64_t size = n.shape(x)[2] / heads;
  return n.transpose(n.reshape(x, {batch, steps, heads, size}), {0, 2, 1, 3});
}

LogicalResult LinearAttention::check() {
  queryHeads = n.attrs.requireInt("q_num_heads");
  keyHeads = n.attrs.requireInt("kv_num_heads");
  std::string rule = n.attrs.getString("update_rule", "gated_delta");
  n.attrs.ignore("chunk_size"); // how to compute it, not what
  isGated = rule == "gated" || rule == "gated_delta";
  isDelta = rule == "delta" || rule == "gated_delta";
  if (!isGated && !isDelta && rule != "linear") {
    return n.invalid("unknown update_rule '" + printableName(rule) + "'");
  }
  if (isGated != n.has(4) || isDelta != n.has(5)) {
    return n.invalid("its decay and beta do not fit its update_rule");
  }
  for (unsigned i = 0; i < 3; ++i) {
    if (n.rank(n.in(i)) != 3 ||
        n.shape(n.in(i)).take_front(2) != n.shape(n.in(0)).take_front(2)) {
      return n.invalid(
          "expected query, key and value of rank 3 and one length");
    }
  }
  ArrayRef<int64_t> q = n.shape(n.in(0)), k = n.shape(n.in(1)),
                    v = n.shape(n.in(2));
  if (keyHeads < 1 || queryHeads < 1 || queryHeads % keyHeads != 0 ||
      k[2] % keyHeads != 0 || v[2] % keyHeads != 0 ||
      q[2] / queryHeads != k[2] / keyHeads || q[2] % queryHeads != 0) {
    return n.invalid("its operands do not divide into heads");
  }
  batch = q[0];
  steps = q[1];
  keySize = k[2] / keyHeads;
  valueSize = v[2] / keyHeads;
  if (steps < 1 || steps > maxSteps) {
    return n.unsupported("a length outside 1 to " + Twine(maxSteps));
  }
  if (n.has(3) && n.shape(n.in(3)) !=
                      ArrayRef<int64_t>{batch, keyHeads, keySize, valueSize}) {
    return n.invalid("its past state does not fit its operands");
  }
  auto fits = [&](unsigned i, ArrayRef<int64_t> sizes) {
    return !n.has(i) || (n.rank(n.in(i)) == 3 &&
                         n.shape(n.in(i)).take_front(2) == q.take_front(2) &&
                         llvm::is_contained(sizes, n.shape(n.in(i))[2]));
  };
  if (!fits(4, {keyHeads, keyHeads * keySize}) || !fits(5, {keyHeads, 1})) {
    return n.invalid("its decay or beta does not fit its operands");
  }
  if (n.has(3) && n.element(n.in(3)) != n.element(n.in(0))) {
    return n.unsupported("a state of another type than its query");
  }
  scale = n.attrs.getFloat("scale", 0);
  if (scale == 0) {
    scale = 1 / std::sqrt(static_cast<double>(keySize));
  }
  return success();
}

/// S <- exp(decay) S + key (x) change, read as scale * query S.
SmallVector<Value> LinearAttention::build(ArrayRef<Value> in) {
  Type element = n.element(in[0]);
  int64_t groups = queryHeads / keyHeads;
  Value query = splitHeads(in[0], queryHeads),
        key = splitHeads(in[1], keyHeads);
  Value value = splitHeads(in[2], keyHeads), decay, beta;
  if (decayAt != 0) {
    decay = splitHeads(in[decayAt], keyHeads);
  }
  if (betaAt != 0) {
    beta = splitHeads(in[betaAt], n.shape(in[betaAt])[2]);
  }
  SmallVector<int64_t> stateShape{batch, keyHeads, keySize, valueSize};
  Value state = pastAt != 0
                    ? in[pastAt]
                    : n.splat(RankedTensorType::get(stateShape, element), 0);
  SmallVector<Value> outputs;
  for (int64_t t = 0; t < steps && !n.hasFailed(); ++t) {
    auto at = [&](Value x) { return n.sliceDim(x, 2, t, 1); };
    auto asColumn = [&](Value x) { return n.transpose(x, {0, 1, 3, 2}); };
    Value k = at(key), change = at(value);
    if (decay) {
      state = mul(state, n.unary<amp::ExpOp>(asColumn(at(decay))));
    }
    if (beta) {
      Value known = read(k, state);
      change = mul(at(beta), n.build<amp::SubOp>(change, known));
    }
    state = add(state, mul(asColumn(k), change));
    Value q = n.reshape(at(query), {batch, keyHeads, groups, keySize});
    outputs.push_back(
        n.reshape(read(q, state), {batch, queryHeads, 1, valueSize}));
  }
  Value y = mul(n.concat(outputs, 2), n.scalar(element, scale));
  y = n.reshape(n.transpose(y, {0, 2, 1, 3}),
                {batch, steps, queryHeads * valueSize});
  return {y, state};
}

LogicalResult LinearAttention::run() {
  if (failed(check())) {
    return failure();
  }
  SmallVector<Value> operands{n.in(0), n.in(1), n.in(2)};
  SmallVector<int64_t> pinned; // what the state is made of stays as it is
  auto addOperand = [&](unsigned i) -> size_t {
    if (!n.has(i)) {
      return 0;
    }
    operands.push_back(n.in(i));
    return operands.size() - 1;
  };
  pastAt = addOperand(3);
  decayAt = addOperand(4);
  betaAt = addOperand(5);
  if (pastAt != 0) {
    pinned.push_back(pastAt);
  }
  SmallVector<Value> results = n.composite(
      operands, [&](ArrayRef<Value> in) { return build(in); }, pinned);
  if (n.hasFailed()) {
    return failure();
  }
  n.set(0, results[0]);
  n.set(1, results[1]);
  return success();
}

static LogicalResult convertLinearAttention(Node &n) {
  return LinearAttention(n).run();
}

void addLinearAttentionOps(OpTable &table) {
  table.add({{"LinearAttention", convertLinearAttention, AutocastClass::Lower,
              3, 6, 2, 27}});
}

} // namespace ampc::importer
