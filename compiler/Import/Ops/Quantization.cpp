//===- Quantization.cpp - Linear quantization -----------------------------===//
#include "compiler/Import/ElementTypes.h"
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "compiler/Import/Ops/Windows.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <cmath>

using namespace mlir;

namespace ampc::importer {
namespace {

/// Range of an integer type.
std::pair<double, double> rangeOf(Type element) {
  auto type = cast<IntegerType>(element);
  double span = std::exp2(type.getWidth());
  return type.isUnsigned() ? std::pair(0.0, span - 1)
                           : std::pair(-span / 2, span / 2 - 1);
}

/// Scales and zero points: one number, one per entry of an axis, or one per
/// block of `blockSize` entries of it. Shaped to broadcast against `shape`.
class Granularity {
public:
  Granularity(Node &n, ArrayRef<int64_t> shape) : n(n), shape(shape) {}

  /// Reads the attributes; fails after reporting.
  LogicalResult read() {
    axis = n.attrs.getInt("axis", 1);
    blockSize = n.attrs.getInt("block_size", 0);
    return blockSize < 0 ? n.invalid("its block_size is negative") : success();
  }

  Value spread(Value parameter) {
    if (!parameter) {
      return {};
    }
    int64_t rank = n.rank(parameter);
    if (*countElements(n.shape(parameter)) == 1) {
      return n.reshape(parameter, {});
    }
    auto resolved = n.axis(axis, shape.size());
    if (!resolved) {
      return {};
    }
    if (rank == 1 && blockSize == 0) {
      SmallVector<int64_t> row(shape.size(), 1);
      row[*resolved] = n.shape(parameter)[0];
      return n.reshape(parameter, row);
    }
    if (blockSize == 0 || rank != static_cast<int64_t>(shape.size())) {
      (void)n.invalid("its scale does not fit its input");
      return {};
    }
    SmallVector<int64_t> split(n.shape(parameter));
    split.insert(split.begin() + *resolved + 1, 1);
    SmallVector<int64_t> repeated(split), joined(n.shape(parameter));
    repeated[*resolved + 1] = blockSize;
    auto length = llvm::checkedMul(joined[*resolved], blockSize);
    if (!length || *length < shape[*resolved]) {
      (void)n.invalid("its blocks do not cover the axis");
      return {};
    }
    joined[*resolved] = *length;
    Value all =
        n.reshape(n.broadcast(n.reshape(parameter, split), repeated), joined);
    return n.sliceDim(all, *resolved, 0, shape[*resolved]);
  }

private:
  Node &n;
  SmallVector<int64_t> shape;
  int64_t axis = 1, blockSize = 0;
};

} // namespace

/// Clips to the range of `target` and converts; `x` is integral already.
static Value saturate(Node &n, Value x, Type target) {
  auto [low, high] = rangeOf(target);
  return n.cast(
      n.unary<amp::ClipOp>(x, llvm::APFloat(low), llvm::APFloat(high)), target);
}

/// The type that a QuantizeLinear produces; null after reporting.
static Type readTargetType(Node &n) {
  auto onnxType = static_cast<int32_t>(n.attrs.getInt("output_dtype", 0));
  Type element;
  if (n.has(2)) {
    element = n.element(n.in(2));
  } else if (onnxType == 0) {
    element = n.b.getIntegerType(8, /*isSigned=*/false);
  } else {
    element = getElementType(n.b.getContext(), onnxType);
  }
  auto integer = dyn_cast_or_null<IntegerType>(element);
  if (!integer || integer.getWidth() > 16 || integer.getWidth() == 1) {
    (void)n.unsupported("quantized type " + getElementTypeName(onnxType));
    return {};
  }
  return element;
}

static LogicalResult convertQuantizeLinear(Node &n) {
  Value x = n.in(0);
  Granularity granularity(n, n.shape(x));
  n.attrs.ignore("saturate");  // concerns 8-bit floats only
  n.attrs.ignore("precision"); // never below f32 here
  Type target = readTargetType(n);
  if (!target || failed(granularity.read())) {
    return failure();
  }
  SmallVector<Value> operands{x, n.in(1)};
  if (n.has(2)) {
    operands.push_back(n.in(2));
  }
  n.set(0, n.composite1(operands,
                        [&](ArrayRef<Value> in) {
                          Type wide = n.element(in[1]);
                          Value scaled = n.build<amp::DivOp>(
                              n.cast(in[0], wide), granularity.spread(in[1]));
                          Value rounded = n.unary<amp::RoundOp>(scaled);
                          if (in.size() == 3) {
                            Value zero =
                                granularity.spread(n.cast(in[2], wide));
                            rounded = n.build<amp::AddOp>(rounded, zero);
                          }
                          return saturate(n, rounded, target);
                        },
                        {1}));
  return success();
}

static LogicalResult convertDequantizeLinear(Node &n) {
  Value x = n.in(0);
  Granularity granularity(n, n.shape(x));
  auto onnxType = static_cast<int32_t>(n.attrs.getInt("output_dtype", 0));
  if (failed(granularity.read())) {
    return failure();
  }
  SmallVector<Value> operands{x, n.in(1)};
  if (n.has(2)) {
    operands.push_back(n.in(2));
  }
  Value y = n.composite1(operands, [&](ArrayRef<Value> in) {
    Type wide = n.element(in[1]);
    Value value = n.cast(in[0], wide);
    if (in.size() == 3) {
      value =
          n.build<amp::SubOp>(value, granularity.spread(n.cast(in[2], wide)));
    }
    return n.build<amp::MulOp>(value, granularity.spread(in[1]));
  });
  if (onnxType != 0) {
    Type element = getElementType(n.b.getContext(), onnxType);
    if (!element) {
      return n.unsupported("output_dtype " + getElementTypeName(onnxType));
    }
    y = n.cast(y, element);
  }
  n.set(0, y);
  return success();
}

static LogicalResult convertDynamicQuantizeLinear(Node &n) {
  Value x = n.in(0);
  Type target = n.b.getIntegerType(8, /*isSigned=*/false);
  SmallVector<int64_t> axes = countUp(0, n.rank(x));
  SmallVector<Value> outputs = n.composite({x}, [&](ArrayRef<Value> in) {
    Type element = n.element(in[0]);
    Value zero = n.scalar(element, 0);
    Value high = n.build<amp::MaxOp>(
        n.build<amp::ReduceMaxOp>(in[0], axes, /*keepdims=*/false), zero);
    Value low = n.build<amp::MinOp>(
        n.build<amp::ReduceMinOp>(in[0], axes, /*keepdims=*/false), zero);
    Value span = n.build<amp::SubOp>(high, low);
    Value isFlat =
        n.build<amp::CompareOp>(span, zero, amp::ComparePredicate::EQ);
    span = n.build<amp::SelectOp>(isFlat, n.scalar(element, 1), span);
    Value scale = n.build<amp::DivOp>(span, n.scalar(element, 255));
    Value offset = n.unary<amp::NegOp>(n.build<amp::DivOp>(low, scale));
    Value zeroPoint = n.unary<amp::RoundOp>(
        n.unary<amp::ClipOp>(offset, llvm::APFloat(0.0), llvm::APFloat(255.0)));
    Value rounded = n.unary<amp::RoundOp>(n.build<amp::DivOp>(in[0], scale));
    Value y = saturate(n, n.build<amp::AddOp>(rounded, zeroPoint), target);
    return SmallVector<Value>{y, scale, n.cast(zeroPoint, target)};
  });
  for (auto [i, output] : llvm::enumerate(outputs)) {
    n.set(i, output);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Quantized contractions: exact in i32, scaled once
//===----------------------------------------------------------------------===//

/// A parameter of one operand: a number, or one per row (column) of it.
static Value alongRows(Node &n, Value parameter) {
  bool isVector = n.rank(parameter) == 1 && n.shape(parameter)[0] != 1;
  if (isVector) {
    return n.reshape(parameter, {n.shape(parameter)[0], 1});
  }
  return *countElements(n.shape(parameter)) == 1 ? n.reshape(parameter, {})
                                                 : parameter;
}
static Value alongColumns(Node &n, Value parameter) {
  return parameter && *countElements(n.shape(parameter)) == 1
             ? n.reshape(parameter, {})
             : parameter;
}

/// round(product * (scaleA * scaleB / scaleY) + zeroY), saturated.
static Value requantize(Node &n, Value product, Value scaleA, Value scaleB,
                        Value scaleY, Value zeroY) {
  Type wide = n.element(scaleA);
  Value scale =
      n.build<amp::DivOp>(n.build<amp::MulOp>(scaleA, n.cast(scaleB, wide)),
                          n.reshape(n.cast(scaleY, wide), {}));
  Value scaled = n.build<amp::MulOp>(n.cast(product, wide), scale);
  Value shifted =
      n.build<amp::AddOp>(scaled, n.reshape(n.cast(zeroY, wide), {}));
  return saturate(n, n.unary<amp::RoundOp>(shifted), n.element(zeroY));
}

static LogicalResult convertQLinearMatMul(Node &n) {
  n.set(0, n.composite1(
               n.allInputs(),
               [&](ArrayRef<Value> in) {
                 Type i32 = n.b.getI32Type();
                 Value a = n.build<amp::SubOp>(
                     n.cast(in[0], i32), alongRows(n, n.cast(in[2], i32)));
                 Value b = n.build<amp::SubOp>(
                     n.cast(in[3], i32), alongColumns(n, n.cast(in[5], i32)));
                 Value product =
                     n.build<amp::MatmulOp>(a, b, Value(), false, false);
                 return requantize(n, product, alongRows(n, in[1]),
                                   alongColumns(n, in[4]), in[6], in[7]);
               },
               {1, 4, 6}));
  return success();
}

static LogicalResult convertQLinearConv(Node &n) {
  Value x = n.in(0), w = n.in(3);
  int64_t group = n.attrs.getInt("group", 1);
  if (n.rank(w) != n.rank(x) || group < 1) {
    return n.invalid("its weight and input do not fit");
  }
  auto window = readWindow(n, x, n.shape(w).drop_front(2));
  if (!window) {
    return failure();
  }
  n.set(0, n.composite1(
               n.allInputs(),
               [&](ArrayRef<Value> in) {
                 Type i32 = n.b.getI32Type();
                 auto perChannel = [&](Value parameter, unsigned dim) {
                   SmallVector<int64_t> shape(n.rank(in[0]), 1);
                   shape[dim] = *countElements(n.shape(parameter));
                   return n.reshape(parameter, shape);
                 };
                 Value input = n.build<amp::SubOp>(
                     n.cast(in[0], i32), n.reshape(n.cast(in[2], i32), {}));
                 Value weight = n.build<amp::SubOp>(
                     n.cast(in[3], i32), perChannel(n.cast(in[5], i32), 0));
                 Value bias = in.size() == 9 ? in[8] : Value();
                 Value product = n.build<amp::ConvOp>(
                     input, weight, bias, window->strides, window->pads,
                     window->dilations, group, amp::Layout::ChannelsFirst);
                 return requantize(n, product, n.reshape(in[1], {}),
                                   perChannel(in[4], 1), in[6], in[7]);
               },
               {1, 4, 6}));
  return success();
}

void addQuantizationOps(OpTable &table) {
  table.add({
      {"DequantizeLinear", convertDequantizeLinear, AutocastClass::Follow, 2,
       3},
      {"DynamicQuantizeLinear", convertDynamicQuantizeLinear,
       AutocastClass::Fp32, 1, 1, 3},
      {"QLinearConv", convertQLinearConv, AutocastClass::Follow, 8, 9},
      {"QLinearMatMul", convertQLinearMatMul, AutocastClass::Follow, 8, 8},
      {"QuantizeLinear", convertQuantizeLinear, AutocastClass::Follow, 2, 3},
  });
}

} // namespace ampc::importer
