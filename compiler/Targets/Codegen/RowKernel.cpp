//===- RowKernel.cpp - Reductions, softmax and normalizations -------------===//
#include "compiler/Targets/Codegen/RowWalker.h"

#include "dialects/Amp/Impl/MathExpansion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

namespace {

/// Rows along `axes` of a tensor of `shape`.
RowSpace alongAxes(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  RowSpace space;
  SmallVector<bool> reduced(shape.size(), false);
  for (int64_t axis : axes) {
    reduced[axis] = true;
  }
  for (auto [i, size] : llvm::enumerate(shape)) {
    (reduced[i] ? space.row : space.kept).push_back(size);
  }
  space.lanesAlongRow = shape.empty() || reduced.back();
  space.locate = [reduced](ArrayRef<LaneIndex> kept, ArrayRef<LaneIndex> row) {
    SmallVector<LaneIndex> index;
    size_t k = 0, r = 0;
    for (bool isRow : reduced) {
      index.push_back(isRow ? row[r++] : kept[k++]);
    }
    return index;
  };
  return space;
}

class RowKernel {
public:
  RowKernel(KernelEmitter &e, Operation *root)
      : e(e), root(root), input(root->getOperand(0)),
        result(root->getResult(0)),
        element(getComputeType(getElementTypeOrSelf(input.getType()))) {}

  /// `columnVectors`: of neighbouring rows, which lie across memory, that one
  /// thread reduces at once.
  LogicalResult emit(int64_t lanes, int64_t columnVectors);

private:
  LogicalResult emitRow();
  LogicalResult emitReduction(RowWalker::CombineFn combine, TypedAttr identity,
                              function_ref<Value(Value)> finish);
  LogicalResult emitSoftmax(bool logarithm);
  LogicalResult emitNorm(bool centered, Value scale, Value bias,
                         double epsilon);

  /// The input's elements: pulled, or reread from scratch once `cached`.
  Value source(int64_t lanes, ArrayRef<LaneIndex> index, Value position,
               bool cached);
  void keep(Value value, Value position);
  Value parameter(Value tensor, ArrayRef<LaneIndex> index, int64_t lanes);
  Value scalarConstant(double value) {
    return arith::ConstantOp::create(e.b, e.loc,
                                     e.b.getFloatAttr(element, value));
  }
  Value add(Value lhs, Value rhs) {
    return isa<FloatType>(element)
               ? arith::AddFOp::create(e.b, e.loc, lhs, rhs).getResult()
               : arith::AddIOp::create(e.b, e.loc, lhs, rhs).getResult();
  }
  Value mul(Value lhs, Value rhs) {
    return isa<FloatType>(element)
               ? arith::MulFOp::create(e.b, e.loc, lhs, rhs).getResult()
               : arith::MulIOp::create(e.b, e.loc, lhs, rhs).getResult();
  }
  Value sub(Value lhs, Value rhs) {
    return arith::SubFOp::create(e.b, e.loc, lhs, rhs);
  }
  void expect(LogicalResult what) { ok = ok && succeeded(what); }

  /// `scalar` in as many lanes as `like` has.
  Value matching(Value scalar, Value like) {
    auto type = dyn_cast<VectorType>(like.getType());
    return walker->spread(scalar, type ? type.getNumElements() : 1);
  }

  KernelEmitter &e;
  Operation *root;
  Value input, result;
  Type element;
  RowSpace space;
  RowWalker *walker = nullptr;
  bool isMultiPass = false; ///< over each row
  bool useScratch = false;
  bool isHeld = false; ///< the row is in registers
  bool ok = true;
};

RowSpace spaceOf(Operation *root, Value input) {
  ArrayRef<int64_t> shape = shapeOf(input);
  int64_t rank = shape.size();
  auto from = [&](int64_t axis) {
    return alongAxes(
        shape, llvm::to_vector(llvm::seq<int64_t>(std::min(axis, rank), rank)));
  };
  if (auto axes = root->getAttrOfType<DenseI64ArrayAttr>("axes")) {
    return alongAxes(shape, axes);
  }
  if (auto norm = dyn_cast<amp::LayerNormOp>(root)) {
    return from(norm.getAxis());
  }
  if (auto norm = dyn_cast<amp::RmsNormOp>(root)) {
    return from(norm.getAxis());
  }
  if (auto norm = dyn_cast<amp::GroupNormOp>(root)) {
    bool last = norm.getLayout() == amp::Layout::ChannelsLast;
    int64_t groups = norm.getGroups();
    int64_t channels = (last ? shape.back() : shape[1]) / groups;
    RowSpace space;
    space.kept = {shape[0], groups};
    ArrayRef<int64_t> spatial =
        last ? shape.drop_front().drop_back() : shape.drop_front(2);
    if (!last) {
      space.row.push_back(channels);
    }
    llvm::append_range(space.row, spatial);
    if (last) {
      space.row.push_back(channels);
    }
    space.lanesAlongRow = true;
    return space;
  }
  auto axis = root->getAttrOfType<IntegerAttr>("axis");
  return alongAxes(shape, {axis.getInt()});
}

LogicalResult RowKernel::emit(int64_t lanes, int64_t columnVectors) {
  e.reset();
  ok = true;
  space = spaceOf(root, input);
  if (auto norm = dyn_cast<amp::GroupNormOp>(root)) {
    bool last = norm.getLayout() == amp::Layout::ChannelsLast;
    int64_t channels = last ? space.row.back() : space.row.front();
    space.locate = [this, last, channels](ArrayRef<LaneIndex> kept,
                                          ArrayRef<LaneIndex> row) {
      SmallVector<LaneIndex> index{kept[0]};
      LaneIndex channel = last ? row.back() : row.front();
      channel.base =
          e.addIndex(e.mulIndex(kept[1].base, channels), channel.base);
      if (!last) {
        index.push_back(channel);
        llvm::append_range(index, row.drop_front());
      } else {
        llvm::append_range(index, row.drop_back());
        index.push_back(channel);
      }
      return index;
    };
  }
  // Lanes hold neighbouring rows: too few of them leave only the scalar code.
  if (!space.lanesAlongRow && space.kept.back() < lanes) {
    lanes = 1;
  }
  isMultiPass = isa<amp::SoftmaxOp, amp::LogSoftmaxOp, amp::LayerNormOp,
                    amp::RmsNormOp, amp::GroupNormOp>(root);
  while (!space.lanesAlongRow && !isMultiPass && columnVectors > 1 &&
         space.kept.back() % (columnVectors * lanes) != 0) {
    columnVectors /= 2;
  }
  if (!space.lanesAlongRow && !isMultiPass) {
    lanes *= columnVectors;
  }
  std::unique_ptr<RowWalker> rows = e.makeRowWalker(space, lanes);
  walker = rows.get();
  int64_t width = space.lanesAlongRow ? 1 : lanes;
  int64_t bytes =
      space.rowLength() * width * (element.getIntOrFloatBitWidth() / 8);
  useScratch = isMultiPass && rows->canKeep(bytes);
  rows->forEachRow([&] {
    if (!ok) {
      return;
    }
    isHeld = false;
    isHeld = isMultiPass &&
             walker->hold(
                 cast<TypedAttr>(e.b.getZeroAttr(element)),
                 [&](int64_t lanes, ArrayRef<LaneIndex> index, Value position) {
                   return source(lanes, index, position, false);
                 });
    expect(emitRow());
  });
  e.launch.scratchBytes = useScratch ? llvm::alignTo(bytes, 64) : 0;
  return success(ok);
}

Value RowKernel::source(int64_t lanes, ArrayRef<LaneIndex> index,
                        Value position, bool cached) {
  if (isHeld) {
    return walker->held();
  }
  if (cached && useScratch) {
    return e.load(e.scratchPointer(0), element,
                  e.mulIndex(position, walker->rowLanes()), lanes);
  }
  ElementPuller puller(e, lanes);
  FailureOr<Value> value = puller.get(input, index);
  if (failed(value)) {
    ok = false;
    return puller.constant(element, 0);
  }
  return puller.splat(*value);
}

void RowKernel::keep(Value value, Value position) {
  if (isHeld) {
    walker->setHeld(value);
  } else if (useScratch) {
    e.store(value, e.scratchPointer(0), element,
            e.mulIndex(position, walker->rowLanes()));
  }
}

LogicalResult RowKernel::emitReduction(RowWalker::CombineFn combine,
                                       TypedAttr identity,
                                       function_ref<Value(Value)> finish) {
  Value total = walker->reduce(
      identity,
      [&](int64_t lanes, ArrayRef<LaneIndex> index, Value position) {
        return source(lanes, index, position, false);
      },
      combine);
  total = finish(total);
  SmallVector<LaneIndex> index;
  size_t next = 0;
  bool keepdims = root->getAttrOfType<BoolAttr>("keepdims").getValue();
  auto axes = root->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
  for (int64_t i = 0, rank = shapeOf(input).size(); i < rank; ++i) {
    if (!llvm::is_contained(axes, i)) {
      index.push_back(walker->keptIndex()[next++]);
    } else if (keepdims) {
      index.push_back({e.index(0), 0});
    }
  }
  walker->once([&] {
    expect(emitEpilogue(e, result, total, index, walker->rowLanes()));
  });
  return success(ok);
}

LogicalResult RowKernel::emitSoftmax(bool logarithm) {
  auto lowest = e.b.getFloatAttr(
      element, APFloat::getInf(cast<FloatType>(element).getFloatSemantics(),
                               /*Negative=*/true));
  Value largest = walker->reduce(
      lowest,
      [&](int64_t lanes, ArrayRef<LaneIndex> index, Value position) {
        Value x = source(lanes, index, position, false);
        keep(x, position);
        return x;
      },
      [&](Value lhs, Value rhs) {
        return amp::buildMax(e.b, e.loc, lhs, rhs);
      });
  auto shifted = [&](int64_t lanes, ArrayRef<LaneIndex> index, Value position) {
    Value x = source(lanes, index, position, true);
    return sub(x, matching(largest, x));
  };
  Value sum = walker->reduce(
      cast<TypedAttr>(e.b.getZeroAttr(element)),
      [&](int64_t lanes, ArrayRef<LaneIndex> index, Value position) {
        Value power =
            amp::buildExp(e.b, e.loc, shifted(lanes, index, position));
        if (!logarithm) {
          keep(power, position);
        }
        return power;
      },
      [&](Value lhs, Value rhs) { return add(lhs, rhs); });
  Value scale;
  if (logarithm) {
    scale = amp::buildLog(e.b, e.loc, sum);
  } else {
    scale = arith::DivFOp::create(e.b, e.loc, matching(scalarConstant(1), sum),
                                  sum);
  }
  walker->forEachElement(
      [&](int64_t lanes, ArrayRef<LaneIndex> index, Value position) {
        Value value;
        if (logarithm) {
          Value x = shifted(lanes, index, position);
          value = sub(x, matching(scale, x));
        } else {
          Value power =
              useScratch || isHeld
                  ? source(lanes, index, position, true)
                  : amp::buildExp(e.b, e.loc, shifted(lanes, index, position));
          value = mul(power, matching(scale, power));
        }
        expect(emitEpilogue(e, result, value, index, lanes));
      });
  return success(ok);
}

Value RowKernel::parameter(Value tensor, ArrayRef<LaneIndex> index,
                           int64_t lanes) {
  SmallVector<LaneIndex> at;
  if (auto norm = dyn_cast<amp::GroupNormOp>(root)) {
    bool last = norm.getLayout() == amp::Layout::ChannelsLast;
    at.push_back(last ? index.back() : index[1]);
  } else {
    at = broadcastIndex(e, index, shapeOf(tensor));
  }
  ElementPuller puller(e, lanes);
  FailureOr<Value> value = puller.get(tensor, at);
  if (failed(value)) {
    ok = false;
    return puller.constant(element, 0);
  }
  return puller.splat(*value);
}

LogicalResult RowKernel::emitNorm(bool centered, Value scale, Value bias,
                                  double epsilon) {
  auto zero = cast<TypedAttr>(e.b.getZeroAttr(element));
  auto plus = [&](Value lhs, Value rhs) { return add(lhs, rhs); };
  double count = static_cast<double>(space.rowLength());
  auto overCount = [&](Value sum) {
    return arith::DivFOp::create(e.b, e.loc, sum,
                                 matching(scalarConstant(count), sum))
        .getResult();
  };
  Value mean;
  if (centered) {
    mean = overCount(walker->reduce(
        zero,
        [&](int64_t lanes, ArrayRef<LaneIndex> index, Value position) {
          Value x = source(lanes, index, position, false);
          keep(x, position);
          return x;
        },
        plus));
  }
  auto centeredAt = [&](int64_t lanes, ArrayRef<LaneIndex> index,
                        Value position, bool cached) {
    Value x = source(lanes, index, position, cached);
    if (!cached) {
      keep(x, position);
    }
    return mean ? sub(x, matching(mean, x)) : x;
  };
  Value variance = overCount(walker->reduce(
      zero,
      [&](int64_t lanes, ArrayRef<LaneIndex> index, Value position) {
        Value x = centeredAt(lanes, index, position, centered);
        return mul(x, x);
      },
      plus));
  Value shiftedVariance =
      add(variance, matching(scalarConstant(epsilon), variance));
  Value root = math::SqrtOp::create(e.b, e.loc, shiftedVariance);
  Value inverse = arith::DivFOp::create(
      e.b, e.loc, matching(scalarConstant(1), root), root);
  walker->forEachElement(
      [&](int64_t lanes, ArrayRef<LaneIndex> index, Value position) {
        Value x = centeredAt(lanes, index, position, true);
        Value value = mul(x, matching(inverse, x));
        if (scale) {
          value = mul(value, parameter(scale, index, lanes));
        }
        if (bias) {
          value = add(value, parameter(bias, index, lanes));
        }
        expect(emitEpilogue(e, result, value, index, lanes));
      });
  return success(ok);
}

LogicalResult RowKernel::emitRow() {
  bool isUnsigned = getElementTypeOrSelf(input.getType()).isUnsignedInteger() ||
                    element.isInteger(1);
  auto same = [](Value value) { return value; };
  auto number = [&](double value) -> TypedAttr {
    return isa<FloatType>(element) ? TypedAttr(e.b.getFloatAttr(element, value))
                                   : TypedAttr(e.b.getIntegerAttr(
                                         element, static_cast<int64_t>(value)));
  };
  auto extreme = [&](bool lowest) -> TypedAttr {
    if (auto type = dyn_cast<FloatType>(element)) {
      return e.b.getFloatAttr(
          element, APFloat::getInf(type.getFloatSemantics(), lowest));
    }
    unsigned width = element.getIntOrFloatBitWidth();
    APInt value = isUnsigned ? (lowest ? APInt::getMinValue(width)
                                       : APInt::getMaxValue(width))
                             : (lowest ? APInt::getSignedMinValue(width)
                                       : APInt::getSignedMaxValue(width));
    return IntegerAttr::get(element, value);
  };
  auto plus = [&](Value lhs, Value rhs) { return add(lhs, rhs); };
  auto times = [&](Value lhs, Value rhs) { return mul(lhs, rhs); };
  auto larger = [&](Value lhs, Value rhs) {
    return amp::buildMax(e.b, e.loc, lhs, rhs, isUnsigned);
  };
  auto smaller = [&](Value lhs, Value rhs) {
    return amp::buildMin(e.b, e.loc, lhs, rhs, isUnsigned);
  };
  if (isa<amp::ReduceSumOp>(root)) {
    return emitReduction(plus, number(0), same);
  }
  if (isa<amp::ReduceProdOp>(root)) {
    return emitReduction(times, number(1), same);
  }
  if (isa<amp::ReduceMaxOp>(root)) {
    return emitReduction(larger, extreme(true), same);
  }
  if (isa<amp::ReduceMinOp>(root)) {
    return emitReduction(smaller, extreme(false), same);
  }
  if (isa<amp::ReduceMeanOp>(root)) {
    return emitReduction(plus, number(0), [&](Value sum) -> Value {
      Value count = arith::ConstantOp::create(
          e.b, e.loc, number(static_cast<double>(space.rowLength())));
      Value wide = matching(count, sum);
      if (isa<FloatType>(element)) {
        return arith::DivFOp::create(e.b, e.loc, sum, wide);
      }
      if (space.rowLength() == 0) {
        return sum;
      }
      return isUnsigned
                 ? arith::DivUIOp::create(e.b, e.loc, sum, wide).getResult()
                 : arith::DivSIOp::create(e.b, e.loc, sum, wide).getResult();
    });
  }
  if (isa<amp::SoftmaxOp, amp::LogSoftmaxOp>(root)) {
    return emitSoftmax(isa<amp::LogSoftmaxOp>(root));
  }
  if (auto norm = dyn_cast<amp::LayerNormOp>(root)) {
    return emitNorm(true, norm.getScale(), norm.getBias(),
                    norm.getEpsilon().convertToDouble());
  }
  if (auto norm = dyn_cast<amp::RmsNormOp>(root)) {
    return emitNorm(false, norm.getScale(), {},
                    norm.getEpsilon().convertToDouble());
  }
  if (auto norm = dyn_cast<amp::GroupNormOp>(root)) {
    return emitNorm(true, norm.getScale(), norm.getBias(),
                    norm.getEpsilon().convertToDouble());
  }
  return root->emitOpError("has no row kernel");
}

} // namespace

LogicalResult codegen::emitRowKernel(KernelEmitter &emitter, Operation *root) {
  RowKernel kernel(emitter, root);
  int64_t lanes = emitter.traits.lanes;
  // A thread of a CPU reads whole pieces of cache lines; those of a GPU do
  // together.
  int64_t columnVectors = emitter.traits.mapChunk == 0 ? 1 : 4;
  return success(succeeded(kernel.emit(lanes, columnVectors)) ||
                 succeeded(kernel.emit(lanes, 1)) ||
                 succeeded(kernel.emit(1, 1)));
}
