//===- IndexedView.cpp - Elements behind views ----------------------------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Impl/LaneIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

FailureOr<Value> TransposeOp::buildElement(ElementBuilder &eb,
                                           ArrayRef<LaneIndex> index,
                                           unsigned) {
  SmallVector<LaneIndex> inner(index.size());
  for (auto [i, dim] : llvm::zip_equal(index, getPermutation())) {
    inner[dim] = i;
  }
  return eb.getOperand(getInputMutable(), inner);
}

FailureOr<Value> SliceOp::buildElement(ElementBuilder &eb,
                                       ArrayRef<LaneIndex> index, unsigned) {
  SmallVector<LaneIndex> inner;
  for (auto [i, start, stride] :
       llvm::zip_equal(index, getStarts(), getStrides())) {
    inner.push_back({eb.add(eb.mul(i.base, stride), start), i.step * stride});
  }
  return eb.getOperand(getInputMutable(), inner);
}

FailureOr<Value> BroadcastOp::buildElement(ElementBuilder &eb,
                                           ArrayRef<LaneIndex> index,
                                           unsigned) {
  ArrayRef<int64_t> shape = getInput().getType().getShape();
  SmallVector<LaneIndex> inner;
  for (auto [i, size] : llvm::zip_equal(index.take_back(shape.size()), shape)) {
    inner.push_back(size == 1 ? LaneIndex{eb.index(0), 0} : i);
  }
  return eb.getOperand(getInputMutable(), inner);
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// The index into `to` of the element at `index` of `from`: two shapes with as
/// many elements, neither of which has a prefix with as many as one of the
/// other. Null when the lanes would be no arithmetic sequence.
static std::optional<SmallVector<LaneIndex>> regroup(ElementBuilder &eb,
                                                     ArrayRef<LaneIndex> index,
                                                     ArrayRef<int64_t> from,
                                                     ArrayRef<int64_t> to) {
  int64_t step = 0, stride = 1;
  for (size_t i = from.size(); i-- > 0;) {
    step += index[i].step * stride;
    stride *= from[i];
  }
  Value linear = linearize(eb, basesOf(index), from);
  if (to.size() > 1 && !staysWithin(eb, {linear, step}, to.back())) {
    return std::nullopt;
  }
  SmallVector<LaneIndex> result;
  for (Value base : delinearize(eb, linear, to)) {
    result.push_back({base, 0});
  }
  result.back().step = step;
  return result;
}

FailureOr<Value> ReshapeOp::buildElement(ElementBuilder &eb,
                                         ArrayRef<LaneIndex> index, unsigned) {
  ArrayRef<int64_t> from = getResult().getType().getShape();
  ArrayRef<int64_t> to = getInput().getType().getShape();
  SmallVector<LaneIndex> inner;
  if (getInput().getType().getNumElements() == 0) {
    inner.assign(to.size(), {eb.index(0), 0});
    return eb.getOperand(getInputMutable(), inner);
  }
  // Dimensions are matched in the smallest groups of equal size, so that those
  // which the reshape leaves alone cost nothing and keep their lanes.
  size_t f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    // Dimensions of one element may stand anywhere.
    if (f < from.size() && from[f] == 1) {
      ++f;
      continue;
    }
    if (t < to.size() && to[t] == 1) {
      inner.push_back({eb.index(0), 0});
      ++t;
      continue;
    }
    size_t fEnd = f + 1, tEnd = t + 1;
    int64_t fSize = from[f], tSize = to[t];
    while (fSize != tSize) {
      if (fSize < tSize) {
        fSize *= from[fEnd++];
      } else {
        tSize *= to[tEnd++];
      }
    }
    if (fEnd == f + 1 && tEnd == t + 1) {
      inner.push_back(index[f]);
    } else {
      auto group = regroup(eb, index.slice(f, fEnd - f),
                           from.slice(f, fEnd - f), to.slice(t, tEnd - t));
      if (!group) {
        return failure();
      }
      llvm::append_range(inner, *group);
    }
    f = fEnd;
    t = tEnd;
  }
  return eb.getOperand(getInputMutable(), inner);
}

//===----------------------------------------------------------------------===//
// Packed weights
//===----------------------------------------------------------------------===//

FailureOr<Value> UnpackOp::buildElement(ElementBuilder &eb,
                                        ArrayRef<LaneIndex> index, unsigned) {
  int64_t panel = getPanel();
  const LaneIndex &column = index[getDimension()];
  if (!staysWithin(eb, column, panel)) {
    return failure();
  }
  Value size = eb.index(panel);
  SmallVector<LaneIndex> inner;
  for (int64_t dim : getOuter()) {
    inner.push_back(index[dim]);
  }
  inner.push_back({arith::DivUIOp::create(eb.b, eb.loc, column.base, size), 0});
  for (int64_t dim : getInner()) {
    inner.push_back(index[dim]);
  }
  inner.push_back(
      {arith::RemUIOp::create(eb.b, eb.loc, column.base, size), column.step});
  return eb.getOperand(getInputMutable(), inner);
}

FailureOr<Value> PackOp::buildElement(ElementBuilder &eb,
                                      ArrayRef<LaneIndex> index, unsigned) {
  ArrayRef<int64_t> shape = getInput().getType().getShape();
  SmallVector<LaneIndex> inner(shape.size());
  size_t next = 0;
  for (int64_t dim : getOuter()) {
    inner[dim] = index[next++];
  }
  LaneIndex number = index[next++];
  for (int64_t dim : getInner()) {
    inner[dim] = index[next++];
  }
  LaneIndex column = index[next];
  int64_t panel = getPanel(), size = shape[getDimension()];
  if (number.step != 0) {
    return failure();
  }
  column.base = eb.add(eb.mul(number.base, panel), column.base);
  inner[getDimension()] = column;
  auto load = [&] { return eb.getOperand(getInputMutable(), inner); };
  if (size % panel == 0) {
    return load();
  }
  // The last panel ends in zeros; lanes must lie on one side of its border.
  if (!staysWithin(eb, column, size)) {
    return failure();
  }
  Type element = getInput().getType().getElementType();
  return buildIf(eb, isWithin(eb, column.base, size), element, load,
                 [&]() -> FailureOr<Value> {
                   return eb.constant(getComputeType(element), 0);
                 });
}
