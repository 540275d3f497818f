//===- IndexedPoolGradient.cpp - Elements of the gradients of pools -------===//
// An input element pulls its gradient from the windows that it lies in, so that
// nothing is scattered and every sum has one order.
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Impl/Conversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

namespace {
using Predicate = arith::CmpIPredicate;

/// The windows around one input element (or around several with equal spatial
/// indices).
class Windows {
public:
  template <typename OpT>
  Windows(OpT op, ElementBuilder &eb, ArrayRef<LaneIndex> index)
      : eb(eb), index(index), kernel(op.getKernel()), strides(op.getStrides()),
        pads(op.getPads()), dilations(op.getDilations()),
        first(op.getLayout() == Layout::ChannelsFirst ? 2 : 1),
        outShape(op.getGradient().getType().getShape()),
        inShape(op.getResult().getType().getShape()) {}

  bool isValid() const {
    for (size_t i = 0; i < kernel.size(); ++i) {
      if (index[first + i].step != 0) {
        return false;
      }
    }
    return true;
  }

  /// Folds `body(positions of the window, tap of the element in it, sum)` over
  /// all windows that hold the element.
  FailureOr<Value>
  fold(Value init,
       function_ref<FailureOr<Value>(ArrayRef<Value>, Value, Value)> body) {
    return loop(taps(), init, [&](Value tap, Value sum) -> FailureOr<Value> {
      SmallVector<Value> window(kernel.size());
      Value exists;
      SmallVector<Value> each = split(tap);
      for (size_t i = 0; i < kernel.size(); ++i) {
        // window * stride = element + pad - tap * dilation
        Value at = eb.add(index[first + i].base, pads[i]);
        at = arith::SubIOp::create(eb.b, eb.loc, at,
                                   eb.mul(each[i], dilations[i]));
        if (strides[i] != 1) {
          Value stride = eb.index(strides[i]);
          Value rest = arith::RemSIOp::create(eb.b, eb.loc, at, stride);
          require(exists, Predicate::eq, rest, eb.index(0));
          at = arith::DivSIOp::create(eb.b, eb.loc, at, stride);
        }
        require(exists, Predicate::ult, at, eb.index(outShape[first + i]));
        window[i] = at;
      }
      return choose(exists, sum, [&] { return body(window, tap, sum); });
    });
  }

  /// Folds over the elements of a window, in row-major order.
  FailureOr<Value> foldElements(
      ArrayRef<Value> window, Value init,
      function_ref<FailureOr<Value>(ArrayRef<LaneIndex>, Value, Value)> body) {
    return loop(taps(), init, [&](Value tap, Value carried) {
      SmallVector<LaneIndex> element(index);
      SmallVector<Value> each = split(tap);
      Value inside;
      for (size_t i = 0; i < kernel.size(); ++i) {
        Value at = eb.add(eb.mul(window[i], strides[i]), -pads[i]);
        at = eb.add(at, eb.mul(each[i], dilations[i]));
        require(inside, Predicate::ult, at, eb.index(inShape[first + i]));
        element[first + i] = {at, 0};
      }
      return choose(inside, carried,
                    [&] { return body(element, tap, carried); });
    });
  }

  /// The index of a window's gradient.
  SmallVector<LaneIndex> gradientIndex(ArrayRef<Value> window) const {
    SmallVector<LaneIndex> result(index);
    for (size_t i = 0; i < window.size(); ++i) {
      result[first + i] = {window[i], 0};
    }
    return result;
  }

  /// How many of a window's positions lie inside the input, or inside it and
  /// its padding.
  Value count(ArrayRef<Value> window, bool includePadding) {
    Value result = eb.index(1);
    for (size_t i = 0; i < kernel.size(); ++i) {
      Value start = eb.add(eb.mul(window[i], strides[i]), -pads[i]);
      int64_t size = inShape[first + i];
      int64_t end = size + (includePadding ? pads[i + kernel.size()] : 0);
      Value upper = positionsBefore(i, start, end);
      if (!includePadding) {
        // Positions before 0 are missing at the beginning.
        Value lower = positionsBefore(i, start, 0);
        upper = arith::SubIOp::create(eb.b, eb.loc, upper, lower);
      }
      result = arith::MulIOp::create(eb.b, eb.loc, result, upper);
    }
    return result;
  }

private:
  int64_t taps() const {
    int64_t result = 1;
    for (int64_t size : kernel) {
      result *= size;
    }
    return result;
  }

  SmallVector<Value> split(Value tap) {
    SmallVector<Value> result(kernel.size());
    for (size_t i = kernel.size(); i-- > 0;) {
      Value size = eb.index(kernel[i]);
      result[i] = arith::RemUIOp::create(eb.b, eb.loc, tap, size);
      tap = arith::DivUIOp::create(eb.b, eb.loc, tap, size);
    }
    return result;
  }

  /// How many positions of a window that begins at `start` lie before `limit`.
  Value positionsBefore(size_t i, Value start, int64_t limit) {
    Value room = arith::SubIOp::create(eb.b, eb.loc, eb.index(limit), start);
    room = arith::MaxSIOp::create(eb.b, eb.loc, room, eb.index(0));
    room = arith::DivUIOp::create(eb.b, eb.loc, eb.add(room, dilations[i] - 1),
                                  eb.index(dilations[i]));
    return arith::MinUIOp::create(eb.b, eb.loc, room, eb.index(kernel[i]));
  }

  void require(Value &all, Predicate predicate, Value lhs, Value rhs) {
    Value test = arith::CmpIOp::create(eb.b, eb.loc, predicate, lhs, rhs);
    all =
        all ? arith::AndIOp::create(eb.b, eb.loc, all, test).getResult() : test;
  }

  FailureOr<Value> loop(int64_t count, Value init,
                        function_ref<FailureOr<Value>(Value, Value)> body) {
    auto loop = scf::ForOp::create(eb.b, eb.loc, eb.index(0), eb.index(count),
                                   eb.index(1), ValueRange(init));
    OpBuilder::InsertionGuard guard(eb.b);
    eb.b.setInsertionPointToStart(loop.getBody());
    FailureOr<Value> next =
        body(loop.getInductionVar(), loop.getRegionIterArg(0));
    if (failed(next)) {
      loop.erase();
      return failure();
    }
    scf::YieldOp::create(eb.b, eb.loc, *next);
    return loop.getResult(0);
  }

  FailureOr<Value> choose(Value condition, Value otherwise,
                          function_ref<FailureOr<Value>()> body) {
    auto choice = scf::IfOp::create(eb.b, eb.loc, otherwise.getType(),
                                    condition, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(eb.b);
    eb.b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(eb.b, eb.loc, otherwise);
    eb.b.setInsertionPointToStart(choice.thenBlock());
    FailureOr<Value> value = body();
    if (failed(value)) {
      choice.erase();
      return failure();
    }
    scf::YieldOp::create(eb.b, eb.loc, *value);
    return choice.getResult(0);
  }

  ElementBuilder &eb;
  ArrayRef<LaneIndex> index;
  ArrayRef<int64_t> kernel, strides, pads, dilations;
  int64_t first;
  ArrayRef<int64_t> outShape, inShape;
};
} // namespace

FailureOr<Value> MaxPoolGradientOp::buildElement(ElementBuilder &eb,
                                                 ArrayRef<LaneIndex> index,
                                                 unsigned) {
  Windows windows(*this, eb, index);
  if (!windows.isValid()) {
    return failure();
  }
  Type element = getResult().getType().getElementType();
  Type compute = getComputeType(element);
  FailureOr<Value> own = eb.getOperand(getInputMutable(), index);
  if (failed(own)) {
    return failure();
  }
  Value x = eb.splat(*own), zero = eb.constant(compute, 0);
  auto compare = [&](arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(eb.b, eb.loc, predicate, lhs, rhs);
  };
  Value isNan = compare(arith::CmpFPredicate::UNO, x, x);
  FailureOr<Value> sum = windows.fold(
      zero,
      [&](ArrayRef<Value> window, Value tap,
          Value partial) -> FailureOr<Value> {
        // The element wins where none before it is as large and none after it
        // larger; of NaNs the last one.
        FailureOr<Value> wins = windows.foldElements(
            window, eb.constant(eb.b.getI1Type(), 1),
            [&](ArrayRef<LaneIndex> at, Value other,
                Value ahead) -> FailureOr<Value> {
              FailureOr<Value> rival = eb.getOperand(getInputMutable(), at);
              if (failed(rival)) {
                return failure();
              }
              Value y = eb.splat(*rival);
              Value before = eb.splat(arith::CmpIOp::create(
                  eb.b, eb.loc, Predicate::ult, other, tap));
              Value after = eb.splat(arith::CmpIOp::create(
                  eb.b, eb.loc, Predicate::ugt, other, tap));
              auto select = [&](Value condition, Value yes, Value no) {
                return arith::SelectOp::create(eb.b, eb.loc, condition, yes, no)
                    .getResult();
              };
              Value yes = eb.constant(eb.b.getI1Type(), 1);
              Value no = eb.constant(eb.b.getI1Type(), 0);
              // UGT holds for a NaN on either side: a NaN behind wins.
              Value beatenByLater = compare(arith::CmpFPredicate::UNO, y, y);
              Value larger = compare(arith::CmpFPredicate::OGT, y, x);
              beatenByLater = arith::OrIOp::create(eb.b, eb.loc, beatenByLater,
                                                   select(isNan, no, larger));
              Value notSmaller = arith::OrIOp::create(
                  eb.b, eb.loc, compare(arith::CmpFPredicate::OGE, y, x),
                  compare(arith::CmpFPredicate::UNO, y, y));
              Value beatenByEarlier = select(isNan, no, notSmaller);
              Value beaten = select(after, beatenByLater,
                                    select(before, beatenByEarlier, no));
              return select(beaten, no, select(ahead, yes, no));
            });
        FailureOr<Value> share =
            eb.getOperand(getGradientMutable(), windows.gradientIndex(window));
        if (failed(wins) || failed(share)) {
          return failure();
        }
        Value given = arith::SelectOp::create(eb.b, eb.loc, *wins,
                                              eb.splat(*share), zero);
        return FailureOr<Value>(
            arith::AddFOp::create(eb.b, eb.loc, partial, given).getResult());
      });
  if (failed(sum)) {
    return failure();
  }
  return roundTo16Bit(eb.b, eb.loc, *sum, element);
}

FailureOr<Value> AvgPoolGradientOp::buildElement(ElementBuilder &eb,
                                                 ArrayRef<LaneIndex> index,
                                                 unsigned) {
  Windows windows(*this, eb, index);
  if (!windows.isValid()) {
    return failure();
  }
  Type element = getResult().getType().getElementType();
  Type compute = getComputeType(element);
  FailureOr<Value> sum = windows.fold(
      eb.constant(compute, 0),
      [&](ArrayRef<Value> window, Value, Value partial) -> FailureOr<Value> {
        FailureOr<Value> gradient =
            eb.getOperand(getGradientMutable(), windows.gradientIndex(window));
        if (failed(gradient)) {
          return failure();
        }
        Value count = arith::IndexCastOp::create(
            eb.b, eb.loc, eb.b.getI64Type(),
            windows.count(window, getCountIncludePad()));
        Value divisor = arith::SIToFPOp::create(eb.b, eb.loc, compute, count);
        Value share = arith::DivFOp::create(eb.b, eb.loc, eb.splat(*gradient),
                                            eb.splat(divisor));
        return FailureOr<Value>(
            arith::AddFOp::create(eb.b, eb.loc, partial, share).getResult());
      });
  if (failed(sum)) {
    return failure();
  }
  return roundTo16Bit(eb.b, eb.loc, *sum, element);
}
