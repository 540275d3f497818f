//===- FlexAttention.cpp - Attention with subgraphs on its scores ---------===//
#include "compiler/Import/Importer.h"
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"

#include <cmath>

using namespace mlir;

namespace ampc::importer {

/// Applies the subgraph `name`, which maps scores to scores; null after
/// reporting.
static Value applySubgraph(Node &n, StringRef name, Value scores) {
  const onnx::GraphProto *graph = n.attrs.findGraph(name);
  if (!graph || !scores) {
    return scores;
  }
  if (graph->input_size() != 1 || graph->output_size() != 1) {
    (void)n.invalid("expected " + name + " to have one input and one output");
    return {};
  }
  Entity entity;
  entity.tensor = scores;
  SmallVector<Entity> results =
      n.importer.importSubgraph(n, *graph, {entity}, name);
  Value result = results.front().tensor;
  if (!result) {
    n.markFailed();
    return {};
  }
  if (n.shape(result) != n.shape(scores)) {
    (void)n.invalid("expected " + name + " to keep the shape of the scores");
    return {};
  }
  return n.cast(result, n.element(scores));
}

/// Key or value heads, each repeated for the queries that share it.
static Value repeatHeads(Node &n, Value x, int64_t repeats) {
  SmallVector<int64_t> s(n.shape(x));
  if (repeats == 1) {
    return x;
  }
  Value wide = n.broadcast(n.reshape(x, {s[0], s[1], 1, s[2], s[3]}),
                           {s[0], s[1], repeats, s[2], s[3]});
  return n.reshape(wide, {s[0], s[1] * repeats, s[2], s[3]});
}

static LogicalResult convertFlexAttention(Node &n) {
  Value q = n.in(0), k = n.in(1), v = n.in(2);
  for (Value x : {q, k, v}) {
    if (n.rank(x) != 4 || n.element(x) != n.element(q)) {
      return n.invalid("expected query, key and value of rank 4 and one type");
    }
  }
  ArrayRef<int64_t> qs = n.shape(q), ks = n.shape(k), vs = n.shape(v);
  if (ks.take_front(3) != vs.take_front(3) || ks[3] != qs[3] ||
      ks[0] != qs[0] || ks[1] == 0 || qs[1] % ks[1] != 0 || qs[3] == 0) {
    return n.invalid("its operands do not fit each other");
  }
  double scale =
      n.attrs.has("scale")
          ? n.attrs.getFloat("scale", 0)
          : static_cast<float>(1 / std::sqrt(static_cast<double>(qs[3])));
  n.attrs.ignore("softmax_precision"); // never below f32 here
  Type element = n.element(q);
  bool isPlain = !n.attrs.has("score_mod") && !n.attrs.has("prob_mod");
  if (isPlain && !element.isF64()) {
    n.set(0, n.build<amp::AttentionOp>(q, k, v, Value(), llvm::APFloat(scale),
                                       /*causal=*/false,
                                       /*causal_align_end=*/false,
                                       llvm::APFloat(0.0)));
    return success();
  }
  Type wide = element.isF64() ? element : Type(n.b.getF32Type());
  int64_t repeats = qs[1] / ks[1];
  Value scores = n.cast(n.build<amp::MatmulOp>(q, repeatHeads(n, k, repeats),
                                               Value(), false, true),
                        wide);
  scores = n.build<amp::MulOp>(scores, n.scalar(wide, scale));
  Value weights =
      n.unary<amp::SoftmaxOp>(applySubgraph(n, "score_mod", scores), 3);
  weights = applySubgraph(n, "prob_mod", weights);
  Value y =
      n.build<amp::MatmulOp>(n.cast(weights, element),
                             repeatHeads(n, v, repeats), Value(), false, false);
  n.set(0, y);
  return success();
}

void addFlexAttentionOps(OpTable &table) {
  table.add({{"ai.onnx.preview.FlexAttention", convertFlexAttention,
              OpClass::of<amp::AttentionOp>(), 3, 3}});
}

} // namespace ampc::importer
