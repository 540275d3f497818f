//===- Indexing.cpp - Gradients of gathers, scatters and orders -----------===//
#include "dialects/Amp/Gradient/Models.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

namespace {
/// Zeros to which a gradient is scattered.
Value zeros(Calculus &c, Value g, ArrayRef<int64_t> shape) {
  Value zero = c.constant(g, 0);
  auto type = RankedTensorType::get(shape, c.elementOf(g));
  auto dense = cast<ConstantOp>(zero.getDefiningOp());
  auto splat = cast<DenseElementsAttr>(dense.getValue());
  return ConstantOp::create(c.b, c.loc, splat.resizeSplat(type));
}

/// Slices added to the rows they came from: one-hot sums over the indices.
void differentiateGather(GatherOp op, Calculus &c) {
  Value g = c.of(op.getResult());
  ArrayRef<int64_t> input = c.shapeOf(op.getInput());
  int64_t axis = op.getAxis(), picks = c.typeOf(op.getIndices()).getRank();
  // Indices first, then the other dimensions; the gathered axis of the input
  // first too.
  SmallVector<int64_t> order, back{axis};
  for (int64_t i = 0; i < picks; ++i) {
    order.push_back(axis + i);
  }
  SmallVector<int64_t> rows{input[axis]};
  for (int64_t i = 0; i < static_cast<int64_t>(input.size()); ++i) {
    if (i != axis) {
      order.push_back(i < axis ? i : i + picks - 1);
      back.push_back(i);
      rows.push_back(input[i]);
    }
  }
  SmallVector<int64_t> tuple(c.shapeOf(op.getIndices()));
  tuple.push_back(1);
  Value sums = ScatterNdOp::create(
      c.b, c.loc, zeros(c, g, rows), c.reshape(op.getIndices(), tuple),
      c.transpose(g, order), ScatterReduction::Add);
  c.give(op.getInput(), c.transpose(sums, invert(back)));
}

void differentiateGatherElements(GatherElementsOp op, Calculus &c) {
  Value g = c.of(op.getResult());
  c.give(op.getInput(),
         ScatterElementsOp::create(
             c.b, c.loc, zeros(c, g, c.shapeOf(op.getInput())), op.getIndices(),
             g, op.getAxis(), ScatterReduction::Add));
}

/// `indices` preceded by the position in each of `count` leading dimensions,
/// which were implied.
Value spellBatch(Calculus &c, Value indices, int64_t count) {
  if (count == 0) {
    return indices;
  }
  SmallVector<int64_t> shape(c.shapeOf(indices));
  shape.back() = 1;
  SmallVector<Value> parts;
  auto type = RankedTensorType::get(shape, c.elementOf(indices));
  for (int64_t i = 0; i < count; ++i) {
    parts.push_back(IotaOp::create(c.b, c.loc, type, i));
  }
  parts.push_back(indices);
  return ConcatOp::create(c.b, c.loc, parts,
                          static_cast<int64_t>(shape.size()) - 1);
}

void differentiateGatherNd(GatherNdOp op, Calculus &c) {
  Value g = c.of(op.getResult());
  c.give(op.getInput(),
         ScatterNdOp::create(c.b, c.loc, zeros(c, g, c.shapeOf(op.getInput())),
                             spellBatch(c, op.getIndices(), op.getBatchDims()),
                             g, ScatterReduction::Add));
}

/// What was replaced gets nothing, what was added to keeps its gradient. Other
/// reductions have no unique winner to give it to.
LogicalResult checkReduction(Operation *op, ScatterReduction reduction) {
  if (reduction == ScatterReduction::None ||
      reduction == ScatterReduction::Add) {
    return success();
  }
  return op->emitError("no gradient of a scatter with reduction '")
         << stringifyScatterReduction(reduction) << "'";
}

/// `gradient`, as gathered for each update, where the update is still there in
/// the result: of several that replaced one element the last one is. `scatter`
/// and `gather` are the op and its inverse.
Value keepLast(Calculus &c, Value gradient, ArrayRef<int64_t> input,
               function_ref<Value(Value, Value)> scatter,
               function_ref<Value(Value)> gather) {
  auto i64 = c.b.getI64Type();
  int64_t count = c.typeOf(gradient).getNumElements();
  Value number =
      IotaOp::create(c.b, c.loc, RankedTensorType::get({count}, i64), 0);
  number = c.reshape(number, c.shapeOf(gradient));
  auto none =
      DenseElementsAttr::get(RankedTensorType::get(input, i64), int64_t(-1));
  Value last = scatter(ConstantOp::create(c.b, c.loc, none), number);
  Value isLast = c.compare(gather(last), ComparePredicate::EQ, number);
  return c.where(isLast, gradient);
}

/// The gradients of either scatter, given it and the gather at the same places.
template <typename ScatterOp>
LogicalResult differentiateScatter(ScatterOp op, Calculus &c,
                                   function_ref<Value(Value, Value)> scatter,
                                   function_ref<Value(Value)> gather) {
  if (failed(checkReduction(op, op.getReduction()))) {
    return failure();
  }
  Value g = c.of(op.getResult());
  bool isSum = op.getReduction() == ScatterReduction::Add;
  if (c.wants(op.getInput())) {
    c.give(op.getInput(),
           isSum ? g : scatter(g, zeros(c, g, c.shapeOf(op.getUpdates()))));
  }
  if (c.wants(op.getUpdates())) {
    Value given = gather(g);
    c.give(op.getUpdates(),
           isSum ? given : keepLast(c, given, c.shapeOf(g), scatter, gather));
  }
  return success();
}

LogicalResult differentiateScatterElements(ScatterElementsOp op, Calculus &c) {
  return differentiateScatter(
      op, c,
      [&](Value to, Value updates) -> Value {
        return ScatterElementsOp::create(c.b, c.loc, to, op.getIndices(),
                                         updates, op.getAxis(),
                                         ScatterReduction::None);
      },
      [&](Value from) -> Value {
        return GatherElementsOp::create(c.b, c.loc, from, op.getIndices(),
                                        op.getAxis());
      });
}

LogicalResult differentiateScatterNd(ScatterNdOp op, Calculus &c) {
  return differentiateScatter(
      op, c,
      [&](Value to, Value updates) -> Value {
        return ScatterNdOp::create(c.b, c.loc, to, op.getIndices(), updates,
                                   ScatterReduction::None);
      },
      [&](Value from) -> Value {
        return GatherNdOp::create(c.b, c.loc, from, op.getIndices(), 0);
      });
}

/// Sums from the other end.
void differentiateCumSum(CumSumOp op, Calculus &c) {
  c.give(op.getInput(),
         CumSumOp::create(c.b, c.loc, c.of(op.getResult()), op.getAxis(),
                          op.getExclusive(), !op.getReverse()));
}

void differentiateTopK(TopKOp op, Calculus &c) {
  Value g = c.of(op.getValues());
  c.give(op.getInput(),
         ScatterElementsOp::create(
             c.b, c.loc, zeros(c, g, c.shapeOf(op.getInput())), op.getIndices(),
             g, op.getAxis(), ScatterReduction::Add));
}
} // namespace

void grad::attachIndexing(MLIRContext *context) {
  attach<differentiateGather, differentiateGatherElements,
         differentiateGatherNd, differentiateScatterElements,
         differentiateScatterNd, differentiateCumSum, differentiateTopK>(
      context);
}
