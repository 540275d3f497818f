//===- Formula.cpp - Writes formulas on tensors as amp ops ----------------===//
#include "dialects/Amp/IR/Formula.h"

#include "dialects/Interfaces/KernelInterfaces.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

SmallVector<int64_t> amp::axesFrom(Value value, int64_t from) {
  SmallVector<int64_t> axes;
  for (int64_t i = from; i < Formula::typeOf(value).getRank(); ++i) {
    axes.push_back(i);
  }
  return axes;
}

SmallVector<int64_t> amp::invert(ArrayRef<int64_t> permutation) {
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

Value Formula::cast(Value value, Type element) {
  if (elementOf(value) == element) {
    return value;
  }
  return CastOp::create(b, loc, typeOf(value).clone(element), value);
}

Value Formula::wide(Value value) {
  return cast(value, getComputeType(elementOf(value)));
}

Value Formula::number(Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  DenseElementsAttr attr =
      isa<FloatType>(element)
          ? splat(type, value)
          : DenseElementsAttr::get(
                type, b.getIntegerAttr(element, static_cast<int64_t>(value)));
  return ConstantOp::create(b, loc, attr);
}

Value Formula::constant(Value like, double value) {
  return number(elementOf(like), value);
}

Value Formula::full(Value like, double value) {
  return ConstantOp::create(b, loc, splat(typeOf(like), value));
}

Value Formula::add(Value lhs, Value rhs) {
  return AddOp::create(b, loc, lhs, rhs);
}
Value Formula::sub(Value lhs, Value rhs) {
  return SubOp::create(b, loc, lhs, rhs);
}
Value Formula::mul(Value lhs, Value rhs) {
  return MulOp::create(b, loc, lhs, rhs);
}
Value Formula::div(Value lhs, Value rhs) {
  return DivOp::create(b, loc, lhs, rhs);
}
Value Formula::scale(Value value, double factor) {
  return mul(value, constant(value, factor));
}
Value Formula::plus(Value value, double addend) {
  return add(value, constant(value, addend));
}
Value Formula::neg(Value value) { return NegOp::create(b, loc, value); }

Value Formula::compare(Value lhs, ComparePredicate predicate, Value rhs) {
  return CompareOp::create(b, loc, lhs, rhs, predicate);
}
Value Formula::select(Value condition, Value onTrue, Value onFalse) {
  return SelectOp::create(b, loc, condition, onTrue, onFalse);
}
Value Formula::both(Value lhs, Value rhs) {
  return AndOp::create(b, loc, lhs, rhs);
}

Value Formula::sum(Value value, ArrayRef<int64_t> axes) {
  if (axes.empty()) {
    return value;
  }
  return ReduceSumOp::create(b, loc, value, axes, /*keepdims=*/true);
}
Value Formula::mean(Value value, ArrayRef<int64_t> axes) {
  if (axes.empty()) {
    return value;
  }
  return ReduceMeanOp::create(b, loc, value, axes, /*keepdims=*/true);
}

Value Formula::sumTo(Value value, ArrayRef<int64_t> shape) {
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

Value Formula::reshape(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape) {
    return value;
  }
  return ReshapeOp::create(b, loc, typeOf(value).clone(shape), value);
}
Value Formula::broadcast(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape) {
    return value;
  }
  return BroadcastOp::create(b, loc, typeOf(value).clone(shape), value);
}
Value Formula::transpose(Value value, ArrayRef<int64_t> permutation) {
  return TransposeOp::create(b, loc, value, permutation);
}
Value Formula::slice(Value value, ArrayRef<int64_t> starts,
                     ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> ones(starts.size(), 1);
  return SliceOp::create(b, loc, value, starts, sizes,
                         strides.empty() ? ArrayRef<int64_t>(ones) : strides);
}

Value Formula::pad(Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero)) {
    return value;
  }
  return PadOp::create(b, loc, value, /*value=*/Value(), low, high,
                       PadMode::Constant);
}

Value Formula::applyAlong(Value value, int64_t axis, Value matrix,
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

Value Formula::matmul(Value lhs, bool transposeLhs, Value rhs,
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
