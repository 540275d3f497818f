//===- EmitContraction.cpp - Contractions by tiles of their result --------===//
// A block computes a tile of the result. Slices of both matrices along k pass
// through a ring of stages in shared memory: while the block multiplies one,
// the next are on their way. The sums then go to the epilogue.
#include "compiler/Targets/CUDA/Contraction/BlockProduct.h"
#include "compiler/Targets/CUDA/Contraction/SliceLoader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

class TiledContraction {
public:
  TiledContraction(CudaEmitter &e, GemmView &view, ProductKind kind,
                   bool vectors)
      : e(e), view(view), kind(kind),
        tile(chooseTile(view, kind, e.sharedBytes)), vectors(vectors),
        threads(tile.warps() * 32), left(sharedTile(GemmView::Side::Left, 0)),
        right(sharedTile(GemmView::Side::Right, left.bytes())),
        stageBytes(left.bytes() + right.bytes()),
        product(BlockProduct::create(kind, e, view, tile, left, right)),
        epilogue(e, view, tile.m, tile.n, threads, vectors) {}

  LogicalResult emit();

private:
  int64_t lines(GemmView::Side side) const {
    return side == GemmView::Side::Left ? tile.m : tile.n;
  }
  SharedTile sharedTile(GemmView::Side side, int64_t offset) {
    const GemmView::Operand &operand = view.operand(side);
    // Tensor cores multiply what memory holds, scalar units what it means.
    Type element = kind == ProductKind::Mma16 ? operand.element
                                              : getComputeType(operand.element);
    return {e,
            offset,
            operand.alongK ? lines(side) : tile.k,
            operand.alongK ? tile.k : lines(side),
            element,
            BlockProduct::swizzleFor(kind, operand.alongK)};
  }
  void chooseLoaders();
  ResultTile locate(Value block);
  void fetch(const ResultTile &at, Value step, Value base);
  void put(Value base);
  void waitForSlice();
  SmallVector<Value> sumSlices(const ResultTile &at);

  CudaEmitter &e;
  GemmView &view;
  ProductKind kind;
  TileShape tile;
  bool vectors;
  int64_t threads;
  SharedTile left, right;
  int64_t stageBytes, stages = 2;
  bool isAsync = false; ///< whether any operand comes by cp.async
  SmallVector<std::unique_ptr<SliceLoader>, 2> loaders;
  std::unique_ptr<BlockProduct> product;
  ContractionEpilogue epilogue;
  Value thread;
  bool ok = true;
};

LogicalResult TiledContraction::emit() {
  chooseLoaders();
  e.reset();
  e.launch.items = view.batch * llvm::divideCeil(view.m, tile.m) *
                   llvm::divideCeil(view.n, tile.n);
  e.launch.scratchBytes = tile.sharedBytes(stages, kind);
  e.forEachBlock(threads, [&](Value block) {
    ResultTile at = locate(block);
    thread = e.threadIndex();
    product->begin(thread);
    SmallVector<Value> sums = sumSlices(at);
    product->handOver(sums, epilogue);
    e.barrier();
    ok = ok && succeeded(epilogue.finish(at, thread));
  });
  return success(ok);
}

/// Copies where the architecture and the operand allow it.
void TiledContraction::chooseLoaders() {
  e.reset();
  ResultTile at = locate(e.blockIndex());
  for (GemmView::Side side : {GemmView::Side::Left, GemmView::Side::Right}) {
    SharedTile &shared = side == GemmView::Side::Left ? left : right;
    int64_t bytes = 0;
    if (e.architecture.hasAsyncCopy()) {
      bytes =
          AsyncLoader(e, view, side, shared, lines(side), tile.k, threads, 0)
              .copyBytesOf(at, e.threadIndex());
    }
    if (bytes != 0) {
      loaders.push_back(std::make_unique<AsyncLoader>(
          e, view, side, shared, lines(side), tile.k, threads, bytes));
      isAsync = true;
    } else {
      loaders.push_back(std::make_unique<RegisterLoader>(
          e, view, side, shared, lines(side), tile.k, threads, vectors));
    }
  }
  stages = isAsync ? 3 : 2;
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

/// The next slice is there when no more than those behind it are on their way.
void TiledContraction::waitForSlice() {
  if (isAsync) {
    NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, stages - 2);
  }
  e.barrier();
}

SmallVector<Value> TiledContraction::sumSlices(const ResultTile &at) {
  int64_t ahead = stages - 1;
  auto commit = [&] {
    if (isAsync) {
      NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
    }
  };
  for (int64_t step = 0; step < ahead; ++step) {
    Value base = e.index(step * stageBytes);
    fetch(at, e.index(step), base);
    put(base);
    commit();
  }
  // The stage behind `base` in the ring.
  auto behind = [&](Value base) -> Value {
    Value next = e.addIndex(base, e.index(stageBytes));
    Value isLast = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                         base, e.index(ahead * stageBytes));
    return arith::SelectOp::create(e.b, e.loc, isLast, e.index(0), next);
  };
  SmallVector<Value> carried = product->zeros();
  carried.append({e.index(0), e.index(ahead * stageBytes)});
  int64_t steps = llvm::divideCeil(view.k, tile.k);
  carried = e.forLoopCarried(
      e.index(0), e.index(steps), 1, carried,
      [&](Value step, ValueRange values) -> SmallVector<Value> {
        Value from = values.drop_back().back(), to = values.back();
        SmallVector<Value> sums(values.drop_back(2));
        // Behind the barrier all threads have done with the stage that was
        // multiplied last, which is the one to fill.
        waitForSlice();
        fetch(at, e.addIndex(step, e.index(ahead)), to);
        commit();
        product->multiply(from, sums);
        put(to);
        sums.append({behind(from), behind(to)});
        return sums;
      });
  // The sums overwrite the slices.
  e.barrier();
  carried.pop_back_n(2);
  return carried;
}

} // namespace

/// Whether f32 operands of `root` may be cut to TF32: what the op says, or else
/// the module.
static bool allowsTf32(Operation *root) {
  constexpr StringLiteral name = "amp.fp32_contractions";
  auto mode = root->getAttrOfType<StringAttr>(name);
  if (auto module = root->getParentOfType<ModuleOp>(); !mode && module) {
    mode = module->getAttrOfType<StringAttr>(name);
  }
  return mode && mode.getValue() == "tf32";
}

/// What multiplies the operands of `root`; nullopt where none of the products
/// does.
static std::optional<ProductKind> productFor(const GemmView &view,
                                             CudaEmitter &e, Operation *root) {
  Type left = view.left.element, right = view.right.element;
  Type result = getComputeType(getElementTypeOrSelf(view.result.getType()));
  if (left == right && result.isF32()) {
    if (left.isF16() || (left.isBF16() && e.architecture.hasBf16)) {
      return ProductKind::Mma16;
    }
    if (left.isF32() && e.architecture.hasTf32 && allowsTf32(root)) {
      return ProductKind::Tf32;
    }
  }
  if (getComputeType(left) != result || getComputeType(right) != result) {
    return std::nullopt;
  }
  return result.isF32()   ? std::optional(ProductKind::Fma32)
         : result.isF64() ? std::optional(ProductKind::Fma64)
                          : std::nullopt;
}

LogicalResult cuda::emitTiledContraction(CudaEmitter &emitter,
                                         Operation *root) {
  std::unique_ptr<GemmView> view = GemmView::create(root);
  if (!view || view->k == 0) {
    return failure();
  }
  auto kind = productFor(*view, emitter, root);
  if (!kind) {
    return failure();
  }
  for (bool vectors : {true, false}) {
    if (succeeded(TiledContraction(emitter, *view, *kind, vectors).emit())) {
      return success();
    }
  }
  return failure();
}
