//===- Shape.cpp - Gradients of views, concatenation and padding ----------===//
#include "dialects/Amp/Gradient/Models.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

namespace {
void differentiateReshape(ReshapeOp op, Calculus &c) {
  c.give(op.getInput(),
         c.reshape(c.stored(op.getResult()), c.shapeOf(op.getInput())));
}

void differentiateTranspose(TransposeOp op, Calculus &c) {
  c.give(op.getInput(),
         c.transpose(c.stored(op.getResult()), invert(op.getPermutation())));
}

void differentiateBroadcast(BroadcastOp op, Calculus &c) {
  c.give(op.getInput(), c.of(op.getResult()));
}

/// `value` with `stride - 1` zeros after each element along `axis`.
Value dilate(Calculus &c, Value value, int64_t axis, int64_t stride) {
  if (stride == 1) {
    return value;
  }
  SmallVector<int64_t> shape(c.shapeOf(value)), split(shape);
  split.insert(split.begin() + axis + 1, 1);
  SmallVector<int64_t> low(split.size(), 0), high(split.size(), 0);
  high[axis + 1] = stride - 1;
  shape[axis] *= stride;
  return c.reshape(c.pad(c.reshape(value, split), low, high), shape);
}

/// Each element back to where it was, zeros elsewhere.
void differentiateSlice(SliceOp op, Calculus &c) {
  Value g = c.stored(op.getResult());
  int64_t rank = c.typeOf(g).getRank();
  if (c.typeOf(g).getNumElements() == 0) {
    c.give(op.getInput(), c.full(op.getInput(), 0));
    return;
  }
  SmallVector<int64_t> starts(rank, 0), low(rank), high(rank);
  SmallVector<int64_t> forward(rank, 1);
  SmallVector<int64_t> sizes(op.getSizes());
  for (int64_t i = 0; i < rank; ++i) {
    int64_t stride = op.getStrides()[i], last = (sizes[i] - 1) * stride;
    // Reversed, a negative stride is a positive one.
    bool reversed = stride < 0;
    starts[i] = reversed ? sizes[i] - 1 : 0;
    forward[i] = reversed ? -1 : 1;
    low[i] = op.getStarts()[i] + (reversed ? last : 0);
    int64_t span = sizes[i] * std::abs(stride);
    high[i] = c.shapeOf(op.getInput())[i] - low[i] - span;
  }
  if (llvm::is_contained(forward, -1)) {
    g = c.slice(g, starts, sizes, forward);
  }
  for (int64_t i = 0; i < rank; ++i) {
    g = dilate(c, g, i, std::abs(op.getStrides()[i]));
  }
  c.give(op.getInput(), c.pad(g, low, high));
}

void differentiateConcat(ConcatOp op, Calculus &c) {
  Value g = c.stored(op.getResult());
  SmallVector<int64_t> starts(c.typeOf(g).getRank(), 0);
  for (Value input : op.getInputs()) {
    if (c.wants(input)) {
      c.give(input, c.slice(g, starts, c.shapeOf(input)));
    }
    starts[op.getAxis()] += c.shapeOf(input)[op.getAxis()];
  }
}

/// Which element of `size` the modes that repeat elements put at `index`.
int64_t getSource(int64_t index, int64_t size, PadMode mode) {
  switch (mode) {
  case PadMode::Edge:
    return std::clamp<int64_t>(index, 0, size - 1);
  case PadMode::Wrap:
    return ((index % size) + size) % size;
  case PadMode::Reflect: {
    int64_t period = std::max<int64_t>(1, 2 * (size - 1));
    int64_t at = ((index % period) + period) % period;
    return at < size ? at : period - at;
  }
  case PadMode::Constant:
    break;
  }
  return -1;
}

void differentiatePad(PadOp op, Calculus &c) {
  Value g = c.of(op.getResult());
  if (op.getMode() == PadMode::Constant) {
    SmallVector<int64_t> low, high;
    for (auto [before, after] : llvm::zip_equal(op.getLow(), op.getHigh())) {
      low.push_back(-before);
      high.push_back(-after);
    }
    Value inner = c.pad(g, low, high);
    if (c.wants(op.getInput())) {
      c.give(op.getInput(), inner);
    }
    if (op.getValue() && c.wants(op.getValue())) {
      // What the border holds, summed by itself: a difference of two sums
      // would cancel.
      Value ones = c.full(inner, 1);
      SmallVector<int64_t> back, front;
      llvm::append_range(back, op.getLow());
      llvm::append_range(front, op.getHigh());
      Value border = c.plus(c.neg(c.pad(ones, back, front)), 1);
      c.give(op.getValue(), c.mul(g, border));
    }
    return;
  }
  if (!c.wants(op.getInput())) {
    return;
  }
  for (int64_t axis = 0; axis < c.typeOf(g).getRank(); ++axis) {
    int64_t before = op.getLow()[axis], to = c.shapeOf(op.getResult())[axis];
    int64_t size = c.shapeOf(op.getInput())[axis];
    if (before == 0 && op.getHigh()[axis] == 0) {
      continue;
    }
    SmallVector<double> matrix(to * size, 0);
    for (int64_t i = 0; i < to && size > 0; ++i) {
      matrix[i * size + getSource(i - before, size, op.getMode())] = 1;
    }
    auto type = RankedTensorType::get({to, size}, c.b.getF64Type());
    Value weights = ConstantOp::create(
        c.b, c.loc, DenseElementsAttr::get(type, ArrayRef<double>(matrix)));
    g = c.applyAlong(g, axis, c.cast(weights, c.elementOf(g)), false);
  }
  c.give(op.getInput(), g);
}
} // namespace

void grad::attachShape(MLIRContext *context) {
  attach<differentiateReshape, differentiateTranspose, differentiateBroadcast,
         differentiateSlice, differentiateConcat, differentiatePad>(context);
}
