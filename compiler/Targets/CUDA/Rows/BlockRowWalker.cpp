//===- BlockRowWalker.cpp - Rows shared by the threads of a block ---------===//
#include "compiler/Targets/CUDA/Rows/BlockRowWalker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

static constexpr int64_t warpThreads = 32;
static constexpr int64_t maxThreads = 256;

BlockRowWalker::BlockRowWalker(CudaEmitter &emitter, const RowSpace &space,
                               int64_t lanes, bool isReducedOnce)
    : RowWalker(emitter, space, lanes), cuda(emitter),
      length(space.rowLength()), grid(emitter) {
  // A vector must not run over the end of the last dimension.
  bool whole = space.row.size() <= 1 || space.row.back() % lanes == 0;
  this->lanes = whole ? lanes : 1;
  main = length / this->lanes * this->lanes;
  int64_t vectors = std::max<int64_t>(main / this->lanes, 1);
  threads =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(vectors), warpThreads, maxThreads);
  if (isReducedOnce) {
    parts = GridSum::partsFor(space.rows(), length, threads * this->lanes);
    grid.share(parts, 1);
  }
}

void BlockRowWalker::forEachRow(function_ref<void()> body) {
  e.launch.items = space.rows() * parts;
  grid.reserve(space.rows());
  cuda.forEachBlock(threads, [&](Value item) {
    kept.clear();
    part = isLast = Value();
    if (grid.isSplit()) {
      SmallVector<Value> numbers = e.delinearize(item, {space.rows(), parts});
      item = numbers[0];
      part = numbers[1];
      grid.begin(item, part);
    }
    for (Value base : e.delinearize(item, space.kept)) {
      kept.push_back({base, 0});
    }
    currentLanes = 1;
    body();
  });
}

SmallVector<LaneIndex> BlockRowWalker::at(Value position, int64_t width) {
  return locate(e.delinearize(position, space.row), width);
}

std::pair<Value, Value> BlockRowWalker::rest() {
  Value thread = cuda.threadIndex();
  Value mine = cuda.isBelow(thread, length - main);
  if (part) {
    mine = cuda.bothOf(mine, cuda.isBelow(part, 1));
  }
  return {mine, e.addIndex(thread, e.index(main))};
}

Value BlockRowWalker::reduce(TypedAttr identity, ElementFn element,
                             CombineFn combine) {
  Value start = arith::ConstantOp::create(e.b, e.loc, identity);
  Value total = start;
  if (main != 0) {
    Value first = e.mulIndex(cuda.threadIndex(), lanes), end = e.index(main);
    if (part) {
      // Whole rounds of the block.
      int64_t round = threads * lanes;
      int64_t each = llvm::divideCeil(llvm::divideCeil(main, round), parts);
      Value begin = e.mulIndex(part, each * round);
      first = e.addIndex(begin, first);
      end = arith::MinUIOp::create(
          e.b, e.loc, e.addIndex(begin, e.index(each * round)), end);
    }
    Value sum = e.forLoopCarried(
        first, end, threads * lanes, ValueRange{splat(start, lanes)},
        [&](Value p, ValueRange carried) -> SmallVector<Value> {
          return {combine(carried[0], element(lanes, at(p, lanes), p))};
        })[0];
    total = lanes == 1 ? sum : horizontal(sum, combine);
  }
  if (main != length) {
    auto [mine, position] = rest();
    auto choice = scf::IfOp::create(e.b, e.loc, total.getType(), mine,
                                    /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(e.b, e.loc,
                         combine(total, element(1, at(position, 1), position)));
    e.b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(e.b, e.loc, total);
    total = choice.getResult(0);
  }
  total = cuda.reduceBlock(total, threads, combine);
  return part ? combineParts(start, total, combine) : total;
}

/// The last block combines what all have found.
Value BlockRowWalker::combineParts(Value start, Value total,
                                   CombineFn combine) {
  cuda.onFirstThread([&] { grid.leave(total, e.index(0)); });
  isLast = grid.arrive();
  auto choice =
      scf::IfOp::create(e.b, e.loc, total.getType(), isLast, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(e.b, e.loc, start);
  e.b.setInsertionPointToStart(choice.thenBlock());
  Value mine =
      grid.combine(start, e.index(0), 1, cuda.threadIndex(), threads, combine);
  scf::YieldOp::create(e.b, e.loc, cuda.reduceBlock(mine, threads, combine));
  return choice.getResult(0);
}

void BlockRowWalker::forEachElement(VisitFn visit) {
  if (main != 0) {
    Value first = e.mulIndex(cuda.threadIndex(), lanes);
    e.forLoop(first, e.index(main), threads * lanes,
              [&](Value p) { visit(lanes, at(p, lanes), p); });
  }
  if (main != length) {
    auto [mine, position] = rest();
    auto choice = scf::IfOp::create(e.b, e.loc, mine, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    visit(1, at(position, 1), position);
  }
}

void BlockRowWalker::once(function_ref<void()> body) {
  cuda.onlyIf(isLast, [&] { cuda.onFirstThread(body); });
}
