//===- DepthwiseKernel.cpp - Convolutions of each channel by itself -------===//
// Lanes run over channels: a tap is one load of the input, one of the packed
// weight and one fma. A work item is a row of pixels.
#include "compiler/Targets/CPU/Contraction.h"

#include "compiler/Targets/Codegen/ConvWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

namespace {

class DepthwiseKernel {
public:
  DepthwiseKernel(CpuEmitter &e, amp::ConvOp op) : e(e), op(op) {
    auto out = op.getResult().getType().getShape();
    pixels.assign(out.begin(), out.end() - 1);
    channels = out.back();
    auto weight = op.getWeight().getType().getShape();
    kernel.assign(weight.begin() + 2, weight.end());
    auto unpack = op.getWeight().getDefiningOp<amp::UnpackOp>();
    weightArgument = cast<BlockArgument>(unpack.getInput());
    panel = unpack.getPanel();
  }

  LogicalResult emit() {
    e.reset();
    int64_t lanes = e.traits.lanes;
    int64_t rows = 1;
    for (int64_t size : ArrayRef(pixels).drop_back()) {
      rows *= size;
    }
    e.launch.items = rows;
    e.launch.grain = std::max<int64_t>(
        1, 4096 / std::max<int64_t>(pixels.back() * channels, 1));
    bool ok = true;
    e.forEachItem([&](Value item) {
      SmallVector<Value> outer =
          e.delinearize(item, ArrayRef(pixels).drop_back());
      e.forLoop(e.index(0), e.index(pixels.back()), 1, [&](Value x) {
        SmallVector<Value> pixel(outer);
        pixel.push_back(x);
        int64_t main = channels / lanes * lanes;
        if (main != 0) {
          e.forLoop(e.index(0), e.index(main), lanes, [&](Value c) {
            ok = ok && succeeded(emitElements(pixel, c, lanes));
          });
        }
        if (main != channels) {
          e.forLoop(e.index(main), e.index(channels), 1, [&](Value c) {
            ok = ok && succeeded(emitElements(pixel, c, 1));
          });
        }
      });
    });
    return success(ok);
  }

private:
  LogicalResult emitElements(ArrayRef<Value> pixel, Value c, int64_t lanes) {
    LaneIndex channel{c, lanes == 1 ? 0 : 1};
    ElementPuller zero(e, lanes);
    Value acc = zero.constant(e.b.getF32Type(), 0);
    int64_t taps = 1;
    for (int64_t size : kernel) {
      taps *= size;
    }
    // Panels of channels: [panels][taps][panel].
    Value number = arith::DivUIOp::create(e.b, e.loc, c, e.index(panel));
    Value within = arith::RemUIOp::create(e.b, e.loc, c, e.index(panel));
    Value base = e.addIndex(e.mulIndex(number, taps * panel), within);
    bool ok = true;
    for (int64_t tap = 0; tap < taps; ++tap) {
      SmallVector<LaneIndex> at{{pixel[0], 0}};
      Value inside = position(pixel, tap, at);
      at.push_back(channel);
      auto term = [&](Value sum) {
        ElementPuller puller(e, lanes);
        FailureOr<Value> x = puller.get(op.getInput(), at);
        ok = ok && succeeded(x);
        if (!ok) {
          return sum;
        }
        Value w = e.load(e.argumentPointer(weightArgument.getArgNumber()),
                         getElementTypeOrSelf(weightArgument.getType()),
                         e.addIndex(base, e.index(tap * panel)), lanes);
        return math::FmaOp::create(e.b, e.loc, puller.splat(*x), w, sum)
            .getResult();
      };
      if (!inside) {
        acc = term(acc);
        continue;
      }
      auto choice = scf::IfOp::create(e.b, e.loc, acc.getType(), inside, true);
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(choice.thenBlock());
      Value sum = term(acc);
      scf::YieldOp::create(e.b, e.loc, sum);
      e.b.setInsertionPointToStart(choice.elseBlock());
      scf::YieldOp::create(e.b, e.loc, acc);
      acc = choice.getResult(0);
    }
    if (!ok) {
      return failure();
    }
    SmallVector<LaneIndex> index;
    for (Value i : pixel) {
      index.push_back({i, 0});
    }
    index.push_back(channel);
    FailureOr<Value> biased =
        addBias(e, op.getBias(), op.getResult(), acc, index, lanes);
    if (failed(biased)) {
      return failure();
    }
    return emitEpilogue(e, op.getResult(), *biased, index, lanes);
  }

  /// The input position under a tap; returns whether it is inside, null when
  /// it always is.
  Value position(ArrayRef<Value> pixel, int64_t tap,
                 SmallVector<LaneIndex> &at) {
    SmallVector<int64_t> taps(kernel.size());
    for (size_t i = kernel.size(); i-- > 0;) {
      taps[i] = tap % kernel[i];
      tap /= kernel[i];
    }
    Value inside;
    ConvWindow window(op);
    for (size_t i = 0; i < kernel.size(); ++i) {
      at.push_back(
          {window.locate(e, i, pixel[i + 1], e.index(taps[i]), inside), 0});
    }
    return inside;
  }

  CpuEmitter &e;
  amp::ConvOp op;
  SmallVector<int64_t> pixels, kernel;
  int64_t channels = 0, panel = 0;
  BlockArgument weightArgument;
};

} // namespace

LogicalResult cpu::emitDepthwiseKernel(CpuEmitter &emitter, Operation *root) {
  auto conv = dyn_cast<amp::ConvOp>(root);
  if (!conv || conv.getLayout() != amp::Layout::ChannelsLast) {
    return failure();
  }
  auto weight = conv.getWeight().getType();
  auto unpack = conv.getWeight().getDefiningOp<amp::UnpackOp>();
  Type element = weight.getElementType();
  bool fits =
      unpack && isa<BlockArgument>(unpack.getInput()) &&
      weight.getDimSize(1) == 1 && conv.getGroup() > 1 &&
      weight.getDimSize(0) == conv.getInput().getType().getShape().back() &&
      (element.isF32() || element.isF16() || element.isBF16()) &&
      unpack.getPanel() % emitter.traits.lanes == 0;
  return fits ? DepthwiseKernel(emitter, conv).emit() : failure();
}
