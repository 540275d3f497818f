//===- Elementwise.cpp - Evaluation of elementwise ops --------------------===//
#include "dialects/Amp/Reference/Map.h"
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Amp/Reference/ScalarMath.h"
#include "dialects/Amp/Reference/Strided.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

template <typename Op, double (*Function)(double)>
std::optional<Tensor> floatUnary(Op op, ArrayRef<Tensor> operands) {
  return mapUnary<double, double>(getResultType(op), operands[0], Function);
}

/// `Integer` takes the value and whether its type is unsigned.
template <typename Op, double (*Float)(double),
          int64_t (*Integer)(int64_t, bool)>
std::optional<Tensor> numberUnary(Op op, ArrayRef<Tensor> operands) {
  Kind kind = operands[0].getKind();
  if (isFloat(kind)) {
    return floatUnary<Op, Float>(op, operands);
  }
  bool isUnsignedKind = isUnsigned(kind);
  return mapUnary<int64_t, int64_t>(
      getResultType(op), operands[0],
      [=](int64_t x) { return Integer(x, isUnsignedKind); });
}

template <typename Op, double (*Float)(double, double),
          int64_t (*Integer)(int64_t, int64_t, bool)>
std::optional<Tensor> numberBinary(Op op, ArrayRef<Tensor> operands) {
  Kind kind = operands[0].getKind();
  if (isFloat(kind)) {
    return mapBinary<double, double>(getResultType(op), operands, Float);
  }
  bool isUnsignedKind = isUnsigned(kind);
  return mapBinary<int64_t, int64_t>(
      getResultType(op), operands,
      [=](int64_t x, int64_t y) { return Integer(x, y, isUnsignedKind); });
}

//===----------------------------------------------------------------------===//
// Ops with attributes
//===----------------------------------------------------------------------===//

std::optional<Tensor> gelu(GeluOp op, ArrayRef<Tensor> operands) {
  return mapUnary<double, double>(
      getResultType(op), operands[0],
      op.getForm() == GeluForm::Erf ? math::geluErf : math::geluTanh);
}

std::optional<Tensor> leakyRelu(LeakyReluOp op, ArrayRef<Tensor> operands) {
  double alpha = op.getAlpha().convertToDouble();
  return mapUnary<double, double>(
      getResultType(op), operands[0],
      [=](double x) { return x >= 0 ? x : alpha * x; });
}

std::optional<Tensor> hardSigmoid(HardSigmoidOp op, ArrayRef<Tensor> operands) {
  double alpha = op.getAlpha().convertToDouble();
  double beta = op.getBeta().convertToDouble();
  return mapUnary<double, double>(
      getResultType(op), operands[0],
      [=](double x) { return math::max(0, math::min(1, alpha * x + beta)); });
}

std::optional<Tensor> clip(ClipOp op, ArrayRef<Tensor> operands) {
  double largest = getLargest(operands[0].getKind());
  auto bound = [&](double x) {
    return std::abs(x) > largest ? std::copysign(HUGE_VAL, x) : x;
  };
  double low = bound(op.getMin().convertToDouble());
  double high = bound(op.getMax().convertToDouble());
  return mapUnary<double, double>(getResultType(op), operands[0],
                                  [=](double x) {
                                    x = x < low ? low : x;
                                    return x > high ? high : x;
                                  });
}

std::optional<Tensor> isNan(IsNanOp op, ArrayRef<Tensor> operands) {
  return mapUnary<double, int64_t>(getResultType(op), operands[0],
                                   [](double x) { return std::isnan(x); });
}

std::optional<Tensor> isInf(IsInfOp op, ArrayRef<Tensor> operands) {
  bool positive = op.getPositive(), negative = op.getNegative();
  return mapUnary<double, int64_t>(
      getResultType(op), operands[0],
      [=](double x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

std::optional<Tensor> mod(ModOp op, ArrayRef<Tensor> operands) {
  if (op.getFmod()) {
    return numberBinary<ModOp, math::cRemainder, math::cRemainder>(op,
                                                                   operands);
  }
  return numberBinary<ModOp, math::pythonRemainder, math::pythonRemainder>(
      op, operands);
}

template <typename T>
bool holds(ComparePredicate predicate, T x, T y) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return x == y;
  case ComparePredicate::NE:
    return x != y;
  case ComparePredicate::LT:
    return x < y;
  case ComparePredicate::LE:
    return x <= y;
  case ComparePredicate::GT:
    return x > y;
  case ComparePredicate::GE:
    return x >= y;
  }
  llvm_unreachable("all predicates are named");
}

std::optional<Tensor> compare(CompareOp op, ArrayRef<Tensor> operands) {
  ComparePredicate predicate = op.getPredicate();
  RankedTensorType type = getResultType(op);
  Kind kind = operands[0].getKind();
  if (isFloat(kind)) {
    return mapBinary<double, int64_t>(type, operands, [=](double x, double y) {
      return holds(predicate, x, y);
    });
  }
  if (isUnsigned(kind)) {
    return mapBinary<int64_t, int64_t>(
        type, operands, [=](int64_t x, int64_t y) {
          return holds(predicate, static_cast<uint64_t>(x),
                       static_cast<uint64_t>(y));
        });
  }
  return mapBinary<int64_t, int64_t>(type, operands, [=](int64_t x, int64_t y) {
    return holds(predicate, x, y);
  });
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// The bits of each element, whatever it stands for, as integers.
template <typename Op, int64_t (*Function)(int64_t, int64_t, bool)>
std::optional<Tensor> bitsBinary(Op op, ArrayRef<Tensor> operands) {
  RankedTensorType type = getResultType(op);
  if (!isFloat(operands[0].getKind())) {
    return mapBinary<int64_t, int64_t>(
        type, operands,
        [](int64_t x, int64_t y) { return Function(x, y, false); });
  }
  Type bits = IntegerType::get(op.getContext(),
                               type.getElementType().getIntOrFloatBitWidth());
  SmallVector<Tensor> integers;
  for (const Tensor &operand : operands) {
    integers.push_back(operand.withType(operand.getType().clone(bits)));
  }
  auto result = mapBinary<int64_t, int64_t>(
      type.clone(bits), integers,
      [](int64_t x, int64_t y) { return Function(x, y, false); });
  return result ? std::optional(result->withType(type)) : std::nullopt;
}

template <typename Op, bool Left>
std::optional<Tensor> shift(Op op, ArrayRef<Tensor> operands) {
  unsigned width = 8 * operands[0].getByteWidth();
  uint64_t mask = ~uint64_t(0) >> (64 - width);
  return mapBinary<int64_t, int64_t>(
      getResultType(op), operands, [=](int64_t x, int64_t y) -> int64_t {
        uint64_t amount = static_cast<uint64_t>(y) & mask;
        uint64_t value = static_cast<uint64_t>(x) & mask;
        if (amount >= width) {
          return 0;
        }
        return static_cast<int64_t>(Left ? value << amount : value >> amount);
      });
}

template <typename Raw>
void selectRow(const char *condition, int64_t conditionStep, const char *lhs,
               int64_t lhsStep, const char *rhs, int64_t rhsStep,
               int64_t length, char *to) {
  constexpr int64_t width = sizeof(Raw);
  for (int64_t i = 0; i < length; ++i) {
    std::memcpy(to + i * width,
                condition[i * conditionStep] ? lhs + i * lhsStep * width
                                             : rhs + i * rhsStep * width,
                sizeof(Raw));
  }
}

std::optional<Tensor> selectElements(SelectOp op, ArrayRef<Tensor> operands) {
  RankedTensorType type = getResultType(op);
  bool splat =
      llvm::all_of(operands, [](const Tensor &t) { return t.isSplat(); });
  auto result = Tensor::allocate(type, splat);
  if (!result) {
    return std::nullopt;
  }
  SmallVector<Dims> strides{getStoredStrides(*result)};
  for (const Tensor &operand : operands) {
    strides.push_back(getBroadcastStrides(operand, type.getShape()));
  }
  int64_t width = result->getByteWidth();
  auto row = width == 1   ? selectRow<uint8_t>
             : width == 2 ? selectRow<uint16_t>
             : width == 4 ? selectRow<uint32_t>
                          : selectRow<uint64_t>;
  char *to = result->mutableBytes();
  Dims one(type.getRank(), 1);
  walkRows(splat ? ArrayRef<int64_t>(one) : type.getShape(), strides,
           [&](ArrayRef<int64_t> at, int64_t length, ArrayRef<int64_t> step) {
             row(operands[0].getBytes().data() + at[1], step[1],
                 operands[1].getBytes().data() + at[2] * width, step[2],
                 operands[2].getBytes().data() + at[3] * width, step[3], length,
                 to + at[0] * width);
           });
  return result;
}

std::optional<Tensor> castElements(CastOp op, ArrayRef<Tensor> operands) {
  return convert(operands[0], getResultType(op).getElementType(),
                 op.getSaturate());
}

std::optional<Tensor> bitwiseNot(BitwiseNotOp op, ArrayRef<Tensor> operands) {
  return mapUnary<int64_t, int64_t>(getResultType(op), operands[0],
                                    [](int64_t x) { return ~x; });
}

std::optional<Tensor> logicalNot(LogicalNotOp op, ArrayRef<Tensor> operands) {
  return mapUnary<int64_t, int64_t>(getResultType(op), operands[0],
                                    [](int64_t x) { return x == 0; });
}

template <typename Op, double (*Function)(double)>
void attachFloat(MLIRContext *context) {
  attach<floatUnary<Op, Function>>(context);
}
} // namespace

void ref::attachElementwise(MLIRContext *context) {
  attach<numberUnary<AbsOp, math::abs, math::abs>>(context);
  attach<numberUnary<NegOp, math::neg, math::neg>>(context);
  attach<numberUnary<SignOp, math::sign, math::sign>>(context);
  attach<numberUnary<ReluOp, math::relu, math::relu>>(context);
  attachFloat<CeilOp, math::ceil>(context);
  attachFloat<FloorOp, math::floor>(context);
  attachFloat<RoundOp, math::round>(context);
  attachFloat<SqrtOp, math::sqrt>(context);
  attachFloat<RsqrtOp, math::rsqrt>(context);
  attachFloat<ReciprocalOp, math::reciprocal>(context);
  attachFloat<ExpOp, math::exp>(context);
  attachFloat<LogOp, math::log>(context);
  attachFloat<SinOp, math::sin>(context);
  attachFloat<CosOp, math::cos>(context);
  attachFloat<TanOp, math::tan>(context);
  attachFloat<AsinOp, math::asin>(context);
  attachFloat<AcosOp, math::acos>(context);
  attachFloat<AtanOp, math::atan>(context);
  attachFloat<SinhOp, math::sinh>(context);
  attachFloat<CoshOp, math::cosh>(context);
  attachFloat<AsinhOp, math::asinh>(context);
  attachFloat<AcoshOp, math::acosh>(context);
  attachFloat<AtanhOp, math::atanh>(context);
  attachFloat<TanhOp, math::tanh>(context);
  attachFloat<ErfOp, math::erf>(context);
  attachFloat<SigmoidOp, math::sigmoid>(context);
  attachFloat<SoftplusOp, math::softplus>(context);
  attachFloat<SiluOp, math::silu>(context);
  attachFloat<HardSwishOp, math::hardSwish>(context);
  attach<gelu>(context);
  attach<leakyRelu>(context);
  attach<hardSigmoid>(context);
  attach<clip>(context);
  attach<isNan>(context);
  attach<isInf>(context);
  attach<bitwiseNot>(context);
  attach<logicalNot>(context);
  attach<numberBinary<AddOp, math::add, math::add>>(context);
  attach<numberBinary<SubOp, math::sub, math::sub>>(context);
  attach<numberBinary<MulOp, math::mul, math::mul>>(context);
  attach<numberBinary<DivOp, math::div, math::div>>(context);
  attach<numberBinary<PowOp, math::pow, math::pow>>(context);
  attach<numberBinary<MaxOp, math::max, math::max>>(context);
  attach<numberBinary<MinOp, math::min, math::min>>(context);
  attach<mod>(context);
  attach<bitsBinary<AndOp, math::bitAnd>>(context);
  attach<bitsBinary<OrOp, math::bitOr>>(context);
  attach<bitsBinary<XorOp, math::bitXor>>(context);
  attach<shift<ShiftLeftOp, true>>(context);
  attach<shift<ShiftRightOp, false>>(context);
  attach<compare>(context);
  attach<selectElements>(context);
  attach<castElements>(context);
}
