//===- ColumnRowWalker.cpp - Rows that lie across memory ------------------===//
#include "compiler/Targets/CUDA/Rows/ColumnRowWalker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

static constexpr int64_t blockThreads = 256;
/// That give every multiprocessor enough to hide the latency of its loads.
static constexpr int64_t wantedThreads = int64_t(1) << 17;
/// Of a row, that are worth a thread.
static constexpr int64_t leastElements = 4;

/// Vectors of `lanes` rows, or as many as divide the innermost dimension.
static int64_t wholeLanes(const RowSpace &space, int64_t lanes) {
  int64_t inner = space.kept.empty() ? 1 : space.kept.back();
  return inner == 0 ? 1 : std::min<int64_t>(lanes, inner & -inner);
}

ColumnRowWalker::ColumnRowWalker(CudaEmitter &emitter, const RowSpace &space,
                                 int64_t lanes, bool isReducedOnce)
    : RowWalker(emitter, space, wholeLanes(space, lanes)), cuda(emitter),
      grid(emitter) {
  vectors = space.kept.back() / this->lanes;
  phases = 1;
  int64_t threads = space.rows() / this->lanes;
  while (phases < blockThreads && threads * phases < wantedThreads &&
         space.rowLength() >= 2 * phases * leastElements) {
    phases *= 2;
  }
  // A warp should read along memory where it can.
  int64_t alongMemory = std::min<int64_t>(llvm::PowerOf2Ceil(vectors), 32);
  phases = std::max<int64_t>(std::min(phases, blockThreads / alongMemory), 1);
  columns =
      std::min<int64_t>(llvm::PowerOf2Ceil(vectors), blockThreads / phases);
  if (isReducedOnce && vectors != 0) {
    int64_t blocks =
        space.rows() / space.kept.back() * llvm::divideCeil(vectors, columns);
    parts = GridSum::partsFor(blocks, space.rowLength(), phases);
    grid.share(parts, columns * this->lanes);
  }
}

void ColumnRowWalker::forEachRow(function_ref<void()> body) {
  SmallVector<int64_t> items(space.kept);
  items.back() = llvm::divideCeil(vectors, columns);
  e.launch.items = 1;
  for (int64_t size : items) {
    e.launch.items *= size;
  }
  grid.reserve(e.launch.items);
  int64_t groups = e.launch.items;
  e.launch.items *= parts;
  cuda.forEachBlock(columns * phases, [&](Value block) {
    part = isLast = Value();
    if (grid.isSplit()) {
      SmallVector<Value> numbers = e.delinearize(block, {groups, parts});
      block = numbers[0];
      part = numbers[1];
      grid.begin(block, part);
    }
    Value thread = cuda.threadIndex(), size = e.index(columns);
    column = arith::RemUIOp::create(e.b, e.loc, thread, size);
    phase = arith::DivUIOp::create(e.b, e.loc, thread, size);
    SmallVector<Value> outer = e.delinearize(block, items);
    Value vector = e.addIndex(e.mulIndex(outer.back(), columns), column);
    exists = Value();
    if (vectors % columns != 0) {
      exists = cuda.isBelow(vector, vectors);
      vector = arith::MinUIOp::create(e.b, e.loc, vector, e.index(vectors - 1));
    }
    outer.back() = e.mulIndex(vector, lanes);
    kept.clear();
    for (Value base : outer) {
      kept.push_back({base, 0});
    }
    kept.back().step = lanes == 1 ? 0 : 1;
    currentLanes = lanes;
    body();
  });
}

Value ColumnRowWalker::reduce(TypedAttr identity, ElementFn element,
                              CombineFn combine) {
  Value start =
      splat(arith::ConstantOp::create(e.b, e.loc, identity).getResult(), lanes);
  Value first = phase, end = e.index(space.rowLength());
  if (part) {
    int64_t each =
        llvm::divideCeil(llvm::divideCeil(space.rowLength(), phases), parts);
    Value begin = e.mulIndex(part, each * phases);
    first = e.addIndex(begin, phase);
    end = arith::MinUIOp::create(
        e.b, e.loc, e.addIndex(begin, e.index(each * phases)), end);
  }
  Value mine =
      e.forLoopCarried(first, end, phases, ValueRange{start},
                       [&](Value r, ValueRange carried) -> SmallVector<Value> {
                         auto index =
                             locate(e.delinearize(r, space.row), lanes);
                         return {combine(carried[0], element(lanes, index, r))};
                       })[0];
  Value total = combinePhases(mine, combine);
  if (!part) {
    return total;
  }
  // The last block combines what all have found.
  Value place = e.mulIndex(column, lanes);
  cuda.onlyIf(cuda.isBelow(phase, 1), [&] { grid.leave(total, place); });
  isLast = grid.arrive();
  auto choice = scf::IfOp::create(e.b, e.loc, total.getType(), isLast,
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(e.b, e.loc, start);
  e.b.setInsertionPointToStart(choice.thenBlock());
  mine = grid.combine(start, place, lanes, phase, phases, combine);
  scf::YieldOp::create(e.b, e.loc, combinePhases(mine, combine));
  return choice.getResult(0);
}

/// What the threads of a vector have, in order.
Value ColumnRowWalker::combinePhases(Value mine, CombineFn combine) {
  if (phases == 1) {
    return mine;
  }
  constexpr int64_t widest = 8; // bytes of an element
  Type type = getElementTypeOrSelf(mine.getType());
  Value partials = cuda.reserveShared(phases * columns * lanes * widest);
  auto place = [&](Value number) {
    return e.mulIndex(e.addIndex(e.mulIndex(number, columns), column), lanes);
  };
  e.store(mine, partials, type, place(phase));
  cuda.barrier();
  Value total = e.load(partials, type, place(e.index(0)), lanes);
  for (int64_t i = 1; i < phases; ++i) {
    total = combine(total, e.load(partials, type, place(e.index(i)), lanes));
  }
  return total;
}

void ColumnRowWalker::forEachElement(VisitFn visit) {
  cuda.onlyIf(exists, [&] {
    e.forLoop(phase, e.index(space.rowLength()), phases, [&](Value r) {
      visit(lanes, locate(e.delinearize(r, space.row), lanes), r);
    });
  });
}

void ColumnRowWalker::once(function_ref<void()> body) {
  Value first = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                      phase, e.index(0));
  cuda.onlyIf(cuda.bothOf(isLast, cuda.bothOf(exists, first)), body);
}
