//===- IndexedWindow.cpp - Elements of pools ------------------------------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Impl/Conversion.h"
#include "dialects/Amp/Impl/LaneIndices.h"
#include "dialects/Amp/Impl/MathExpansion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

namespace {

/// One spatial dimension of a window.
struct WindowDim {
  int64_t dim; ///< of the tensor
  int64_t kernel, stride, dilation;
  int64_t size; ///< of the input
  int64_t padEnd;
  Value start;        ///< input index of window position 0; may be negative
  Value lower, upper; ///< the window positions that lie inside the input
  bool whole;         ///< all of them do, wherever the window stands
};

/// The window of a pool at one result index (or, along a dimension that is no
/// spatial one or has no padding, at several).
class Window {
public:
  template <typename PoolOp>
  Window(PoolOp op, ElementBuilder &eb, ArrayRef<LaneIndex> index)
      : input(op.getInputMutable()), eb(eb), index(index) {
    auto inShape = op.getInput().getType().getShape();
    auto outShape = op.getResult().getType().getShape();
    int64_t rank = op.getKernel().size();
    int64_t first = op.getLayout() == Layout::ChannelsFirst ? 2 : 1;
    for (int64_t i = 0; i < rank; ++i) {
      WindowDim w;
      w.dim = first + i;
      w.kernel = op.getKernel()[i];
      w.stride = op.getStrides()[i];
      w.dilation = op.getDilations()[i];
      w.size = inShape[w.dim];
      w.padEnd = op.getPads()[i + rank];
      int64_t padBegin = op.getPads()[i];
      int64_t last =
          (outShape[w.dim] - 1) * w.stride + (w.kernel - 1) * w.dilation;
      w.whole = padBegin == 0 && last < w.size;
      w.start = eb.add(eb.mul(index[w.dim].base, w.stride), -padBegin);
      if (w.whole) {
        w.lower = eb.index(0);
        w.upper = eb.index(w.kernel);
      } else {
        w.upper = positionsBefore(w, w.size);
        Value zero = eb.index(0);
        Value missing = arith::SubIOp::create(eb.b, eb.loc, zero, w.start);
        w.lower = arith::MinUIOp::create(
            eb.b, eb.loc, ceilDivide(missing, w.dilation), w.upper);
        valid = valid && index[w.dim].step == 0;
      }
      dims.push_back(w);
    }
  }

  /// Folds the window's elements into `init`, in row-major order. Fails where
  /// the lanes have windows cut off differently.
  FailureOr<Value> reduce(Value init,
                          function_ref<Value(Value, Value)> combine) {
    if (!valid) {
      return failure();
    }
    SmallVector<LaneIndex> inner(index);
    return reduceFrom(0, inner, init, combine);
  }

  /// How many elements lie inside the input, or inside input and padding.
  Value count(bool includePadding) {
    Value result = eb.index(1);
    for (const WindowDim &w : dims) {
      Value positions = w.upper;
      if (!w.whole) {
        positions = includePadding
                        ? positionsBefore(w, w.size + w.padEnd)
                        : arith::SubIOp::create(eb.b, eb.loc, w.upper, w.lower)
                              .getResult();
      }
      result = arith::MulIOp::create(eb.b, eb.loc, result, positions);
    }
    return result;
  }

private:
  /// max(value, 0) / divisor, rounded up.
  Value ceilDivide(Value value, int64_t divisor) {
    value = arith::MaxSIOp::create(eb.b, eb.loc, value, eb.index(0));
    if (divisor == 1) {
      return value;
    }
    return arith::DivUIOp::create(eb.b, eb.loc, eb.add(value, divisor - 1),
                                  eb.index(divisor));
  }

  /// How many window positions, from 0 on, lie before input index `limit`.
  Value positionsBefore(const WindowDim &w, int64_t limit) {
    Value room = arith::SubIOp::create(eb.b, eb.loc, eb.index(limit), w.start);
    return arith::MinUIOp::create(eb.b, eb.loc, ceilDivide(room, w.dilation),
                                  eb.index(w.kernel));
  }

  FailureOr<Value> reduceFrom(size_t i, SmallVector<LaneIndex> &inner,
                              Value init,
                              function_ref<Value(Value, Value)> combine) {
    if (i == dims.size()) {
      FailureOr<Value> element = eb.getOperand(input, inner);
      return failed(element) ? element
                             : FailureOr<Value>(combine(init, *element));
    }
    const WindowDim &w = dims[i];
    auto loop = scf::ForOp::create(eb.b, eb.loc, w.lower, w.upper, eb.index(1),
                                   ValueRange(init));
    OpBuilder::InsertionGuard guard(eb.b);
    eb.b.setInsertionPointToStart(loop.getBody());
    inner[w.dim] = {eb.add(w.start, eb.mul(loop.getInductionVar(), w.dilation)),
                    index[w.dim].step * w.stride};
    FailureOr<Value> next =
        reduceFrom(i + 1, inner, loop.getRegionIterArg(0), combine);
    if (failed(next)) {
      loop.erase();
      return failure();
    }
    scf::YieldOp::create(eb.b, eb.loc, *next);
    return loop.getResult(0);
  }

  OpOperand &input;
  ElementBuilder &eb;
  ArrayRef<LaneIndex> index;
  SmallVector<WindowDim, 3> dims;
  bool valid = true;
};

} // namespace

FailureOr<Value> MaxPoolOp::buildElement(ElementBuilder &eb,
                                         ArrayRef<LaneIndex> index, unsigned) {
  Type element = getResult().getType().getElementType();
  bool isUnsigned = element.isUnsignedInteger();
  double smallest = isUnsigned ? 0.0
                    : isa<FloatType>(element)
                        ? -std::numeric_limits<double>::infinity()
                        : -std::ldexp(1.0, element.getIntOrFloatBitWidth() - 1);
  return Window(*this, eb, index)
      .reduce(eb.constant(getComputeType(element), smallest),
              [&](Value largest, Value value) {
                return buildMax(eb.b, eb.loc, largest, value, isUnsigned);
              });
}

FailureOr<Value> AvgPoolOp::buildElement(ElementBuilder &eb,
                                         ArrayRef<LaneIndex> index, unsigned) {
  Type element = getResult().getType().getElementType();
  Type compute = getComputeType(element);
  Window window(*this, eb, index);
  FailureOr<Value> sum = window.reduce(
      eb.constant(compute, 0), [&](Value partial, Value value) -> Value {
        return arith::AddFOp::create(eb.b, eb.loc, partial, value);
      });
  if (failed(sum)) {
    return failure();
  }
  Value count = arith::IndexCastOp::create(eb.b, eb.loc, eb.b.getI64Type(),
                                           window.count(getCountIncludePad()));
  Value divisor = arith::SIToFPOp::create(eb.b, eb.loc, compute, count);
  Value mean = arith::DivFOp::create(eb.b, eb.loc, *sum, eb.splat(divisor));
  return roundTo16Bit(eb.b, eb.loc, mean, element);
}
