//===- MmaKernel.cpp - Contractions on tensor cores with mma.sync ---------===//
// A block computes a tile of the result. Slices of both matrices along k pass
// through two buffers in shared memory: while the warps multiply one, the next
// is on its way from global memory to registers. The products, summed in f32,
// are then handed over through shared memory, so that the epilogue works on
// whole vectors of a row.
#include "compiler/Targets/CUDA/GemmView.h"
#include "compiler/Targets/CUDA/SharedTile.h"
#include "compiler/Targets/CUDA/TileShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

class MmaKernel {
public:
  MmaKernel(CudaEmitter &e, GemmView &view, bool vectors)
      : e(e), view(view), tile(chooseTile(view, e.sharedBytes)),
        vectors(vectors), threads(tile.warps() * 32),
        a(e, 0, view.left.alongK ? tile.m : tile.k,
          view.left.alongK ? tile.k : tile.m),
        b(e, a.bytes(), view.right.alongK ? tile.n : tile.k,
          view.right.alongK ? tile.k : tile.n),
        stageBytes(a.bytes() + b.bytes()) {}

  LogicalResult emit();

private:
  using Chunks = SmallVector<Value>; // vector<4xi32> each

  Chunks fetch(Value step);
  void fetchTile(SharedTile &t, const GemmView::Operand &operand, Value first,
                 int64_t size, int64_t extent, Value firstK, Chunks &chunks,
                 function_ref<FailureOr<Value>(Value, Value, int64_t)> get);
  Value fetchChunk(const GemmView::Operand &operand, int64_t minorSize,
                   Value minor, Value inside,
                   function_ref<FailureOr<Value>(Value, int64_t)> get);
  void put(ValueRange chunks, Value base);
  void multiply(Value base, SmallVectorImpl<Value> &acc);
  void multiplyAccumulate(ArrayRef<Value> left, ArrayRef<Value> right,
                          MutableArrayRef<Value> acc);
  void handOver(ValueRange acc);
  LogicalResult finish();
  LogicalResult finishVector(Value row, Value column, Value offset,
                             int64_t lanes);

  /// Chunk number `i` of this thread: its row and chunk in a tile.
  std::pair<Value, Value> place(SharedTile &t, int64_t i) {
    Value id = e.addIndex(thread, e.index(i * threads));
    Value chunks = e.index(t.chunks());
    return {arith::DivUIOp::create(e.b, e.loc, id, chunks),
            arith::RemUIOp::create(e.b, e.loc, id, chunks)};
  }
  int64_t chunksPerThread(SharedTile &t) const {
    return llvm::divideCeil(t.bytes() / 16, threads);
  }
  bool isPartial(SharedTile &t) const {
    return (t.bytes() / 16) % threads != 0;
  }
  Value less(Value lhs, int64_t rhs) {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, lhs,
                                 e.index(rhs));
  }
  Value both(Value lhs, Value rhs) {
    return !lhs   ? rhs
           : !rhs ? lhs
                  : arith::AndIOp::create(e.b, e.loc, lhs, rhs).getResult();
  }

  CudaEmitter &e;
  GemmView &view;
  TileShape tile;
  bool vectors;
  int64_t threads;
  SharedTile a, b;
  int64_t stageBytes;
  int64_t productStride = 0; ///< floats between rows handed over
  Value thread, lane, warpRow, warpColumn;
  Value batch, firstRow, firstColumn;
  bool ok = true;
};

LogicalResult MmaKernel::emit() {
  e.reset();
  int64_t rowBlocks = llvm::divideCeil(view.m, tile.m);
  int64_t columnBlocks = llvm::divideCeil(view.n, tile.n);
  e.launch.items = view.batch * rowBlocks * columnBlocks;
  productStride = tile.productStride();
  e.launch.scratchBytes = tile.sharedBytes();
  e.forEachBlock(threads, [&](Value item) {
    // Neighbouring blocks share columns of the right matrix.
    SmallVector<Value> at =
        e.delinearize(item, {view.batch, columnBlocks, rowBlocks});
    batch = at[0];
    firstColumn = e.mulIndex(at[1], tile.n);
    firstRow = e.mulIndex(at[2], tile.m);
    thread = e.threadIndex();
    lane = arith::RemUIOp::create(e.b, e.loc, thread, e.index(32));
    Value warp = arith::DivUIOp::create(e.b, e.loc, thread, e.index(32));
    int64_t warpColumns = tile.n / tile.warpN;
    warpRow = e.mulIndex(
        arith::DivUIOp::create(e.b, e.loc, warp, e.index(warpColumns)),
        tile.warpM);
    warpColumn = e.mulIndex(
        arith::RemUIOp::create(e.b, e.loc, warp, e.index(warpColumns)),
        tile.warpN);
    int64_t steps = llvm::divideCeil(view.k, tile.k);
    put(fetch(e.index(0)), e.index(0));
    e.barrier();
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
    SmallVector<Value> acc(tile.warpM / 16 * (tile.warpN / 8) * 4, zero);
    acc = e.forLoopCarried(
        e.index(0), e.index(steps), 1, acc,
        [&](Value step, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> sums(carried);
          Value two = e.index(2);
          Value parity = arith::RemUIOp::create(e.b, e.loc, step, two);
          Value other = arith::SubIOp::create(e.b, e.loc, e.index(1), parity);
          Value next = e.addIndex(step, e.index(1));
          Chunks chunks = fetch(next);
          multiply(e.mulIndex(parity, stageBytes), sums);
          put(chunks, e.mulIndex(other, stageBytes));
          e.barrier();
          return sums;
        });
    handOver(acc);
    e.barrier();
    if (failed(finish())) {
      ok = false;
    }
  });
  return success(ok);
}

//===----------------------------------------------------------------------===//
// From global to shared memory
//===----------------------------------------------------------------------===//

MmaKernel::Chunks MmaKernel::fetch(Value step) {
  Chunks chunks;
  Value firstK = e.mulIndex(step, tile.k);
  fetchTile(a, view.left, firstRow, view.m, tile.m, firstK, chunks,
            [&](Value row, Value kk, int64_t count) {
              return view.leftElements(e, batch, row, kk, count);
            });
  fetchTile(b, view.right, firstColumn, view.n, tile.n, firstK, chunks,
            [&](Value column, Value kk, int64_t count) {
              return view.rightElements(e, batch, kk, column, count);
            });
  return chunks;
}

/// This thread's chunks of a slice: `extent` rows (or columns) from `first` on,
/// of `size` that there are.
void MmaKernel::fetchTile(
    SharedTile &t, const GemmView::Operand &operand, Value first, int64_t size,
    int64_t extent, Value firstK, Chunks &chunks,
    function_ref<FailureOr<Value>(Value, Value, int64_t)> get) {
  for (int64_t i = 0; i < chunksPerThread(t); ++i) {
    auto [major, chunk] = place(t, i);
    Value minor = e.mulIndex(chunk, SharedTile::chunkElements);
    Value line = e.addIndex(first, operand.alongK ? major : minor);
    Value kk = e.addIndex(firstK, operand.alongK ? minor : major);
    // The slice behind the last one is not there.
    Value inside = size % extent == 0 ? Value() : less(line, size);
    inside = both(inside, less(kk, view.k));
    if (isPartial(t)) {
      inside = both(inside, less(major, operand.alongK ? extent : tile.k));
    }
    chunks.push_back(fetchChunk(
        operand, operand.alongK ? view.k : size, operand.alongK ? kk : line,
        inside, [&](Value at, int64_t count) {
          return operand.alongK ? get(line, at, count) : get(at, kk, count);
        }));
  }
}

/// Eight neighbours from `minor` on as a chunk; zeros where `inside` does not
/// hold or beyond `minorSize`.
Value MmaKernel::fetchChunk(
    const GemmView::Operand &operand, int64_t minorSize, Value minor,
    Value inside, function_ref<FailureOr<Value>(Value, int64_t)> get) {
  int64_t count = vectors ? operand.lanes : 1;
  Type memory = operand.element.isBF16() ? e.b.getI16Type() : operand.element;
  auto wide = VectorType::get({count}, memory);
  auto full = VectorType::get({SharedTile::chunkElements}, memory);
  Value result =
      count == SharedTile::chunkElements
          ? Value()
          : arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(full));
  for (int64_t i = 0; i < SharedTile::chunkElements; i += count) {
    Value at = e.addIndex(minor, e.index(i));
    Value here = i == 0 ? inside : both(inside, less(at, minorSize));
    auto choice = scf::IfOp::create(e.b, e.loc, wide, here, /*withElse=*/true);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(choice.thenBlock());
      FailureOr<Value> value = get(at, count);
      Value stored;
      if (succeeded(value)) {
        stored = e.toMemory(*value, operand.element);
        if (count == 1) {
          stored = vector::BroadcastOp::create(e.b, e.loc, wide, stored);
        }
      } else {
        ok = false;
        stored = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
      }
      scf::YieldOp::create(e.b, e.loc, stored);
      e.b.setInsertionPointToStart(choice.elseBlock());
      Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
      scf::YieldOp::create(e.b, e.loc, zero);
    }
    result = count == SharedTile::chunkElements
                 ? choice.getResult(0)
                 : vector::InsertStridedSliceOp::create(
                       e.b, e.loc, choice.getResult(0), result,
                       ArrayRef<int64_t>{i}, ArrayRef<int64_t>{1})
                       .getResult();
  }
  return LLVM::BitcastOp::create(
      e.b, e.loc, VectorType::get({4}, e.b.getI32Type()), result);
}

void MmaKernel::put(ValueRange chunks, Value base) {
  size_t next = 0;
  for (SharedTile *t : {&a, &b}) {
    for (int64_t i = 0; i < chunksPerThread(*t); ++i) {
      auto [row, chunk] = place(*t, i);
      Value value = chunks[next++];
      if (!isPartial(*t)) {
        t->store(value, base, row, chunk);
        continue;
      }
      Value inside = less(row, t->bytes() / 16 / t->chunks());
      auto choice = scf::IfOp::create(e.b, e.loc, inside, /*withElse=*/false);
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(choice.thenBlock());
      t->store(value, base, row, chunk);
    }
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void MmaKernel::multiply(Value base, SmallVectorImpl<Value> &acc) {
  Value eight = e.index(8);
  Value within = arith::RemUIOp::create(e.b, e.loc, lane, eight);
  Value matrix = arith::DivUIOp::create(e.b, e.loc, lane, eight);
  Value two = e.index(2);
  Value low = arith::RemUIOp::create(e.b, e.loc, matrix, two);
  Value high = arith::DivUIOp::create(e.b, e.loc, matrix, two);
  // The matrices of a fragment in the order of its registers: for the left
  // operand first along m then along k, for two columns of fragments of the
  // right one first along k then along n.
  auto fragments = [&](SharedTile &t, bool alongK, Value along,
                       Value alongOther, Value first, int64_t k) {
    Value outer = e.addIndex(first, e.mulIndex(along, 8));
    Value inner = e.addIndex(e.index(k), e.mulIndex(alongOther, 8));
    if (alongK) {
      Value row = e.addIndex(outer, within);
      return t.loadMatrices(
          base, row, arith::DivUIOp::create(e.b, e.loc, inner, eight), false);
    }
    Value row = e.addIndex(inner, within);
    return t.loadMatrices(
        base, row, arith::DivUIOp::create(e.b, e.loc, outer, eight), true);
  };
  int64_t columns = tile.warpN / 8;
  for (int64_t k = 0; k < tile.k; k += 16) {
    SmallVector<SmallVector<Value, 4>> left, right;
    for (int64_t i = 0; i < tile.warpM; i += 16) {
      left.push_back(fragments(a, view.left.alongK, low, high,
                               e.addIndex(warpRow, e.index(i)), k));
    }
    for (int64_t j = 0; j < tile.warpN; j += 16) {
      right.push_back(fragments(b, view.right.alongK, high, low,
                                e.addIndex(warpColumn, e.index(j)), k));
    }
    for (size_t i = 0; i < left.size(); ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        ArrayRef<Value> pair(right[j / 2]);
        multiplyAccumulate(
            left[i], pair.slice(j % 2 * 2, 2),
            MutableArrayRef<Value>(acc).slice((i * columns + j) * 4, 4));
      }
    }
  }
}

void MmaKernel::multiplyAccumulate(ArrayRef<Value> left, ArrayRef<Value> right,
                                   MutableArrayRef<Value> acc) {
  bool isHalf = view.left.element.isF16();
  auto operands = [&](ArrayRef<Value> words) {
    SmallVector<Value> result;
    for (Value word : words) {
      result.push_back(
          isHalf ? LLVM::BitcastOp::create(
                       e.b, e.loc, VectorType::get({2}, e.b.getF16Type()), word)
                       .getResult()
                 : word);
    }
    return result;
  };
  Type f32 = e.b.getF32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(e.b.getContext(), {f32, f32, f32, f32});
  NVVM::MMATypes kind = isHalf ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  int64_t depth = e.hasWideMma ? 16 : 8;
  for (int64_t part = 0; part < 16 / depth; ++part) {
    ArrayRef<Value> l = depth == 16 ? left : left.slice(part * 2, 2);
    ArrayRef<Value> r = depth == 16 ? right : right.slice(part, 1);
    Value product = NVVM::MmaOp::create(
        e.b, e.loc, type, operands(l), operands(r), ValueRange(acc),
        ArrayRef<int64_t>{16, 8, depth}, std::nullopt, std::nullopt,
        std::array<NVVM::MMATypes, 2>{kind, kind},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (auto [i, value] : llvm::enumerate(acc)) {
      value = LLVM::ExtractValueOp::create(e.b, e.loc, product, i);
    }
  }
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

/// Thread t of a warp holds columns 2 * (t % 4) and one more of rows t / 4 and
/// t / 4 + 8 of a 16 x 8 fragment.
void MmaKernel::handOver(ValueRange acc) {
  Value four = e.index(4);
  Value row = e.addIndex(
      warpRow, arith::DivUIOp::create(e.b, e.loc, lane, four).getResult());
  Value column =
      e.addIndex(warpColumn,
                 e.mulIndex(arith::RemUIOp::create(e.b, e.loc, lane, four), 2));
  auto pair = VectorType::get({2}, e.b.getF32Type());
  size_t next = 0;
  for (int64_t i = 0; i < tile.warpM; i += 16) {
    for (int64_t j = 0; j < tile.warpN; j += 8) {
      for (int64_t half = 0; half < 2; ++half) {
        Value two = vector::FromElementsOp::create(
            e.b, e.loc, pair, ValueRange{acc[next], acc[next + 1]});
        next += 2;
        Value at = e.addIndex(
            e.mulIndex(e.addIndex(row, e.index(i + half * 8)), productStride),
            e.addIndex(column, e.index(j)));
        e.store(two, e.scratchPointer(0), e.b.getF32Type(), at);
      }
    }
  }
}

LogicalResult MmaKernel::finish() {
  constexpr int64_t lanes = 8;
  int64_t perRow = tile.n / lanes;
  e.forLoop(thread, e.index(tile.m * perRow), threads, [&](Value id) {
    Value local = arith::DivUIOp::create(e.b, e.loc, id, e.index(perRow));
    Value inRow = e.mulIndex(
        arith::RemUIOp::create(e.b, e.loc, id, e.index(perRow)), lanes);
    Value row = e.addIndex(firstRow, local);
    Value column = e.addIndex(firstColumn, inRow);
    Value offset = e.addIndex(e.mulIndex(local, productStride), inRow);
    Value inside = view.m % tile.m == 0 ? Value() : less(row, view.m);
    if (view.n % lanes == 0) {
      inside =
          view.n % tile.n == 0 ? inside : both(inside, less(column, view.n));
    }
    auto guarded = [&](Value condition, function_ref<void()> body) {
      if (!condition) {
        body();
        return;
      }
      auto choice =
          scf::IfOp::create(e.b, e.loc, condition, /*withElse=*/false);
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(choice.thenBlock());
      body();
    };
    guarded(inside, [&] {
      if (vectors && view.n % lanes == 0) {
        ok = ok && succeeded(finishVector(row, column, offset, lanes));
        return;
      }
      Value end = arith::MinUIOp::create(
          e.b, e.loc, e.addIndex(column, e.index(lanes)), e.index(view.n));
      e.forLoop(column, end, 1, [&](Value c) {
        Value moved = e.addIndex(
            offset, arith::SubIOp::create(e.b, e.loc, c, column).getResult());
        ok = ok && succeeded(finishVector(row, c, moved, 1));
      });
    });
  });
  return success(ok);
}

LogicalResult MmaKernel::finishVector(Value row, Value column, Value offset,
                                      int64_t lanes) {
  Value sums = e.load(e.scratchPointer(0), e.b.getF32Type(), offset, lanes);
  SmallVector<LaneIndex> index;
  for (Value i : view.resultIndex(e, batch, row, column)) {
    index.push_back({i, 0});
  }
  index.back().step = lanes == 1 ? 0 : 1;
  FailureOr<Value> biased =
      addBias(e, view.bias, view.result, sums, index, lanes);
  return failed(biased) ? failure()
                        : emitEpilogue(e, view.result, *biased, index, lanes);
}

} // namespace

LogicalResult cuda::emitMmaKernel(CudaEmitter &emitter, Operation *root) {
  std::unique_ptr<GemmView> view = GemmView::create(root);
  if (!view || view->left.element != view->right.element || view->k == 0) {
    return failure();
  }
  Type element = view->left.element;
  if (!element.isF16() && !(element.isBF16() && emitter.hasWideMma)) {
    return failure();
  }
  if (succeeded(MmaKernel(emitter, *view, /*vectors=*/true).emit())) {
    return success();
  }
  return MmaKernel(emitter, *view, /*vectors=*/false).emit();
}
