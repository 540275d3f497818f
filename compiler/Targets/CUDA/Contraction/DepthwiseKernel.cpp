//===- DepthwiseKernel.cpp - Each channel convolved by itself -------------===//
// A thread computes a vector of channels of a few neighbouring results. An
// element of the input is read once for all of them that it goes into.
#include "compiler/Targets/CUDA/CudaEmitter.h"

#include "compiler/Targets/Codegen/ConvWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

#include <map>

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

class DepthwiseKernel {
public:
  DepthwiseKernel(CudaEmitter &e, amp::ConvOp op, int64_t lanes)
      : e(e), op(op), window(op), lanes(lanes), out(shapeOf(op.getResult())),
        kernel(shapeOf(op.getWeight()).drop_front(2)),
        results(std::min<int64_t>(4, rowLength())) {}

  LogicalResult emit();

private:
  int64_t rowLength() const { return out[out.size() - 2]; }
  size_t last() const { return kernel.size() - 1; }

  SmallVector<Value> emitRow(ArrayRef<Value> position, ArrayRef<Value> taps,
                             ValueRange sums);
  FailureOr<Value> inputAt(ArrayRef<Value> position, int64_t distance);
  FailureOr<Value> weightAt(ArrayRef<Value> taps, int64_t tap);
  LogicalResult finish(Value sum, int64_t number);
  Value splatZero();
  LaneIndex channels() const { return {channel, lanes == 1 ? 0 : 1}; }

  CudaEmitter &e;
  amp::ConvOp op;
  ConvWindow window;
  int64_t lanes;
  ArrayRef<int64_t> out, kernel;
  int64_t results;       ///< that a thread computes
  SmallVector<Value> at; ///< of the first of them, without the channel
  Value channel;
  bool ok = true;
};

LogicalResult DepthwiseKernel::emit() {
  e.reset();
  SmallVector<int64_t> space(out);
  space[space.size() - 2] = llvm::divideCeil(rowLength(), results);
  space.back() /= lanes;
  e.launch.items = llvm::product_of(space);
  e.forEachItem([&](Value item) {
    at = e.delinearize(item, space);
    channel = e.mulIndex(at.pop_back_val(), lanes);
    at.back() = e.mulIndex(at.back(), results);
    SmallVector<Value> sums(results, splatZero());
    ArrayRef<int64_t> outer = kernel.drop_back();
    sums = e.forLoopCarried(
        e.index(0), e.index(llvm::product_of(outer)), 1, sums,
        [&](Value i, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> taps = e.delinearize(i, outer), position;
          Value inside;
          for (size_t d = 0; d < last(); ++d) {
            position.push_back(window.locate(e, d, at[d + 1], taps[d], inside));
          }
          if (!inside) {
            return emitRow(position, taps, carried);
          }
          auto choice = scf::IfOp::create(e.b, e.loc, carried.getTypes(),
                                          inside, /*withElse=*/true);
          OpBuilder::InsertionGuard guard(e.b);
          e.b.setInsertionPointToStart(choice.elseBlock());
          scf::YieldOp::create(e.b, e.loc, carried);
          e.b.setInsertionPointToStart(choice.thenBlock());
          SmallVector<Value> row = emitRow(position, taps, carried);
          scf::YieldOp::create(e.b, e.loc, row);
          return SmallVector<Value>(choice.getResults());
        });
    for (int64_t i = 0; i < results; ++i) {
      Value place = e.addIndex(at.back(), e.index(i));
      e.onlyIf(rowLength() % results == 0 ? Value()
                                          : e.isBelow(place, rowLength()),
               [&] { ok = ok && succeeded(finish(sums[i], i)); });
    }
  });
  return success(ok);
}

Value DepthwiseKernel::splatZero() {
  Type type = getComputeType(getElementTypeOrSelf(op.getResult().getType()));
  Type wide = lanes == 1 ? type : Type(VectorType::get({lanes}, type));
  return arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
}

/// Adds the products of the taps along the last dimension.
SmallVector<Value> DepthwiseKernel::emitRow(ArrayRef<Value> position,
                                            ArrayRef<Value> taps,
                                            ValueRange sums) {
  SmallVector<Value> row(sums);
  std::map<int64_t, Value> inputs; // by distance from the first result's first
  for (int64_t tap = 0; tap < kernel[last()]; ++tap) {
    FailureOr<Value> weight = weightAt(taps, tap);
    for (int64_t i = 0; i < results; ++i) {
      int64_t distance =
          i * window.strides[last()] + tap * window.dilations[last()];
      Value &input = inputs[distance];
      if (!input) {
        FailureOr<Value> loaded = inputAt(position, distance);
        ok = ok && succeeded(loaded);
        input = succeeded(loaded) ? *loaded : splatZero();
      }
      if (failed(weight)) {
        ok = false;
        return row;
      }
      row[i] = math::FmaOp::create(e.b, e.loc, input, *weight, row[i]);
    }
  }
  return row;
}

FailureOr<Value> DepthwiseKernel::inputAt(ArrayRef<Value> position,
                                          int64_t distance) {
  int64_t low = window.pads[last()], high = window.pads[last() + window.rank()];
  Value column = e.addIndex(e.mulIndex(at.back(), window.strides[last()]),
                            e.index(distance - low));
  SmallVector<LaneIndex> index{{at.front(), 0}};
  for (Value p : position) {
    index.push_back({p, 0});
  }
  index.push_back({column, 0});
  index.push_back(channels());
  auto pull = [&]() -> FailureOr<Value> {
    ElementPuller puller(e, lanes);
    FailureOr<Value> value = puller.get(op.getInput(), index);
    return failed(value) ? value : FailureOr<Value>(puller.splat(*value));
  };
  if (low <= 0 && high <= 0 && rowLength() % results == 0) {
    return pull();
  }
  // One unsigned comparison covers both sides.
  Value inside = e.isBelow(column, window.sizes[last()]);
  Value zero = splatZero();
  auto choice = scf::IfOp::create(e.b, e.loc, zero.getType(), inside,
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(e.b, e.loc, zero);
  e.b.setInsertionPointToStart(choice.thenBlock());
  FailureOr<Value> value = pull();
  scf::YieldOp::create(e.b, e.loc, succeeded(value) ? *value : zero);
  return failed(value) ? value : FailureOr<Value>(choice.getResult(0));
}

FailureOr<Value> DepthwiseKernel::weightAt(ArrayRef<Value> taps, int64_t tap) {
  SmallVector<LaneIndex> index{channels(), {e.index(0), 0}};
  for (Value t : taps) {
    index.push_back({t, 0});
  }
  index.push_back({e.index(tap), 0});
  ElementPuller puller(e, lanes);
  FailureOr<Value> value = puller.get(op.getWeight(), index);
  return failed(value) ? value : FailureOr<Value>(puller.splat(*value));
}

LogicalResult DepthwiseKernel::finish(Value sum, int64_t number) {
  SmallVector<LaneIndex> index;
  for (Value i : at) {
    index.push_back({i, 0});
  }
  index.back().base = e.addIndex(at.back(), e.index(number));
  index.push_back(channels());
  FailureOr<Value> biased =
      addBias(e, op.getBias(), op.getResult(), sum, index, lanes);
  return failed(biased)
             ? failure()
             : emitEpilogue(e, op.getResult(), *biased, index, lanes);
}

} // namespace

LogicalResult cuda::emitDepthwiseConvolution(CudaEmitter &emitter,
                                             Operation *root) {
  auto conv = dyn_cast<amp::ConvOp>(root);
  if (!conv || conv.getLayout() != amp::Layout::ChannelsLast ||
      !isa<FloatType>(getElementTypeOrSelf(conv.getResult().getType()))) {
    return failure();
  }
  ArrayRef<int64_t> weight = shapeOf(conv.getWeight());
  int64_t channels = shapeOf(conv.getInput()).back();
  bool isDepthwise = weight[1] == 1 && weight[0] == channels &&
                     static_cast<int64_t>(conv.getGroup()) == channels;
  if (!isDepthwise || weight.size() < 3) {
    return failure();
  }
  int64_t lanes = emitter.traits.lanes;
  while (channels % lanes != 0) {
    lanes /= 2;
  }
  return success(
      succeeded(DepthwiseKernel(emitter, conv, lanes).emit()) ||
      (lanes > 1 && succeeded(DepthwiseKernel(emitter, conv, 1).emit())));
}
