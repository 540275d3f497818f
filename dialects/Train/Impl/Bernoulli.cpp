//===- Bernoulli.cpp - Random elements where they are read ----------------===//
#include "dialects/Amp/Impl/LaneIndices.h"
#include "dialects/Train/IR/Philox.h"
#include "dialects/Train/IR/TrainDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ampc;

namespace {

/// Words of all lanes: i32, or a vector of them.
class WordBuilder {
public:
  explicit WordBuilder(ElementBuilder &eb)
      : eb(eb), word(eb.laneType(eb.b.getI32Type())),
        pair(eb.laneType(eb.b.getI64Type())) {}

  Value constant(uint32_t value) {
    auto number = IntegerAttr::get(eb.b.getI32Type(), APInt(32, value));
    TypedAttr attr = number;
    if (auto type = dyn_cast<VectorType>(word)) {
      attr = DenseElementsAttr::get(type, number.getValue());
    }
    return arith::ConstantOp::create(eb.b, eb.loc, attr);
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(eb.b, eb.loc, lhs, rhs);
  }
  Value exclusiveOr(Value lhs, Value rhs) {
    return arith::XOrIOp::create(eb.b, eb.loc, lhs, rhs);
  }
  /// The upper and the lower word of a product.
  std::pair<Value, Value> multiply(Value lhs, uint32_t factor) {
    auto wide = [&](Value value) -> Value {
      return arith::ExtUIOp::create(eb.b, eb.loc, pair, value);
    };
    Value product =
        arith::MulIOp::create(eb.b, eb.loc, wide(lhs), wide(constant(factor)));
    return {upper(product),
            arith::TruncIOp::create(eb.b, eb.loc, word, product)};
  }
  /// The upper word of a pair, in as many lanes.
  Value upper(Value value) {
    auto bits = IntegerAttr::get(eb.b.getI64Type(), 32);
    TypedAttr attr = bits;
    Type type = eb.b.getI32Type();
    if (auto vector = dyn_cast<VectorType>(value.getType())) {
      attr = DenseElementsAttr::get(vector, bits.getValue());
      type = word;
    }
    Value shift = arith::ConstantOp::create(eb.b, eb.loc, attr);
    return arith::TruncIOp::create(
        eb.b, eb.loc, type, arith::ShRUIOp::create(eb.b, eb.loc, value, shift));
  }

  ElementBuilder &eb;
  Type word, pair;
};

} // namespace

/// See Philox.cpp.
static Value buildPhilox(WordBuilder &w, std::array<Value, 4> counter,
                         std::array<Value, 2> key) {
  for (unsigned round = 0; round < train::philoxRounds; ++round) {
    if (round != 0) {
      key = {w.add(key[0], w.constant(train::philoxWeyl[0])),
             w.add(key[1], w.constant(train::philoxWeyl[1]))};
    }
    auto [firstHigh, firstLow] =
        w.multiply(counter[0], train::philoxMultipliers[0]);
    auto [secondHigh, secondLow] =
        w.multiply(counter[2], train::philoxMultipliers[1]);
    counter = {
        w.exclusiveOr(w.exclusiveOr(secondHigh, counter[1]), key[0]), secondLow,
        w.exclusiveOr(w.exclusiveOr(firstHigh, counter[3]), key[1]), firstLow};
  }
  return counter[0];
}

FailureOr<Value> train::BernoulliOp::buildElement(ElementBuilder &eb,
                                                  ArrayRef<LaneIndex> index,
                                                  unsigned) {
  OpBuilder &b = eb.b;
  Location loc = eb.loc;
  SmallVector<Value> numbers;
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    FailureOr<Value> number = eb.getScalarOperand(operand, {});
    if (failed(number)) {
      return failure();
    }
    numbers.push_back(*number);
  }
  Type i32 = b.getI32Type();
  WordBuilder w(eb);
  ArrayRef<int64_t> shape = getResult().getType().getShape();
  Value linear = amp::linearize(eb, amp::basesOf(index), shape);
  Value position =
      eb.splat(arith::IndexCastOp::create(b, loc, i32, linear).getResult());
  // From lane to lane the linear index grows by a constant.
  int64_t step = 0, stride = 1;
  for (auto [i, size] :
       llvm::zip_equal(llvm::reverse(index), llvm::reverse(shape))) {
    step += i.step * stride;
    stride *= size;
  }
  if (eb.lanes > 1 && step != 0) {
    SmallVector<int32_t> offsets;
    for (int64_t lane = 0; lane < eb.lanes; ++lane) {
      offsets.push_back(static_cast<int32_t>(lane * step));
    }
    auto type = cast<VectorType>(position.getType());
    position = w.add(
        position,
        arith::ConstantOp::create(
            b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(offsets))));
  }
  Value low = arith::TruncIOp::create(b, loc, i32, numbers[0]);
  Value high = w.upper(numbers[0]);
  Value bits =
      buildPhilox(w,
                  {position, w.constant(static_cast<uint32_t>(getStream())),
                   eb.splat(numbers[2]), eb.splat(numbers[1])},
                  {eb.splat(low), eb.splat(high)});
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, bits,
                               w.constant(getThreshold()))
      .getResult();
}
