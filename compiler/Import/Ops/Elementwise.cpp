//===- Elementwise.cpp - Arithmetic, comparison, logic, conversion --------===//
#include "compiler/Import/ElementTypes.h"
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "compiler/Import/TensorView.h"

#include <cmath>

using namespace mlir;

namespace ampc::importer {

template <typename OpTy>
static LogicalResult convertUnary(Node &n) {
  n.set(0, n.unary<OpTy>(n.in(0)));
  return success();
}

/// The second operand. Before opset 7 it broadcast only on request, and then
/// stood at dimension `axis` of the first.
static Value readSecondOperand(Node &n) {
  Value x = n.in(0), y = n.in(1);
  if (n.opset >= 7) {
    return y;
  }
  bool broadcasts = n.attrs.getFlag("broadcast");
  auto axis = n.attrs.findInt("axis");
  if (!broadcasts) {
    if (n.shape(x) != n.shape(y)) {
      (void)n.invalid("operands of different shapes without broadcast = 1");
    }
    return y;
  }
  if (!axis) {
    return y;
  }
  auto first = n.axis(*axis, n.rank(x));
  if (!first) {
    return {};
  }
  int64_t trailing = n.rank(x) - *first - n.rank(y);
  if (trailing < 0) {
    (void)n.invalid("its second operand does not fit at axis " + Twine(*axis));
    return {};
  }
  SmallVector<int64_t> shape(n.shape(y));
  shape.append(trailing, 1);
  return n.reshape(y, shape);
}

template <typename OpTy>
static LogicalResult convertBinary(Node &n) {
  n.set(0, n.build<OpTy>(n.in(0), readSecondOperand(n)));
  return success();
}

/// Max, Min, Sum: a chain from left to right.
template <typename OpTy>
static Value buildChain(Node &n) {
  SmallVector<Value> inputs = n.allInputs();
  Value result = inputs.front();
  for (Value next : ArrayRef(inputs).drop_front()) {
    result = n.build<OpTy>(result, next);
  }
  return result;
}

template <typename OpTy>
static LogicalResult convertVariadic(Node &n) {
  n.set(0, buildChain<OpTy>(n));
  return success();
}

static LogicalResult convertMean(Node &n) {
  Value sum = buildChain<amp::AddOp>(n);
  Value count = n.scalar(n.element(sum), n.numInputs());
  n.set(0, n.build<amp::DivOp>(sum, count));
  return success();
}

template <amp::ComparePredicate predicate>
static LogicalResult convertCompare(Node &n) {
  n.set(0, n.build<amp::CompareOp>(n.in(0), readSecondOperand(n), predicate));
  return success();
}

static LogicalResult convertMod(Node &n) {
  bool fmod = n.attrs.getFlag("fmod");
  n.set(0, n.build<amp::ModOp>(n.in(0), n.in(1), fmod));
  return success();
}

/// Signed integers shift their sign in: as ~(~x >> y) where x is negative.
static Value buildShiftRight(Node &n, Value x, Value y) {
  Value plain = n.build<amp::ShiftRightOp>(x, y);
  auto type = dyn_cast_or_null<IntegerType>(n.element(x));
  if (!type || type.isUnsigned()) {
    return plain;
  }
  Value isNegative =
      n.build<amp::CompareOp>(x, n.scalar(type, 0), amp::ComparePredicate::LT);
  Value flipped = n.unary<amp::BitwiseNotOp>(
      n.build<amp::ShiftRightOp>(n.unary<amp::BitwiseNotOp>(x), y));
  return n.build<amp::SelectOp>(isNegative, flipped, plain);
}

static LogicalResult convertBitShift(Node &n) {
  std::string direction = n.attrs.getString("direction", "");
  if (direction == "LEFT") {
    return convertBinary<amp::ShiftLeftOp>(n);
  }
  if (direction == "RIGHT") {
    n.set(0, buildShiftRight(n, n.in(0), n.in(1)));
    return success();
  }
  return n.invalid("expected direction LEFT or RIGHT, got '" +
                   printableName(direction) + "'");
}

/// The exponent has a type of its own; the result has the base's.
static LogicalResult convertPow(Node &n) {
  Value base = n.in(0), exponent = readSecondOperand(n);
  Type element = n.element(base);
  if (n.isFloat(base) || !n.isFloat(exponent)) {
    n.set(0, n.build<amp::PowOp>(base, n.cast(exponent, element)));
    return success();
  }
  // An integer to a fractional power is computed in the widest float.
  Value wide = n.build<amp::PowOp>(n.cast(base, n.b.getF64Type()),
                                   n.cast(exponent, n.b.getF64Type()));
  n.set(0, n.cast(wide, element));
  return success();
}

static LogicalResult convertWhere(Node &n) {
  n.set(0, n.build<amp::SelectOp>(n.in(0), n.in(1), n.in(2)));
  return success();
}

static LogicalResult convertIsInf(Node &n) {
  bool negative = n.attrs.getFlag("detect_negative", true);
  bool positive = n.attrs.getFlag("detect_positive", true);
  n.set(0, n.build<amp::IsInfOp>(n.in(0), positive, negative));
  return success();
}

static LogicalResult convertIsNan(Node &n) {
  n.set(0, n.build<amp::IsNanOp>(n.in(0)));
  return success();
}

//===----------------------------------------------------------------------===//
// Clip
//===----------------------------------------------------------------------===//

/// Whether a bound means the same to a 16-bit float: it does not become zero or
/// lose bits below the normal numbers, nor bound more than all of them.
static bool isBoundOfAnyFloat(double bound, bool isLower) {
  constexpr double smallest = 0x1p-14, largest = 65504;
  return (bound == 0 || std::abs(bound) >= smallest) &&
         (isLower ? bound <= largest : bound >= -largest);
}

static Value buildClip(Node &n, Value x, double min, double max) {
  if (isBoundOfAnyFloat(min, /*isLower=*/true) &&
      isBoundOfAnyFloat(max, /*isLower=*/false)) {
    return n.unary<amp::ClipOp>(x, llvm::APFloat(min), llvm::APFloat(max));
  }
  // As an operand, a bound that a type cannot hold takes the operation to f32.
  Type element = n.element(x);
  x = n.build<amp::MaxOp>(x, n.scalar(element, min));
  return n.build<amp::MinOp>(x, n.scalar(element, max));
}

static LogicalResult convertClipAttributes(Node &n) {
  float lowest = std::numeric_limits<float>::lowest();
  double min = n.attrs.getFloat("min", lowest);
  double max = n.attrs.getFloat("max", -lowest);
  n.set(0, buildClip(n, n.in(0), min, max));
  return success();
}

static LogicalResult convertClip(Node &n) {
  Value x = n.in(0);
  // Constant bounds of floats become attributes; others are operands.
  const HostTensor *min = n.has(1) ? n.known(n.in(1)) : nullptr;
  const HostTensor *max = n.has(2) ? n.known(n.in(2)) : nullptr;
  bool isConstant = (!n.has(1) || (min && min->floats.size() == 1)) &&
                    (!n.has(2) || (max && max->floats.size() == 1));
  if (n.isFloat(x) && isConstant) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    n.set(0, buildClip(n, x, min ? min->floats[0] : -infinity,
                       max ? max->floats[0] : infinity));
    return success();
  }
  SmallVector<Value> operands{x};
  for (unsigned i : {1u, 2u}) {
    if (n.has(i)) {
      operands.push_back(n.in(i));
    }
  }
  auto clip = [&](ArrayRef<Value> in) {
    Value y = n.has(1) ? n.build<amp::MaxOp>(in[0], in[1]) : in[0];
    return n.has(2) ? n.build<amp::MinOp>(y, in.back()) : y;
  };
  // The bounds take the type of what they bound, so the operator is one.
  n.set(0, n.isFloat(x) ? n.composite1(operands, clip) : clip(operands));
  return success();
}

//===----------------------------------------------------------------------===//
// Cast
//===----------------------------------------------------------------------===//

static LogicalResult convertTo(Node &n, Type element) {
  n.attrs.ignore("saturate"); // concerns 8-bit floats only
  n.attrs.ignore("round_mode");
  Value x = n.in(0);
  auto type = cast<RankedTensorType>(x.getType());
  n.set(0, n.buildTyped<amp::CastOp>(type.clone(element), x,
                                     /*saturate=*/false, /*from_model=*/true));
  return success();
}

static LogicalResult convertCast(Node &n) {
  auto onnxType = static_cast<int32_t>(n.attrs.requireInt("to"));
  Type element = getElementType(n.b.getContext(), onnxType);
  if (!element) {
    return n.unsupported("element type " + getElementTypeName(onnxType));
  }
  return convertTo(n, element);
}

static LogicalResult convertCastLike(Node &n) {
  return convertTo(n, n.element(n.in(1)));
}

/// Between integers of one width, wrapping is reading the same bits.
static LogicalResult convertBitCast(Node &n) {
  auto onnxType = static_cast<int32_t>(n.attrs.requireInt("to"));
  Type from = n.element(n.in(0));
  Type to = getElementType(n.b.getContext(), onnxType);
  if (!to) {
    return n.unsupported("element type " + getElementTypeName(onnxType));
  }
  if (!isa_and_nonnull<IntegerType>(from) || !isa<IntegerType>(to)) {
    return n.unsupported("bits of floats");
  }
  auto width = [](Type type) {
    return std::max(8u, type.getIntOrFloatBitWidth());
  };
  if (width(from) != width(to)) {
    return n.invalid("expected a type of the same width");
  }
  if (to.isInteger(1) && from != to) {
    return n.unsupported("numbers as booleans");
  }
  return convertTo(n, to);
}

void addElementwiseOps(OpTable &table) {
  using P = amp::ComparePredicate;
  table.add({
      {"Abs", convertUnary<amp::AbsOp>, OpClass::of<amp::AbsOp>(), 1, 1},
      {"Acos", convertUnary<amp::AcosOp>, OpClass::of<amp::AcosOp>(), 1, 1},
      {"Acosh", convertUnary<amp::AcoshOp>, OpClass::of<amp::AcoshOp>(), 1, 1},
      {"Add", convertBinary<amp::AddOp>, OpClass::of<amp::AddOp>(), 2, 2},
      {"And", convertBinary<amp::AndOp>, OpClass::of<amp::AndOp>(), 2, 2},
      {"Asin", convertUnary<amp::AsinOp>, OpClass::of<amp::AsinOp>(), 1, 1},
      {"Asinh", convertUnary<amp::AsinhOp>, OpClass::of<amp::AsinhOp>(), 1, 1},
      {"Atan", convertUnary<amp::AtanOp>, OpClass::of<amp::AtanOp>(), 1, 1},
      {"Atanh", convertUnary<amp::AtanhOp>, OpClass::of<amp::AtanhOp>(), 1, 1},
      {"BitCast", convertBitCast, OpClass::none(), 1, 1, 1, 26},
      {"BitShift", convertBitShift, OpClass::of<amp::ShiftLeftOp>(), 2, 2},
      {"BitwiseAnd", convertBinary<amp::AndOp>, OpClass::of<amp::AndOp>(), 2,
       2},
      {"BitwiseNot", convertUnary<amp::BitwiseNotOp>,
       OpClass::of<amp::BitwiseNotOp>(), 1, 1},
      {"BitwiseOr", convertBinary<amp::OrOp>, OpClass::of<amp::OrOp>(), 2, 2},
      {"BitwiseXor", convertBinary<amp::XorOp>, OpClass::of<amp::XorOp>(), 2,
       2},
      {"Cast", convertCast, OpClass::of<amp::CastOp>(), 1, 1, 1, 6},
      {"CastLike", convertCastLike, OpClass::of<amp::CastOp>(), 2, 2},
      {"Ceil", convertUnary<amp::CeilOp>, OpClass::of<amp::CeilOp>(), 1, 1},
      {"Clip", convertClipAttributes, AutocastClass::Follow, 1, 1, 1, 1, 10},
      {"Clip", convertClip, AutocastClass::Follow, 1, 3, 1, 11},
      {"Cos", convertUnary<amp::CosOp>, OpClass::of<amp::CosOp>(), 1, 1},
      {"Cosh", convertUnary<amp::CoshOp>, OpClass::of<amp::CoshOp>(), 1, 1},
      {"Div", convertBinary<amp::DivOp>, OpClass::of<amp::DivOp>(), 2, 2},
      {"Equal", convertCompare<P::EQ>, OpClass::of<amp::CompareOp>(), 2, 2},
      {"Erf", convertUnary<amp::ErfOp>, OpClass::of<amp::ErfOp>(), 1, 1},
      {"Exp", convertUnary<amp::ExpOp>, OpClass::of<amp::ExpOp>(), 1, 1},
      {"Floor", convertUnary<amp::FloorOp>, OpClass::of<amp::FloorOp>(), 1, 1},
      {"Greater", convertCompare<P::GT>, OpClass::of<amp::CompareOp>(), 2, 2},
      {"GreaterOrEqual", convertCompare<P::GE>, OpClass::of<amp::CompareOp>(),
       2, 2},
      {"IsInf", convertIsInf, OpClass::of<amp::IsInfOp>(), 1, 1},
      {"IsNaN", convertIsNan, OpClass::of<amp::IsNanOp>(), 1, 1},
      {"Less", convertCompare<P::LT>, OpClass::of<amp::CompareOp>(), 2, 2},
      {"LessOrEqual", convertCompare<P::LE>, OpClass::of<amp::CompareOp>(), 2,
       2},
      {"Log", convertUnary<amp::LogOp>, OpClass::of<amp::LogOp>(), 1, 1},
      {"Max", convertVariadic<amp::MaxOp>, OpClass::of<amp::MaxOp>(), 1,
       anyNumber},
      {"Mean", convertMean, OpClass::of<amp::AddOp>(), 1, anyNumber},
      {"Min", convertVariadic<amp::MinOp>, OpClass::of<amp::MinOp>(), 1,
       anyNumber},
      {"Mod", convertMod, OpClass::of<amp::ModOp>(), 2, 2},
      {"Mul", convertBinary<amp::MulOp>, OpClass::of<amp::MulOp>(), 2, 2},
      {"Neg", convertUnary<amp::NegOp>, OpClass::of<amp::NegOp>(), 1, 1},
      {"Not", convertUnary<amp::LogicalNotOp>, OpClass::of<amp::LogicalNotOp>(),
       1, 1},
      {"Or", convertBinary<amp::OrOp>, OpClass::of<amp::OrOp>(), 2, 2},
      {"Pow", convertPow, OpClass::of<amp::PowOp>(), 2, 2},
      {"Reciprocal", convertUnary<amp::ReciprocalOp>,
       OpClass::of<amp::ReciprocalOp>(), 1, 1},
      {"Round", convertUnary<amp::RoundOp>, OpClass::of<amp::RoundOp>(), 1, 1},
      {"Sign", convertUnary<amp::SignOp>, OpClass::of<amp::SignOp>(), 1, 1},
      {"Sin", convertUnary<amp::SinOp>, OpClass::of<amp::SinOp>(), 1, 1},
      {"Sinh", convertUnary<amp::SinhOp>, OpClass::of<amp::SinhOp>(), 1, 1},
      {"Sqrt", convertUnary<amp::SqrtOp>, OpClass::of<amp::SqrtOp>(), 1, 1},
      {"Sub", convertBinary<amp::SubOp>, OpClass::of<amp::SubOp>(), 2, 2},
      {"Sum", convertVariadic<amp::AddOp>, OpClass::of<amp::AddOp>(), 1,
       anyNumber},
      {"Tan", convertUnary<amp::TanOp>, OpClass::of<amp::TanOp>(), 1, 1},
      {"Tanh", convertUnary<amp::TanhOp>, OpClass::of<amp::TanhOp>(), 1, 1},
      {"Where", convertWhere, OpClass::of<amp::SelectOp>(), 3, 3},
      {"Xor", convertBinary<amp::XorOp>, OpClass::of<amp::XorOp>(), 2, 2},
  });
}

} // namespace ampc::importer
