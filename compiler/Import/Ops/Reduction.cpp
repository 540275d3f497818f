//===- Reduction.cpp - Reductions over axes -------------------------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ampc::importer {
namespace {
struct Reduced {
  SmallVector<int64_t> axes;
  bool keepdims = true;
};
} // namespace

/// Axes are an attribute before opset `inputSince`, then an input.
static std::optional<Reduced> readAxes(Node &n, int64_t inputSince) {
  Reduced reduced;
  reduced.keepdims = n.attrs.getFlag("keepdims", true);
  bool keepsAll = n.attrs.getFlag("noop_with_empty_axes");
  std::optional<SmallVector<int64_t>> list;
  if (n.opset < inputSince) {
    list = n.attrs.findInts("axes");
  } else if (n.has(1)) {
    list = n.constantInts(1, "axes");
    if (!list) {
      return std::nullopt;
    }
  }
  int64_t rank = n.rank(n.in(0));
  if (!list || list->empty()) {
    if (!keepsAll) {
      reduced.axes = countUp(0, rank);
    }
    return reduced;
  }
  auto axes = n.axes(*list, rank);
  if (!axes) {
    return std::nullopt;
  }
  reduced.axes = *axes;
  return reduced;
}

template <typename OpTy, int64_t inputSince>
static LogicalResult convertReduce(Node &n) {
  auto reduced = readAxes(n, inputSince);
  if (!reduced) {
    return failure();
  }
  n.set(0, n.build<OpTy>(n.in(0), reduced->axes, reduced->keepdims));
  return success();
}

using BodyFn = Value (*)(Node &n, Value x, const Reduced &reduced);

/// A reduction made of several ops that must stay in f32 together. Integers are
/// computed in f64, which holds what their float formula asks for.
template <BodyFn body>
static LogicalResult convertComposite(Node &n) {
  auto reduced = readAxes(n, 18);
  if (!reduced) {
    return failure();
  }
  Type element = n.element(n.in(0));
  n.set(0, n.composite1({n.in(0)}, [&](ArrayRef<Value> in) {
    if (n.isFloat(in[0])) {
      return body(n, in[0], *reduced);
    }
    Value wide = n.cast(in[0], n.b.getF64Type());
    return n.cast(body(n, wide, *reduced), element);
  }));
  return success();
}

static Value buildL1(Node &n, Value x, const Reduced &r) {
  return n.reduceSum(n.unary<amp::AbsOp>(x), r.axes, r.keepdims);
}

static Value buildSumSquare(Node &n, Value x, const Reduced &r) {
  return n.reduceSum(n.build<amp::MulOp>(x, x), r.axes, r.keepdims);
}

static Value buildL2(Node &n, Value x, const Reduced &r) {
  return n.unary<amp::SqrtOp>(buildSumSquare(n, x, r));
}

static Value buildLogSum(Node &n, Value x, const Reduced &r) {
  return n.unary<amp::LogOp>(n.reduceSum(x, r.axes, r.keepdims));
}

/// max + log(sum(exp(x - max))), with a maximum of -inf or inf left out so that
/// it gives itself instead of NaN.
static Value buildLogSumExp(Node &n, Value x, const Reduced &r) {
  Value max = n.build<amp::ReduceMaxOp>(x, r.axes, /*keepdims=*/true);
  if (!max) {
    return {};
  }
  Value isInfinite =
      n.build<amp::IsInfOp>(max, /*positive=*/true, /*negative=*/true);
  Value shift =
      n.build<amp::SelectOp>(isInfinite, n.scalar(n.element(x), 0), max);
  Value sum = n.reduceSum(n.unary<amp::ExpOp>(n.build<amp::SubOp>(x, shift)),
                          r.axes, /*keepdims=*/true);
  Value result = n.build<amp::AddOp>(n.unary<amp::LogOp>(sum), shift);
  if (r.keepdims) {
    return result;
  }
  SmallVector<int64_t> kept;
  for (auto [i, dim] : llvm::enumerate(n.shape(x))) {
    if (!llvm::is_contained(r.axes, static_cast<int64_t>(i))) {
      kept.push_back(dim);
    }
  }
  return n.reshape(result, kept);
}

void addReductionOps(OpTable &table) {
  table.add({
      {"ReduceL1", convertComposite<buildL1>, AutocastClass::Fp32, 1, 2},
      {"ReduceL2", convertComposite<buildL2>, AutocastClass::Fp32, 1, 2},
      {"ReduceLogSum", convertComposite<buildLogSum>, AutocastClass::Fp32, 1,
       2},
      {"ReduceLogSumExp", convertComposite<buildLogSumExp>, AutocastClass::Fp32,
       1, 2},
      {"ReduceMax", convertReduce<amp::ReduceMaxOp, 18>,
       OpClass::of<amp::ReduceMaxOp>(), 1, 2},
      {"ReduceMean", convertReduce<amp::ReduceMeanOp, 18>,
       OpClass::of<amp::ReduceMeanOp>(), 1, 2},
      {"ReduceMin", convertReduce<amp::ReduceMinOp, 18>,
       OpClass::of<amp::ReduceMinOp>(), 1, 2},
      {"ReduceProd", convertReduce<amp::ReduceProdOp, 18>,
       OpClass::of<amp::ReduceProdOp>(), 1, 2},
      {"ReduceSum", convertReduce<amp::ReduceSumOp, 13>,
       OpClass::of<amp::ReduceSumOp>(), 1, 2},
      {"ReduceSumSquare", convertComposite<buildSumSquare>, AutocastClass::Fp32,
       1, 2},
  });
}

} // namespace ampc::importer
