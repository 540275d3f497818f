//===- DepthwiseGradient.cpp - Gradients of depthwise weights -------------===//
// A row for each tap and channel, whose elements are the products at each
// position: neighbouring rows are neighbouring channels.
#include "compiler/Targets/CUDA/Contraction/DepthwiseGradient.h"

#include "compiler/Targets/Codegen/ConvWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

class DepthwiseGradient {
public:
  DepthwiseGradient(CudaEmitter &e, amp::ConvWeightGradientOp op)
      : e(e), op(op), window(op) {
    ArrayRef<int64_t> gradient = shapeOf(op.getGradient());
    space.kept.assign(op.getKernel().begin(), op.getKernel().end());
    space.kept.push_back(gradient.back());
    space.row.assign(gradient.begin(), gradient.end() - 1);
    space.lanesAlongRow = false;
    space.locate = [](ArrayRef<LaneIndex> kept, ArrayRef<LaneIndex> row) {
      SmallVector<LaneIndex> index(kept);
      llvm::append_range(index, row);
      return index;
    };
  }

  LogicalResult emit(int64_t lanes) {
    e.reset();
    std::unique_ptr<RowWalker> walker = e.makeRowWalker(space, lanes);
    auto zero = cast<TypedAttr>(e.b.getZeroAttr(
        getComputeType(getElementTypeOrSelf(op.getInput().getType()))));
    bool ok = true;
    walker->forEachRow([&] {
      Value total = walker->reduce(
          zero,
          [&](int64_t width, ArrayRef<LaneIndex> index, Value) -> Value {
            FailureOr<Value> value = product(index, width);
            ok = ok && succeeded(value);
            return ok ? *value
                      : ElementPuller(e, width).constant(zero.getType(), 0);
          },
          [&](Value lhs, Value rhs) -> Value {
            return arith::AddFOp::create(e.b, e.loc, lhs, rhs);
          });
      walker->once([&] {
        ok = ok &&
             succeeded(finish(walker->keptIndex(), total, walker->rowLanes()));
      });
    });
    return success(ok);
  }

private:
  /// What a position gives to a tap, of `lanes` channels; zeros in the padding.
  FailureOr<Value> product(ArrayRef<LaneIndex> index, int64_t lanes) {
    size_t rank = window.rank();
    LaneIndex channel = index[rank];
    ArrayRef<LaneIndex> position = index.drop_front(rank + 1);
    SmallVector<LaneIndex> out(position), in{position[0]};
    out.push_back(channel);
    Value inside;
    for (size_t i = 0; i < rank; ++i) {
      Value at =
          window.locate(e, i, position[i + 1].base, index[i].base, inside);
      in.push_back({at, 0});
    }
    in.push_back(channel);
    auto multiply = [&]() -> FailureOr<Value> {
      ElementPuller puller(e, lanes);
      FailureOr<Value> g = puller.get(op.getGradient(), out);
      FailureOr<Value> x = puller.get(op.getInput(), in);
      if (failed(g) || failed(x)) {
        return failure();
      }
      return arith::MulFOp::create(e.b, e.loc, puller.splat(*g),
                                   puller.splat(*x))
          .getResult();
    };
    if (!inside) {
      return multiply();
    }
    Type type = getComputeType(getElementTypeOrSelf(op.getInput().getType()));
    Type wide = lanes == 1 ? type : Type(VectorType::get({lanes}, type));
    auto choice =
        scf::IfOp::create(e.b, e.loc, wide, inside, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    FailureOr<Value> value = multiply();
    if (failed(value)) {
      return failure();
    }
    scf::YieldOp::create(e.b, e.loc, *value);
    e.b.setInsertionPointToStart(choice.elseBlock());
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
    scf::YieldOp::create(e.b, e.loc, zero);
    return choice.getResult(0);
  }

  /// The epilogue, channel by channel: a channel's taps lie side by side.
  LogicalResult finish(ArrayRef<LaneIndex> kept, Value total, int64_t lanes) {
    size_t rank = window.rank();
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value one = lanes == 1 ? total
                             : vector::ExtractOp::create(e.b, e.loc, total,
                                                         ArrayRef{lane})
                                   .getResult();
      SmallVector<LaneIndex> index{
          {e.addIndex(kept[rank].base, e.index(lane)), 0}, {e.index(0), 0}};
      llvm::append_range(index, kept.take_front(rank));
      if (failed(emitEpilogue(e, op.getResult(), one, index, 1))) {
        return failure();
      }
    }
    return success();
  }

  CudaEmitter &e;
  amp::ConvWeightGradientOp op;
  ConvWindow window;
  RowSpace space;
};

} // namespace

LogicalResult cuda::emitDepthwiseGradient(CudaEmitter &emitter,
                                          Operation *root) {
  auto op = dyn_cast<amp::ConvWeightGradientOp>(root);
  if (!op || op.getLayout() != amp::Layout::ChannelsLast) {
    return failure();
  }
  int64_t groups = op.getGroup();
  ArrayRef<int64_t> result = shapeOf(op.getResult());
  if (groups == 1 || result[1] != 1 || result[0] != groups) {
    return failure();
  }
  DepthwiseGradient kernel(emitter, op);
  return success(succeeded(kernel.emit(emitter.traits.lanes)) ||
                 succeeded(kernel.emit(1)));
}
