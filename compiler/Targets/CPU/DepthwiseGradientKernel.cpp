//===- DepthwiseGradientKernel.cpp - Gradients of depthwise weights -------===//
// Lanes run over channels. A work item is a vector of channels and all but the
// last dimension of a tap: it walks the rows of the gradient, and the taps of
// the last dimension share each element that it loads.
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

class DepthwiseGradientKernel {
public:
  DepthwiseGradientKernel(CpuEmitter &e, amp::ConvWeightGradientOp op)
      : e(e), op(op), window(op), kernel(op.getKernel()) {
    ArrayRef<int64_t> gradient = shapeOf(op.getGradient());
    rows.assign(gradient.begin(), gradient.end() - 2);
    width = gradient[gradient.size() - 2];
    channels = gradient.back();
  }

  LogicalResult emit() {
    e.reset();
    int64_t lanes = e.traits.lanes;
    int64_t vectors = channels / lanes, rest = channels % lanes;
    SmallVector<int64_t> items{vectors + (rest != 0)};
    llvm::append_range(items, kernel.drop_back());
    e.launch.items = llvm::product_of(items);
    e.launch.grain = 1;
    e.launch.scratchBytes = llvm::alignTo(kernel.back() * lanes * 4, 64);
    bool ok = true;
    e.forEachItem([&](Value item) {
      SmallVector<Value> at = e.delinearize(item, items);
      ArrayRef<Value> taps = ArrayRef(at).drop_front();
      Value first = e.mulIndex(at[0], lanes);
      auto whole = [&] { ok = ok && succeeded(emitItem(first, taps, lanes)); };
      auto tail = [&] {
        e.forLoop(e.index(vectors * lanes), e.index(channels), 1,
                  [&](Value c) { ok = ok && succeeded(emitItem(c, taps, 1)); });
      };
      if (rest == 0) {
        whole();
      } else if (vectors == 0) {
        tail();
      } else {
        Value isWhole = arith::CmpIOp::create(
            e.b, e.loc, arith::CmpIPredicate::ult, at[0], e.index(vectors));
        auto choice = scf::IfOp::create(e.b, e.loc, isWhole, /*withElse=*/true);
        OpBuilder::InsertionGuard guard(e.b);
        e.b.setInsertionPointToStart(choice.thenBlock());
        whole();
        e.b.setInsertionPointToStart(choice.elseBlock());
        tail();
      }
    });
    return success(ok);
  }

private:
  LogicalResult emitItem(Value channel, ArrayRef<Value> taps, int64_t lanes) {
    // As many taps as there are registers for, each over all positions.
    int64_t most = e.machine.registers - 4;
    for (int64_t from = 0; from < kernel.back(); from += most) {
      int64_t to = std::min(kernel.back(), from + most);
      SmallVector<Value> sums = sumRows(channel, taps, from, to, lanes);
      if (sums.empty()) {
        return failure();
      }
      for (auto [i, sum] : llvm::enumerate(sums)) {
        int64_t tap = from + static_cast<int64_t>(i);
        e.store(sum, e.scratchPointer(0), e.b.getF32Type(),
                e.index(tap * e.traits.lanes));
      }
    }
    return finish(channel, taps, lanes);
  }

  /// The sums for the last taps [from, to); none on failure.
  SmallVector<Value> sumRows(Value channel, ArrayRef<Value> taps, int64_t from,
                             int64_t to, int64_t lanes) {
    Value zero = ElementPuller(e, lanes).constant(e.b.getF32Type(), 0);
    SmallVector<Value> init(to - from, zero);
    bool ok = true;
    SmallVector<Value> sums = e.forLoopCarried(
        e.index(0), e.index(llvm::product_of(rows)), 1, init,
        [&](Value number, ValueRange carried) {
          SmallVector<Value> row = e.delinearize(number, rows);
          SmallVector<Value> in{row[0]};
          Value inside;
          for (size_t i = 0; i + 1 < window.rank(); ++i) {
            in.push_back(window.locate(e, i, row[i + 1], taps[i], inside));
          }
          return guarded(inside, SmallVector<Value>(carried), [&] {
            return e.forLoopCarried(
                e.index(0), e.index(width), 1, carried,
                [&](Value x, ValueRange inner) {
                  SmallVector<Value> next(inner);
                  ok = ok && succeeded(addPosition(row, in, x, channel, from,
                                                   lanes, next));
                  return next;
                });
          });
        });
    return ok ? sums : SmallVector<Value>();
  }

  /// Adds the products of one element of the gradient to the sums of the taps.
  LogicalResult addPosition(ArrayRef<Value> row, ArrayRef<Value> in, Value x,
                            Value channel, int64_t from, int64_t lanes,
                            SmallVector<Value> &sums) {
    SmallVector<Value> out(row);
    out.push_back(x);
    FailureOr<Value> g = pull(op.getGradient(), out, channel, lanes);
    bool ok = succeeded(g);
    for (size_t t = 0; ok && t < sums.size(); ++t) {
      Value inside;
      SmallVector<Value> at(in);
      at.push_back(window.locate(e, window.rank() - 1, x,
                                 e.index(from + static_cast<int64_t>(t)),
                                 inside));
      sums[t] = guarded(inside, {sums[t]}, [&]() -> SmallVector<Value> {
        FailureOr<Value> value = pull(op.getInput(), at, channel, lanes);
        ok = ok && succeeded(value);
        return {ok ? math::FmaOp::create(e.b, e.loc, *g, *value, sums[t])
                         .getResult()
                   : sums[t]};
      })[0];
    }
    return success(ok);
  }

  /// What `body` makes of `values` where `condition` holds; null: always.
  SmallVector<Value> guarded(Value condition, SmallVector<Value> values,
                             function_ref<SmallVector<Value>()> body) {
    if (!condition) {
      return body();
    }
    auto choice = scf::IfOp::create(e.b, e.loc, TypeRange(ValueRange(values)),
                                    condition, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(e.b, e.loc, body());
    e.b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(e.b, e.loc, values);
    return SmallVector<Value>(choice.getResults());
  }

  FailureOr<Value> pull(Value tensor, ArrayRef<Value> at, Value channel,
                        int64_t lanes) {
    SmallVector<LaneIndex> index;
    for (Value i : at) {
      index.push_back({i, 0});
    }
    index.push_back({channel, lanes == 1 ? 0 : 1});
    ElementPuller puller(e, lanes);
    FailureOr<Value> value = puller.get(tensor, index);
    return failed(value) ? value : FailureOr<Value>(puller.splat(*value));
  }

  /// The epilogue, channel by channel: a channel's taps lie side by side.
  LogicalResult finish(Value channel, ArrayRef<Value> taps, int64_t lanes) {
    bool ok = true;
    e.forLoop(e.index(0), e.index(lanes), 1, [&](Value lane) {
      e.forLoop(e.index(0), e.index(kernel.back()), 1, [&](Value tap) {
        Value at = e.addIndex(e.mulIndex(tap, e.traits.lanes), lane);
        Value sum = e.load(e.scratchPointer(0), e.b.getF32Type(), at, 1);
        SmallVector<LaneIndex> index{{e.addIndex(channel, lane), 0},
                                     {e.index(0), 0}};
        for (Value t : taps) {
          index.push_back({t, 0});
        }
        index.push_back({tap, 0});
        ok = ok && succeeded(emitEpilogue(e, op.getResult(), sum, index, 1));
      });
    });
    return success(ok);
  }

  CpuEmitter &e;
  amp::ConvWeightGradientOp op;
  ConvWindow window;
  ArrayRef<int64_t> kernel;
  SmallVector<int64_t> rows; ///< samples, and all but the last output position
  int64_t width = 0, channels = 0;
};

} // namespace

LogicalResult cpu::emitDepthwiseGradientKernel(CpuEmitter &emitter,
                                               Operation *root) {
  auto op = dyn_cast<amp::ConvWeightGradientOp>(root);
  if (!op || op.getLayout() != amp::Layout::ChannelsLast) {
    return failure();
  }
  int64_t groups = op.getGroup();
  ArrayRef<int64_t> result = shapeOf(op.getResult());
  bool fits =
      groups > 1 && result[1] == 1 && result[0] == groups &&
      getComputeType(op.getInput().getType().getElementType()).isF32() &&
      llvm::product_of(op.getKernel()) > 0;
  return fits ? DepthwiseGradientKernel(emitter, op).emit() : failure();
}
