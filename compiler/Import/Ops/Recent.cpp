//===- Recent.cpp - Operators that came after opset 23 --------------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ampc::importer {

static LogicalResult convertSwiGlu(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 1);
  if (n.shape(n.in(0)) != n.shape(n.in(1))) {
    return n.invalid("expected operands of one shape");
  }
  n.set(0, n.composite1({n.in(0), n.in(1)}, [&](ArrayRef<Value> in) {
    Value scaled =
        alpha == 1
            ? in[0]
            : n.build<amp::MulOp>(n.scalar(n.element(in[0]), alpha), in[0]);
    Value gate = n.build<amp::MulOp>(in[0], n.unary<amp::SigmoidOp>(scaled));
    return n.build<amp::MulOp>(gate, in[1]);
  }));
  return success();
}

/// Products of prefixes by doubling: after step k each element holds the
/// product of the last 2^k elements up to it.
static LogicalResult convertCumProd(Node &n) {
  Value x = n.in(0);
  bool exclusive = n.attrs.getFlag("exclusive");
  bool reverse = n.attrs.getFlag("reverse");
  auto given = n.constantInt(1, "axis");
  auto axis = given ? n.axis(*given, n.rank(x)) : std::nullopt;
  if (!axis) {
    return failure();
  }
  int64_t size = n.shape(x)[*axis];
  n.set(0, n.composite1({x}, [&](ArrayRef<Value> in) {
    SmallVector<int64_t> shape(n.shape(in[0]));
    // The elements `distance` places behind, ones where there are none.
    auto shift = [&](Value value, int64_t distance) {
      shape[*axis] = distance;
      Value ones = n.splat(RankedTensorType::get(shape, n.element(value)), 1);
      Value rest =
          n.sliceDim(value, *axis, reverse ? distance : 0, size - distance);
      return reverse ? n.concat({rest, ones}, *axis)
                     : n.concat({ones, rest}, *axis);
    };
    Value result = in[0];
    if (exclusive && size > 0) {
      result = shift(result, 1);
    }
    for (int64_t distance = 1; distance < size; distance *= 2) {
      result = n.build<amp::MulOp>(result, shift(result, distance));
    }
    return result;
  }));
  return success();
}

/// Writes `update` into a cache along `axis`, from a position given per batch
/// entry; circular caches wrap around.
static LogicalResult convertTensorScatter(Node &n) {
  Value cache = n.in(0), update = n.in(1);
  std::string mode = n.attrs.getString("mode", "linear");
  auto axis = n.axis(n.attrs.getInt("axis", -2), n.rank(cache));
  if (!axis) {
    return failure();
  }
  SmallVector<int64_t> shape(n.shape(update));
  if (n.rank(update) != n.rank(cache) || *axis == 0 ||
      (mode != "linear" && mode != "circular")) {
    return n.invalid("its update, axis or mode does not fit");
  }
  Type index = n.b.getI64Type();
  SmallVector<int64_t> row(shape.size(), 1), column(shape.size(), 1);
  row[*axis] = shape[*axis];
  column[0] = shape[0];
  Value position = n.iota(index, row, *axis);
  if (n.has(2)) {
    position = n.build<amp::AddOp>(position,
                                   n.reshape(n.cast(n.in(2), index), column));
  }
  if (mode == "circular") {
    position = n.build<amp::ModOp>(
        position, n.scalar(index, n.shape(cache)[*axis]), /*fmod=*/false);
  }
  n.set(0, n.build<amp::ScatterElementsOp>(cache, n.broadcast(position, shape),
                                           update, *axis,
                                           amp::ScatterReduction::None));
  return success();
}

//===----------------------------------------------------------------------===//
// State-space operators
//===----------------------------------------------------------------------===//

/// A depthwise causal convolution over [batch, channels, length] that carries
/// its last inputs along as state.
static LogicalResult convertCausalConv(Node &n) {
  Value x = n.in(0), weight = n.in(1);
  std::string activation = n.attrs.getString("activation", "none");
  if (n.rank(x) != 3 || n.rank(weight) != 3 || n.shape(weight)[1] != 1 ||
      n.shape(weight)[0] != n.shape(x)[1] || n.shape(weight)[2] < 1) {
    return n.invalid("its weight does not fit its input");
  }
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return n.unsupported("activation '" + printableName(activation) + "'");
  }
  int64_t channels = n.shape(x)[1], length = n.shape(x)[2];
  int64_t state = n.shape(weight)[2] - 1;
  SmallVector<int64_t> stateShape{n.shape(x)[0], channels, state};
  Value past =
      n.has(3) ? n.in(3)
               : n.splat(RankedTensorType::get(stateShape, n.element(x)), 0);
  if (n.shape(past) != ArrayRef<int64_t>(stateShape)) {
    return n.invalid("its past state does not fit its weight");
  }
  Value all = n.concat({past, x}, 2);
  Value y = n.build<amp::ConvOp>(all, weight, n.has(2) ? n.in(2) : Value(),
                                 ArrayRef<int64_t>{1}, ArrayRef<int64_t>{0, 0},
                                 ArrayRef<int64_t>{1}, channels,
                                 amp::Layout::ChannelsFirst);
  n.set(0, activation == "none" ? y : n.unary<amp::SiluOp>(y));
  n.set(1, n.sliceDim(all, 2, length, state));
  return success();
}

void addRecentOps(OpTable &table) {
  table.add({
      {"CausalConvWithState", convertCausalConv, OpClass::of<amp::ConvOp>(), 2,
       4, 2, 27},
      {"CumProd", convertCumProd, AutocastClass::Fp32, 2, 2, 1, 26},
      {"SwiGLU", convertSwiGlu, AutocastClass::Promote, 2, 2, 1, 28},
      {"TensorScatter", convertTensorScatter,
       OpClass::of<amp::ScatterElementsOp>(), 2, 3, 1, 24},
  });
}

} // namespace ampc::importer
