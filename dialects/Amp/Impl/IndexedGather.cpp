//===- IndexedGather.cpp - Elements of joins, padding and gathers ---------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Impl/BodyBuilder.h"
#include "dialects/Amp/Impl/Conversion.h"
#include "dialects/Amp/Impl/LaneIndices.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

using Int = BodyBuilder::Int;

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// Concat
//===----------------------------------------------------------------------===//

namespace {
/// Picks the operand of a concat by bisection over where they begin.
struct ConcatElement {
  ConcatOp op;
  ElementBuilder &eb;
  ArrayRef<LaneIndex> index;
  SmallVector<unsigned> operands; ///< those that are not empty
  SmallVector<int64_t> begins;    ///< of each in the result

  FailureOr<Value> build(size_t first, size_t last) {
    const LaneIndex &along = index[op.getAxis()];
    if (last - first == 1) {
      SmallVector<LaneIndex> inner(index);
      inner[op.getAxis()].base = eb.add(along.base, -begins[first]);
      return eb.getOperand(op->getOpOperand(operands[first]), inner);
    }
    size_t middle = first + (last - first) / 2;
    if (!staysWithin(eb, along, begins[middle])) {
      return failure();
    }
    Value before = arith::CmpIOp::create(eb.b, eb.loc, Int::ult, along.base,
                                         eb.index(begins[middle]));
    return buildIf(
        eb, before, elementOf(op.getResult()),
        [&] { return build(first, middle); },
        [&] { return build(middle, last); });
  }
};
} // namespace

FailureOr<Value> ConcatOp::buildElement(ElementBuilder &eb,
                                        ArrayRef<LaneIndex> index, unsigned) {
  ConcatElement element{*this, eb, index, {}, {}};
  int64_t begin = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    int64_t size =
        cast<RankedTensorType>(input.getType()).getDimSize(getAxis());
    if (size > 0) {
      element.operands.push_back(i);
      element.begins.push_back(begin);
    }
    begin += size;
  }
  return element.build(0, element.operands.size());
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// Where padding repeats an element, the place of it: `i` is an input index
/// beyond [0, size) by the padding.
static Value repeatedIndex(ElementBuilder &eb, Value i, int64_t size,
                           int64_t low, PadMode mode) {
  if (mode == PadMode::Edge) {
    return clampIndex(eb, i, size);
  }
  if (mode == PadMode::Wrap) {
    int64_t turns = low > 0 ? int64_t(llvm::divideCeil(low, size)) : 0;
    return arith::RemUIOp::create(eb.b, eb.loc, eb.add(i, turns * size),
                                  eb.index(size));
  }
  // Reflected at both ends, once: padding is smaller than the dimension.
  Value zero = eb.index(0), last = eb.index(size - 1);
  Value negated = arith::SubIOp::create(eb.b, eb.loc, zero, i);
  Value above = arith::MaxSIOp::create(eb.b, eb.loc, i, negated);
  Value mirrored =
      arith::SubIOp::create(eb.b, eb.loc, eb.index(2 * (size - 1)), above);
  Value beyond = arith::CmpIOp::create(eb.b, eb.loc, Int::sgt, above, last);
  return arith::SelectOp::create(eb.b, eb.loc, beyond, mirrored, above);
}

FailureOr<Value> PadOp::buildElement(ElementBuilder &eb,
                                     ArrayRef<LaneIndex> index, unsigned) {
  ArrayRef<int64_t> shape = getInput().getType().getShape();
  SmallVector<LaneIndex> inner(index);
  Value inside;
  for (size_t dim = 0; dim < inner.size(); ++dim) {
    int64_t low = getLow()[dim], high = getHigh()[dim];
    LaneIndex &i = inner[dim];
    i.base = eb.add(i.base, -low);
    if (low <= 0 && high <= 0) {
      continue;
    }
    if (getMode() != PadMode::Constant) {
      if (i.step != 0) {
        return failure();
      }
      i.base = repeatedIndex(eb, i.base, shape[dim], low, getMode());
      continue;
    }
    // One test serves all lanes where they lie on one side of either border.
    if (!staysWithin(eb, i, shape[dim])) {
      return failure();
    }
    Value within = isWithin(eb, i.base, shape[dim]);
    inside =
        inside ? arith::AndIOp::create(eb.b, eb.loc, inside, within) : within;
  }
  auto load = [&] { return eb.getOperand(getInputMutable(), inner); };
  if (!inside) {
    return load();
  }
  Type element = elementOf(getInput());
  return buildIf(eb, inside, element, load, [&]() -> FailureOr<Value> {
    if (!getValue()) {
      return eb.constant(getComputeType(element), 0);
    }
    return eb.getScalarOperand(getValueMutable()[0], {});
  });
}

//===----------------------------------------------------------------------===//
// Iota
//===----------------------------------------------------------------------===//

FailureOr<Value> IotaOp::buildElement(ElementBuilder &eb,
                                      ArrayRef<LaneIndex> index, unsigned) {
  const LaneIndex &along = index[getDimension()];
  Type i64 = eb.b.getI64Type();
  Value value = eb.splat(
      arith::IndexCastOp::create(eb.b, eb.loc, i64, along.base).getResult());
  if (eb.lanes > 1 && along.step != 0) {
    SmallVector<int64_t> offsets;
    for (int64_t lane = 0; lane < eb.lanes; ++lane) {
      offsets.push_back(lane * along.step);
    }
    auto type = cast<VectorType>(value.getType());
    Value constant = arith::ConstantOp::create(
        eb.b, eb.loc, DenseElementsAttr::get(type, ArrayRef(offsets)));
    value = arith::AddIOp::create(eb.b, eb.loc, value, constant);
  }
  return buildConversion(eb.b, eb.loc, value, i64, elementOf(getResult()));
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// The element of an index tensor as a place in a dimension of `size`: from the
/// end when negative, then bounded, so that it always lies inside.
static FailureOr<Value> loadIndex(ElementBuilder &eb, OpOperand &indices,
                                  ArrayRef<Value> at, int64_t size) {
  FailureOr<Value> loaded = eb.getScalarOperand(indices, at);
  if (failed(loaded)) {
    return failure();
  }
  Value value =
      arith::IndexCastOp::create(eb.b, eb.loc, eb.b.getIndexType(), *loaded);
  Value negative =
      arith::CmpIOp::create(eb.b, eb.loc, Int::slt, value, eb.index(0));
  Value wrapped = arith::SelectOp::create(eb.b, eb.loc, negative,
                                          eb.add(value, size), value);
  return clampIndex(eb, wrapped, size);
}

FailureOr<Value> GatherOp::buildElement(ElementBuilder &eb,
                                        ArrayRef<LaneIndex> index, unsigned) {
  size_t axis = getAxis(), rank = getIndices().getType().getRank();
  ArrayRef<LaneIndex> at = index.slice(axis, rank);
  if (!isUniform(at)) {
    return failure();
  }
  FailureOr<Value> place = loadIndex(eb, getIndicesMutable(), basesOf(at),
                                     getInput().getType().getDimSize(axis));
  if (failed(place)) {
    return failure();
  }
  SmallVector<LaneIndex> inner(index.take_front(axis));
  inner.push_back({*place, 0});
  llvm::append_range(inner, index.drop_front(axis + rank));
  return eb.getOperand(getInputMutable(), inner);
}

FailureOr<Value> GatherElementsOp::buildElement(ElementBuilder &eb,
                                                ArrayRef<LaneIndex> index,
                                                unsigned) {
  if (!isUniform(index)) {
    return failure();
  }
  FailureOr<Value> place =
      loadIndex(eb, getIndicesMutable(), basesOf(index),
                getInput().getType().getDimSize(getAxis()));
  if (failed(place)) {
    return failure();
  }
  SmallVector<LaneIndex> inner(index);
  inner[getAxis()].base = *place;
  return eb.getOperand(getInputMutable(), inner);
}

FailureOr<Value> GatherNdOp::buildElement(ElementBuilder &eb,
                                          ArrayRef<LaneIndex> index, unsigned) {
  ArrayRef<int64_t> tuples = getIndices().getType().getShape();
  size_t batch = getBatchDims(), outer = tuples.size() - 1;
  if (!isUniform(index.take_front(outer))) {
    return failure();
  }
  SmallVector<Value> at = basesOf(index.take_front(outer));
  at.push_back({});
  SmallVector<LaneIndex> inner(index.take_front(batch));
  for (int64_t i = 0; i < tuples.back(); ++i) {
    at.back() = eb.index(i);
    FailureOr<Value> place =
        loadIndex(eb, getIndicesMutable(), at,
                  getInput().getType().getDimSize(batch + i));
    if (failed(place)) {
      return failure();
    }
    inner.push_back({*place, 0});
  }
  llvm::append_range(inner, index.drop_front(outer));
  return eb.getOperand(getInputMutable(), inner);
}
