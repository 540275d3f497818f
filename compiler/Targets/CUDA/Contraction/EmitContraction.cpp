//===- EmitContraction.cpp - Contractions by tiles of their result --------===//
// A block computes a tile of the result. Slices of both matrices along k pass
// through a ring of stages in shared memory: while the block multiplies one,
// the next are on their way. The sums then go to the epilogue.
#include "compiler/Targets/CUDA/Contraction/BlockProduct.h"
#include "compiler/Targets/CUDA/Contraction/ContractionPlan.h"
#include "compiler/Targets/CUDA/Contraction/SliceLoader.h"
#include "compiler/Targets/CUDA/Contraction/SplitSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

using Side = GemmView::Side;
constexpr Side sides[] = {Side::Left, Side::Right};

/// Bytes that a cp.async copies of each operand; 0: it is pulled.
using CopyBytes = std::array<int64_t, 2>;

int64_t linesOf(const TileShape &tile, Side side) {
  return side == Side::Left ? tile.m : tile.n;
}

/// Where slices of an operand lie, `offset` bytes into the block's scratch.
SharedTile makeSlice(CudaEmitter &e, const GemmView &view, ProductKind kind,
                     const TileShape &tile, Side side, int64_t offset) {
  const GemmView::Operand &operand = view.operand(side);
  int64_t lines = linesOf(tile, side);
  // Tensor cores multiply what memory holds, scalar units what it means.
  Type element = kind == ProductKind::Mma16 ? operand.element
                                            : getComputeType(operand.element);
  return {e,
          offset,
          operand.alongK ? lines : tile.k,
          operand.alongK ? tile.k : lines,
          element,
          BlockProduct::swizzleFor(kind, operand.alongK)};
}

class TiledContraction {
public:
  TiledContraction(CudaEmitter &e, GemmView &view, ProductKind kind,
                   const ContractionPlan &plan, CopyBytes copyBytes,
                   bool vectors)
      : e(e), view(view), kind(kind), plan(plan), tile(this->plan.tile),
        threads(tile.threads()),
        left(makeSlice(e, view, kind, tile, Side::Left, 0)),
        right(makeSlice(e, view, kind, tile, Side::Right, left.bytes())),
        stageBytes(left.bytes() + right.bytes()),
        isAsync(copyBytes[0] != 0 || copyBytes[1] != 0),
        product(BlockProduct::create(kind, e, view, tile, left, right)),
        epilogue(e, view, tile.m / tile.bands(), tile.n, threads, vectors),
        splitSum(e, plan.split, tile.m * tile.n,
                 getComputeType(getElementTypeOrSelf(view.result.getType()))) {
    for (auto [side, bytes] : llvm::zip_equal(sides, copyBytes)) {
      SharedTile &shared = side == Side::Left ? left : right;
      int64_t lines = linesOf(tile, side);
      if (bytes != 0) {
        loaders.push_back(std::make_unique<AsyncLoader>(
            e, view, side, shared, lines, tile.k, threads, bytes));
      } else {
        loaders.push_back(std::make_unique<RegisterLoader>(
            e, view, side, shared, lines, tile.k, threads, vectors));
      }
    }
  }

  LogicalResult emit();

private:
  bool isSplit() const { return plan.split > 1; }
  ResultTile locate(Value block);
  void fetch(const ResultTile &at, Value step, Value base);
  void put(Value base);
  void waitForSlice();
  SmallVector<Value> sumSlices(const ResultTile &at);
  void finish(const ResultTile &at, ValueRange sums);

  CudaEmitter &e;
  GemmView &view;
  ProductKind kind;
  ContractionPlan plan;
  const TileShape &tile;
  int64_t threads;
  SharedTile left, right;
  int64_t stageBytes;
  bool isAsync; ///< whether any operand comes by cp.async
  SmallVector<std::unique_ptr<SliceLoader>, 2> loaders;
  std::unique_ptr<BlockProduct> product;
  ContractionEpilogue epilogue;
  SplitSum splitSum;
  Value thread, firstSlice;
  bool ok = true;
};

LogicalResult TiledContraction::emit() {
  GemmSize size{view.batch, view.m, view.n, view.k};
  int64_t tiles = plan.tiles(size);
  e.reset();
  e.launch.items = tiles * plan.split;
  e.launch.scratchBytes = tile.sharedBytes(plan.stages, kind);
  // ptxas would guess how many blocks there are, and may spill for more.
  e.blocksPerMultiprocessor = std::max<int64_t>(
      1, occupancyOf(plan, kind, getCudaFigures(e.architecture)));
  if (isSplit()) {
    splitSum.reserve(tiles);
    epilogue.setSplit(&splitSum);
  }
  e.forEachBlock(threads, [&](Value block) {
    ResultTile at;
    firstSlice = e.index(0);
    if (isSplit()) {
      // Parts of a tile are neighbours, in their order.
      SmallVector<Value> numbers = e.delinearize(block, {tiles, plan.split});
      int64_t steps = plan.steps(size);
      int64_t each = llvm::divideCeil(steps, plan.split);
      at = locate(numbers[0]);
      splitSum.begin(numbers[0], numbers[1]);
      firstSlice = e.mulIndex(numbers[1], each);
      at.endSlice = arith::MinUIOp::create(
          e.b, e.loc, e.addIndex(firstSlice, e.index(each)), e.index(steps));
    } else {
      at = locate(block);
    }
    thread = e.threadIndex();
    product->begin(thread);
    SmallVector<Value> sums = sumSlices(at);
    finish(at, sums);
  });
  return success(ok);
}

/// Neighbouring tiles share columns of the right matrix.
ResultTile TiledContraction::locate(Value number) {
  int64_t rows = llvm::divideCeil(view.m, tile.m);
  int64_t columns = llvm::divideCeil(view.n, tile.n);
  SmallVector<Value> at = e.delinearize(number, {view.batch, columns, rows});
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
    NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, plan.stages - 2);
  }
  e.barrier();
}

SmallVector<Value> TiledContraction::sumSlices(const ResultTile &at) {
  int64_t ahead = plan.stages - 1;
  auto commit = [&] {
    if (isAsync) {
      NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
    }
  };
  for (int64_t step = 0; step < ahead; ++step) {
    Value base = e.index(step * stageBytes);
    fetch(at, e.addIndex(firstSlice, e.index(step)), base);
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
  Value end =
      at.endSlice ? at.endSlice : e.index(llvm::divideCeil(view.k, tile.k));
  carried = e.forLoopCarried(
      firstSlice, end, 1, carried,
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
  carried.pop_back_n(2);
  return carried;
}

/// The epilogue, band by band: the code of one serves all.
void TiledContraction::finish(const ResultTile &at, ValueRange sums) {
  int64_t bands = tile.bands();
  if (isSplit()) {
    splitSum.wait();
  }
  e.forLoop(e.index(0), e.index(bands), 1, [&](Value band) {
    // A band overwrites the slices, or the band before.
    e.barrier();
    for (int64_t i = 0; i < bands; ++i) {
      Value isThis =
          bands == 1
              ? Value()
              : arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                      band, e.index(i))
                    .getResult();
      e.onlyIf(isThis, [&] { product->handOver(sums, i, epilogue); });
    }
    e.barrier();
    auto rowInTile = [&](Value local) {
      return product->rowInTile(band, local);
    };
    ok = ok && succeeded(epilogue.finish(at, thread, rowInTile));
  });
  if (isSplit()) {
    splitSum.signal();
  }
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

/// What cp.async copies of each operand.
static CopyBytes findCopyBytes(CudaEmitter &e, GemmView &view,
                               ProductKind kind) {
  CopyBytes result{};
  if (!e.architecture.hasAsyncCopy()) {
    return result;
  }
  e.reset();
  const TileShape &tile = getTiles(kind).front();
  for (Side side : sides) {
    SharedTile shared = makeSlice(e, view, kind, tile, side, 0);
    result[side == Side::Right] =
        AsyncLoader(e, view, side, shared, linesOf(tile, side), tile.k,
                    tile.threads(), 0)
            .findCopyBytes();
  }
  return result;
}

/// What rules of the user call the type of the operands.
static StringRef typeNameOf(ProductKind kind, const GemmView &view) {
  switch (kind) {
  case ProductKind::Mma16:
    return view.left.element.isF16() ? "f16" : "bf16";
  case ProductKind::Tf32:
    return "tf32";
  case ProductKind::Fma32:
    return "f32";
  case ProductKind::Fma64:
    return "f64";
  }
  llvm_unreachable("a kind of product");
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
  CopyBytes copyBytes = findCopyBytes(emitter, *view, *kind);
  bool canCopy = copyBytes[0] != 0 || copyBytes[1] != 0;
  ContractionPlan plan = planContraction(
      {view->batch, view->m, view->n, view->k}, *kind, typeNameOf(*kind, *view),
      emitter.architecture, canCopy, emitter.contractionRules);
  for (bool vectors : {true, false}) {
    TiledContraction contraction(emitter, *view, *kind, plan, copyBytes,
                                 vectors);
    if (succeeded(contraction.emit())) {
      return success();
    }
  }
  return failure();
}
