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
                               int64_t lanes)
    : RowWalker(emitter, space, lanes), cuda(emitter),
      length(space.rowLength()) {
  // A vector must not run over the end of the last dimension.
  bool whole = space.row.size() <= 1 || space.row.back() % lanes == 0;
  this->lanes = whole ? lanes : 1;
  main = length / this->lanes * this->lanes;
  int64_t vectors = std::max<int64_t>(main / this->lanes, 1);
  threads =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(vectors), warpThreads, maxThreads);
}

void BlockRowWalker::forEachRow(function_ref<void()> body) {
  e.launch.items = space.rows();
  cuda.forEachBlock(threads, [&](Value item) {
    kept.clear();
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
  Value mine = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult,
                                     thread, e.index(length - main));
  return {mine, e.addIndex(thread, e.index(main))};
}

Value BlockRowWalker::reduce(TypedAttr identity, ElementFn element,
                             CombineFn combine) {
  Value start = arith::ConstantOp::create(e.b, e.loc, identity);
  Value total = start;
  if (main != 0) {
    Value first = e.mulIndex(cuda.threadIndex(), lanes);
    Value sum = e.forLoopCarried(
        first, e.index(main), threads * lanes, ValueRange{splat(start, lanes)},
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
  return cuda.reduceBlock(total, threads, combine);
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
  cuda.onFirstThread(body);
}
