//===- EmitContraction.cpp - Contractions by tiles of their result --------===//
// A block computes a tile of the result. Slices of both matrices along k pass
// through a ring of stages in shared memory: while the block multiplies one,
// the next are on their way. The sums then go to the epilogue.
#include "compiler/Targets/CUDA/Contraction/BlockProduct.h"
#include "compiler/Targets/CUDA/Contraction/SliceLoader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

class TiledContraction {
public:
  TiledContraction(CudaEmitter &e, GemmView &view, bool vectors)
      : e(e), view(view), tile(chooseTile(view, e.sharedBytes)),
        threads(tile.warps() * 32), left(sharedTile(GemmView::Side::Left, 0)),
        right(sharedTile(GemmView::Side::Right, left.bytes())),
        stageBytes(left.bytes() + right.bytes()),
        product(e, view, tile, left, right),
        epilogue(e, view, tile.m, tile.n, threads, vectors) {
    for (GemmView::Side side : {GemmView::Side::Left, GemmView::Side::Right}) {
      bool isLeft = side == GemmView::Side::Left;
      loaders.push_back(std::make_unique<RegisterLoader>(
          e, view, side, isLeft ? left : right, isLeft ? tile.m : tile.n,
          tile.k, threads, vectors));
    }
  }

  LogicalResult emit();

private:
  SharedTile sharedTile(GemmView::Side side, int64_t offset) {
    int64_t lines = side == GemmView::Side::Left ? tile.m : tile.n;
    const GemmView::Operand &operand = view.operand(side);
    return {e, offset, operand.alongK ? lines : tile.k,
            operand.alongK ? tile.k : lines, operand.element};
  }
  ResultTile locate(Value block);
  void fetch(const ResultTile &at, Value step, Value base);
  void put(Value base);
  SmallVector<Value> sumSlices(const ResultTile &at);

  CudaEmitter &e;
  GemmView &view;
  TileShape tile;
  int64_t threads;
  SharedTile left, right;
  int64_t stageBytes;
  SmallVector<std::unique_ptr<SliceLoader>, 2> loaders;
  MmaProduct product;
  ContractionEpilogue epilogue;
  Value thread;
  bool ok = true;
};

LogicalResult TiledContraction::emit() {
  e.reset();
  e.launch.items = view.batch * llvm::divideCeil(view.m, tile.m) *
                   llvm::divideCeil(view.n, tile.n);
  e.launch.scratchBytes = tile.sharedBytes();
  e.forEachBlock(threads, [&](Value block) {
    ResultTile at = locate(block);
    thread = e.threadIndex();
    product.begin(thread);
    SmallVector<Value> sums = sumSlices(at);
    product.handOver(sums, epilogue);
    e.barrier();
    ok = ok && succeeded(epilogue.finish(at, thread));
  });
  return success(ok);
}

/// Neighbouring blocks share columns of the right matrix.
ResultTile TiledContraction::locate(Value block) {
  int64_t rows = llvm::divideCeil(view.m, tile.m);
  int64_t columns = llvm::divideCeil(view.n, tile.n);
  SmallVector<Value> at = e.delinearize(block, {view.batch, columns, rows});
  return {at[0], e.mulIndex(at[2], tile.m), e.mulIndex(at[1], tile.n)};
}

void TiledContraction::fetch(const ResultTile &at, Value step, Value base) {
  for (auto &loader : loaders) {
    ok = ok && succeeded(loader->fetch(at, thread, step, base));
  }
}

void TiledContraction::put(Value base) {
  for (auto &loader : loaders) {
    loader->put(base);
  }
}

SmallVector<Value> TiledContraction::sumSlices(const ResultTile &at) {
  int64_t steps = llvm::divideCeil(view.k, tile.k);
  Value zero = e.index(0);
  fetch(at, zero, zero);
  put(zero);
  e.barrier();
  return e.forLoopCarried(
      zero, e.index(steps), 1, product.zeros(),
      [&](Value step, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Value> sums(carried);
        Value parity = arith::RemUIOp::create(e.b, e.loc, step, e.index(2));
        Value other = arith::SubIOp::create(e.b, e.loc, e.index(1), parity);
        Value next = e.mulIndex(other, stageBytes);
        fetch(at, e.addIndex(step, e.index(1)), next);
        product.multiply(e.mulIndex(parity, stageBytes), sums);
        put(next);
        e.barrier();
        return sums;
      });
}

} // namespace

LogicalResult cuda::emitTiledContraction(CudaEmitter &emitter,
                                         Operation *root) {
  std::unique_ptr<GemmView> view = GemmView::create(root);
  if (!view || view->left.element != view->right.element || view->k == 0) {
    return failure();
  }
  Type element = view->left.element;
  if (!element.isF16() && !(element.isBF16() && emitter.hasWideMma)) {
    return failure();
  }
  if (succeeded(TiledContraction(emitter, *view, /*vectors=*/true).emit())) {
    return success();
  }
  return TiledContraction(emitter, *view, /*vectors=*/false).emit();
}
