//===- IndexedResize.cpp - Elements of interpolated tensors ---------------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Impl/BodyBuilder.h"
#include "dialects/Amp/Impl/Conversion.h"
#include "dialects/Amp/Impl/LaneIndices.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

using Float = BodyBuilder::Float;

namespace {

/// A dimension that is interpolated.
struct Axis {
  int64_t dim, size;   ///< of the input
  double spread;       ///< factor on distances: below 1 with antialiasing
  int64_t first, taps; ///< input elements read: from base + first on
  Value base;          ///< input index left of the coordinate
  Value ratio;         ///< f64: how far right of it, in [0, 1)
  Value weightSum;     ///< f64, or null when it is 1
};

class Resizer {
public:
  Resizer(ResizeOp op, ElementBuilder &eb, ArrayRef<LaneIndex> index)
      : op(op), eb(eb), inner(index),
        element(op.getResult().getType().getElementType()) {}

  FailureOr<Value> build() {
    for (size_t dim = 0; dim < inner.size(); ++dim) {
      if (!isIdentity(dim) && failed(addAxis(dim))) {
        return failure();
      }
    }
    FailureOr<Value> value = op.getMode() == ResizeMode::Nearest
                                 ? eb.getOperand(op.getInputMutable(), inner)
                                 : interpolate(0);
    if (failed(value)) {
      return failure();
    }
    Value result = *value;
    if (op.getMode() != ResizeMode::Nearest) {
      result = isa<FloatType>(element)
                   ? roundTo16Bit(eb.b, eb.loc, result, element)
                   : buildConversion(eb.b, eb.loc, result, sumType(), element);
    }
    if (inside) {
      Type f64 = eb.b.getF64Type();
      double outside = op.getExtrapolationValue().convertToDouble();
      Value other = buildConversion(eb.b, eb.loc, eb.constant(f64, outside),
                                    f64, element);
      result = arith::SelectOp::create(eb.b, eb.loc, inside, result, other);
    }
    return result;
  }

private:
  int64_t inputSize(size_t dim) {
    return op.getInput().getType().getDimSize(dim);
  }
  int64_t resultSize(size_t dim) {
    return op.getResult().getType().getDimSize(dim);
  }
  /// The region of `tf_crop_and_resize` along a dimension.
  std::pair<double, double> region(size_t dim) {
    auto roi = op.getRoi();
    return roi ? std::make_pair((*roi)[dim], (*roi)[dim + inner.size()])
               : std::make_pair(0.0, 1.0);
  }
  bool isCrop() {
    return op.getCoordinateMode() == CoordinateMode::TfCropAndResize;
  }
  bool isIdentity(size_t dim) {
    return inputSize(dim) == resultSize(dim) && op.getScales()[dim] == 1.0 &&
           (!isCrop() || region(dim) == std::make_pair(0.0, 1.0));
  }
  /// The type in which elements are weighted and summed.
  Type sumType() {
    bool wide = element.isF64() || (isa<IntegerType>(element) &&
                                    element.getIntOrFloatBitWidth() > 16);
    return wide ? Type(eb.b.getF64Type()) : Type(eb.b.getF32Type());
  }

  /// An index as f64.
  Value toFloat(Value index) {
    Value integer =
        arith::IndexCastOp::create(eb.b, eb.loc, eb.b.getI64Type(), index);
    return arith::SIToFPOp::create(eb.b, eb.loc, eb.b.getF64Type(), integer);
  }
  /// An integral f64 as an index, bounded far outside of any dimension.
  Value toIndex(BodyBuilder &m, Value x) {
    Value high = m.constantLike(x, 0x1p40), low = m.constantLike(x, -0x1p40);
    x = m.select(m.compare(Float::OLT, x, high), x, high);
    x = m.select(m.compare(Float::OGT, x, low), x, low);
    Value integer = m.make<arith::FPToSIOp>(eb.b.getI64Type(), x);
    return m.make<arith::IndexCastOp>(eb.b.getIndexType(), integer);
  }

  /// The input coordinate of result coordinate `x`, as ONNX defines it.
  Value coordinate(BodyBuilder &m, Value x, size_t dim) {
    double scale = op.getScales()[dim];
    double in = inputSize(dim), out = resultSize(dim);
    // The size that `scales` says, which may have a fraction; `out` is whole.
    double exactOut = scale * in;
    if (std::fabs(exactOut - out) < 1e-6) {
      exactOut = out;
    }
    auto number = [&](double value) { return m.constantLike(x, value); };
    auto halfPixel = [&] {
      return m.sub(m.div(m.add(x, number(0.5)), number(scale)), number(0.5));
    };
    switch (op.getCoordinateMode()) {
    case CoordinateMode::HalfPixel:
      return halfPixel();
    case CoordinateMode::HalfPixelSymmetric:
      return m.add(number(in / 2 * (1 - out / exactOut)), halfPixel());
    case CoordinateMode::PytorchHalfPixel:
      return out > 1 ? halfPixel() : number(0.0);
    case CoordinateMode::AlignCorners:
      return out > 1 ? m.div(m.mul(x, number(in - 1)), number(exactOut - 1))
                     : number(0.0);
    case CoordinateMode::Asymmetric:
      return m.div(x, number(scale));
    case CoordinateMode::TfHalfPixelForNN:
      return m.div(m.add(x, number(0.5)), number(scale));
    case CoordinateMode::TfCropAndResize: {
      auto [begin, end] = region(dim);
      if (out <= 1) {
        return number(0.5 * (begin + end) * (in - 1));
      }
      Value offset = m.div(m.mul(x, number((end - begin) * (in - 1))),
                           number(exactOut - 1));
      return m.add(offset, number(begin * (in - 1)));
    }
    }
    llvm_unreachable("coordinate modes are covered");
  }

  LogicalResult addAxis(size_t dim) {
    if (inner[dim].step != 0) {
      return failure();
    }
    int64_t size = inputSize(dim);
    Value result = toFloat(inner[dim].base);
    BodyBuilder m(eb.b, eb.loc, result);
    Value x = coordinate(m, result, dim);
    if (isCrop()) {
      Value last = m.constantLike(x, static_cast<double>(size - 1));
      Value within = m.bitAnd(m.compare(Float::OGE, x, m.constantLike(x, 0.0)),
                              m.compare(Float::OLE, x, last));
      inside = inside ? m.bitAnd(inside, within) : within;
    }
    if (op.getMode() == ResizeMode::Nearest) {
      inner[dim].base = clampIndex(eb, toIndex(m, nearest(m, x)), size);
      return success();
    }
    Axis axis;
    axis.dim = dim;
    axis.size = size;
    double scale = op.getScales()[dim];
    axis.spread = op.getAntialias() ? std::min(scale, 1.0) : 1.0;
    double reach = op.getMode() == ResizeMode::Linear ? 1.0 : 2.0;
    // A scale that does not belong to the sizes must not make endless loops.
    double first = std::max(std::floor(-reach / axis.spread) + 1,
                            -2.0 * static_cast<double>(size) - 2.0);
    axis.first = static_cast<int64_t>(first);
    axis.taps = 2 - 2 * axis.first;
    Value floor = m.make<math::FloorOp>(x);
    axis.base = toIndex(m, floor);
    axis.ratio = m.sub(x, floor);
    if (axis.spread < 1.0 || op.getExcludeOutside()) {
      FailureOr<Value> sum = sumTaps(axis, eb.b.getF64Type(), [&](Value tap) {
        return FailureOr<Value>(weight(axis, tap));
      });
      axis.weightSum = *sum;
    }
    axes.push_back(axis);
    return success();
  }

  Value nearest(BodyBuilder &m, Value x) {
    Value half = m.constantLike(x, 0.5);
    switch (op.getNearestMode()) {
    case NearestMode::RoundPreferFloor:
      return m.make<math::CeilOp>(m.sub(x, half));
    case NearestMode::RoundPreferCeil:
      return m.make<math::FloorOp>(m.add(x, half));
    case NearestMode::Floor:
      return m.make<math::FloorOp>(x);
    case NearestMode::Ceil:
      return m.make<math::CeilOp>(x);
    }
    llvm_unreachable("nearest modes are covered");
  }

  /// The weight of a tap, an index in [0, axis.taps), before normalization.
  Value weight(const Axis &axis, Value tap) {
    BodyBuilder m(eb.b, eb.loc, axis.ratio);
    Value x = axis.ratio;
    auto number = [&](double value) { return m.constantLike(x, value); };
    Value place = toFloat(eb.add(tap, axis.first));
    Value d = m.mul(m.abs(m.sub(place, x)), number(axis.spread));
    Value zero = number(0.0), one = number(1.0), result;
    if (op.getMode() == ResizeMode::Linear) {
      Value line = m.sub(one, d);
      result = m.select(m.compare(Float::OGT, line, zero), line, zero);
    } else {
      double a = op.getCubicCoeff().convertToDouble();
      Value near = m.polynomial(d, {1.0, 0.0, -(a + 3), a + 2});
      Value far = m.polynomial(d, {-4 * a, 8 * a, -5 * a, a});
      far = m.select(m.compare(Float::OLT, d, number(2.0)), far, zero);
      result = m.select(m.compare(Float::OLE, d, one), near, far);
    }
    if (op.getExcludeOutside()) {
      Value position = eb.add(axis.base, eb.add(tap, axis.first));
      result = m.select(isWithin(eb, position, axis.size), result, zero);
    }
    return axis.weightSum ? m.div(result, axis.weightSum) : result;
  }

  /// The sum over an axis' taps of what `term` builds, of the element type
  /// `type`: a few in a row, more as a loop.
  FailureOr<Value> sumTaps(const Axis &axis, Type type,
                           function_ref<FailureOr<Value>(Value)> term) {
    auto add = [&](Value sum, FailureOr<Value> value) -> Value {
      return arith::AddFOp::create(eb.b, eb.loc, sum, *value);
    };
    if (axis.taps <= 4) {
      FailureOr<Value> sum = term(eb.index(0));
      for (int64_t tap = 1; succeeded(sum) && tap < axis.taps; ++tap) {
        FailureOr<Value> value = term(eb.index(tap));
        sum = failed(value) ? value : FailureOr<Value>(add(*sum, value));
      }
      return sum;
    }
    Value zero =
        arith::ConstantOp::create(eb.b, eb.loc, eb.b.getZeroAttr(type));
    auto loop =
        scf::ForOp::create(eb.b, eb.loc, eb.index(0), eb.index(axis.taps),
                           eb.index(1), ValueRange(zero));
    OpBuilder::InsertionGuard guard(eb.b);
    eb.b.setInsertionPointToStart(loop.getBody());
    FailureOr<Value> value = term(loop.getInductionVar());
    if (failed(value)) {
      loop.erase();
      return failure();
    }
    scf::YieldOp::create(eb.b, eb.loc, add(loop.getRegionIterArg(0), value));
    return loop.getResult(0);
  }

  /// The weighted sum over the axes from number `i` on.
  FailureOr<Value> interpolate(size_t i) {
    Type type = sumType();
    if (i == axes.size()) {
      FailureOr<Value> value = eb.getOperand(op.getInputMutable(), inner);
      if (failed(value) || isa<FloatType>(element)) {
        return value;
      }
      return buildConversion(eb.b, eb.loc, *value, element, type);
    }
    const Axis &axis = axes[i];
    return sumTaps(axis, eb.laneType(type), [&](Value tap) -> FailureOr<Value> {
      Value position = eb.add(axis.base, eb.add(tap, axis.first));
      inner[axis.dim] = {clampIndex(eb, position, axis.size), 0};
      FailureOr<Value> value = interpolate(i + 1);
      if (failed(value)) {
        return failure();
      }
      Value factor = weight(axis, tap);
      if (!type.isF64()) {
        factor = arith::TruncFOp::create(eb.b, eb.loc, type, factor);
      }
      return Value(arith::MulFOp::create(eb.b, eb.loc, eb.splat(factor),
                                         eb.splat(*value)));
    });
  }

  ResizeOp op;
  ElementBuilder &eb;
  SmallVector<LaneIndex> inner;
  Type element;
  SmallVector<Axis> axes;
  Value inside; ///< i1: no coordinate is extrapolated; null when none can be
};

} // namespace

FailureOr<Value> ResizeOp::buildElement(ElementBuilder &eb,
                                        ArrayRef<LaneIndex> index, unsigned) {
  return Resizer(*this, eb, index).build();
}
