//===- Calculus.cpp - Writes gradients as formulas ------------------------===//
#include "dialects/Amp/Gradient/Calculus.h"

#include "dialects/Interfaces/KernelInterfaces.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

SmallVector<int64_t> grad::axesFrom(Value value, int64_t from) {
  SmallVector<int64_t> axes;
  for (int64_t i = from; i < Calculus::typeOf(value).getRank(); ++i) {
    axes.push_back(i);
  }
  return axes;
}

SmallVector<int64_t> grad::invert(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [i, from] : llvm::enumerate(permutation)) {
    result[from] = static_cast<int64_t>(i);
  }
  return result;
}

static DenseElementsAttr splat(RankedTensorType type, double value) {
  auto element = cast<FloatType>(type.getElementType());
  APFloat number(value);
  bool loses;
  number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &loses);
  return DenseElementsAttr::get(type, number);
}

Value Calculus::cast(Value value, Type element) {
  if (elementOf(value) == element) {
    return value;
  }
  return CastOp::create(b, loc, typeOf(value).clone(element), value);
}

Value Calculus::wide(Value value) {
  return cast(value, getComputeType(elementOf(value)));
}

void Calculus::give(Value operand, Value value) {
  value = sumTo(value, shapeOf(operand));
  if (shapeOf(value) != shapeOf(operand)) {
    value = broadcast(value, shapeOf(operand));
  }
  gradients.contribute(operand, cast(value, gradients.getElementType(operand)));
}

Value Calculus::constant(Value like, double value) {
  return ConstantOp::create(
      b, loc, splat(RankedTensorType::get({}, elementOf(like)), value));
}

Value Calculus::full(Value like, double value) {
  return ConstantOp::create(b, loc, splat(typeOf(like), value));
}

Value Calculus::add(Value lhs, Value rhs) {
  return AddOp::create(b, loc, lhs, rhs);
}
Value Calculus::sub(Value lhs, Value rhs) {
  return SubOp::create(b, loc, lhs, rhs);
}
Value Calculus::mul(Value lhs, Value rhs) {
  return MulOp::create(b, loc, lhs, rhs);
}
Value Calculus::div(Value lhs, Value rhs) {
  return DivOp::create(b, loc, lhs, rhs);
}
Value Calculus::scale(Value value, double factor) {
  return mul(value, constant(value, factor));
}
Value Calculus::plus(Value value, double addend) {
  return add(value, constant(value, addend));
}
Value Calculus::neg(Value value) { return NegOp::create(b, loc, value); }

Value Calculus::compare(Value lhs, ComparePredicate predicate, Value rhs) {
  return CompareOp::create(b, loc, lhs, rhs, predicate);
}
Value Calculus::select(Value condition, Value onTrue, Value onFalse) {
  return SelectOp::create(b, loc, condition, onTrue, onFalse);
}
Value Calculus::both(Value lhs, Value rhs) {
  return AndOp::create(b, loc, lhs, rhs);
}

Value Calculus::sum(Value value, ArrayRef<int64_t> axes) {
  if (axes.empty()) {
    return value;
  }
  return ReduceSumOp::create(b, loc, value, axes, /*keepdims=*/true);
}
Value Calculus::mean(Value value, ArrayRef<int64_t> axes) {
  if (axes.empty()) {
    return value;
  }
  return ReduceMeanOp::create(b, loc, value, axes, /*keepdims=*/true);
}

Value Calculus::sumTo(Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(value);
  if (from.size() < shape.size()) {
    return value;
  }
  size_t extra = from.size() - shape.size();
  SmallVector<int64_t> axes;
  for (size_t i = 0; i < from.size(); ++i) {
    if (i < extra || (shape[i - extra] == 1 && from[i] != 1)) {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  value = sum(value, axes);
  // Sizes that are still narrower than the operand's are broadcast later.
  SmallVector<int64_t> kept(shapeOf(value).drop_front(extra));
  return reshape(value, kept);
}

Value Calculus::reshape(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape) {
    return value;
  }
  return ReshapeOp::create(b, loc, typeOf(value).clone(shape), value);
}
Value Calculus::broadcast(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape) {
    return value;
  }
  return BroadcastOp::create(b, loc, typeOf(value).clone(shape), value);
}
Value Calculus::transpose(Value value, ArrayRef<int64_t> permutation) {
  return TransposeOp::create(b, loc, value, permutation);
}
Value Calculus::slice(Value value, ArrayRef<int64_t> starts,
                      ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> ones(starts.size(), 1);
  return SliceOp::create(b, loc, value, starts, sizes,
                         strides.empty() ? ArrayRef<int64_t>(ones) : strides);
}

Value Calculus::pad(Value value, ArrayRef<int64_t> low,
                    ArrayRef<int64_t> high) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero)) {
    return value;
  }
  return PadOp::create(b, loc, value, /*value=*/Value(), low, high,
                       PadMode::Constant);
}

Value Calculus::applyAlong(Value value, int64_t axis, Value matrix,
                           bool transposed) {
  int64_t from = shapeOf(value)[axis], rank = typeOf(value).getRank();
  SmallVector<int64_t> permutation = axesFrom(value, 0);
  std::swap(permutation[axis], permutation[rank - 1]);
  value = transpose(value, permutation);
  SmallVector<int64_t> shape(shapeOf(value));
  int64_t rows = from == 0 ? 0 : typeOf(value).getNumElements() / from;
  value = matmul(reshape(value, {rows, from}), false, matrix, transposed,
                 elementOf(value));
  shape.back() = shapeOf(value).back();
  return transpose(reshape(value, shape), permutation);
}

Value Calculus::matmul(Value lhs, bool transposeLhs, Value rhs,
                       bool transposeRhs, Type element) {
  auto dims = [](Value value, bool transposed) {
    auto last = shapeOf(value).take_back(2);
    return transposed ? std::pair(last[1], last[0])
                      : std::pair(last[0], last[1]);
  };
  auto shape =
      *broadcastShapes(shapeOf(lhs).drop_back(2), shapeOf(rhs).drop_back(2));
  shape.push_back(dims(lhs, transposeLhs).first);
  shape.push_back(dims(rhs, transposeRhs).second);
  // A contraction rounds to its operands' type or hands on its accumulators.
  Type own = elementOf(lhs);
  Type result = element == own ? own : getAccumulatorType(own);
  return cast(MatmulOp::create(b, loc, RankedTensorType::get(shape, result),
                               lhs, rhs, /*bias=*/Value(), transposeLhs,
                               transposeRhs),
              element);
}
