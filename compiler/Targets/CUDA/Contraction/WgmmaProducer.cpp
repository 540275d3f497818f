//===- WgmmaProducer.cpp - The warpgroup that brings operands -------------===//
// It runs ahead of the consumers, into their next tile, as far as the ring has
// stages.
#include "compiler/Targets/CUDA/Contraction/WgmmaProducer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

Value WgmmaBlock::stagePointer(Value stage, int64_t offset) {
  Value bytes = arith::IndexCastOp::create(
      e.b, e.loc, e.b.getI32Type(), e.mulIndex(stage, tile.stageBytes()));
  Value start = e.scratchPointer(offset);
  return LLVM::GEPOp::create(e.b, e.loc, start.getType(), e.b.getI8Type(),
                             start, ArrayRef<LLVM::GEPArg>{bytes});
}

namespace {

class Producer {
public:
  explicit Producer(WgmmaBlock &block)
      : block(block), e(block.e), ring(block.ring) {}

  /// One thread has the copy engine bring both operands.
  void copy();
  /// All threads gather the left one.
  void gather();

private:
  using Carried = TileScheduler::Carried;

  /// Stages that a thread's own copies are still on their way to. One more
  /// would wait for a stage that consumers hold until this one is full.
  int64_t inFlight() const {
    return std::min<int64_t>(2, block.tile.stages - 2);
  }
  void loadRight(const StageRing::Position &at, const ResultTile &tile,
                 Value kk);
  void fillOldest(const StageRing::Position &next, int64_t age);

  WgmmaBlock &block;
  CudaEmitter &e;
  StageRing &ring;
};

void Producer::loadRight(const StageRing::Position &at, const ResultTile &tile,
                         Value kk) {
  block.right.load(e, block.stagePointer(at.stage, block.tile.leftBytes()),
                   ring.full(at.stage), tile.batch, tile.firstColumn, kk);
}

void Producer::copy() {
  StageRing::Position first = ring.first();
  block.scheduler.forEachTile(
      {first.stage, first.parity},
      [&](const ResultTile &tile, ValueRange carried) {
        return e.forLoopCarried(e.index(0), e.index(block.steps()), 1, carried,
                                [&](Value step, ValueRange now) -> Carried {
                                  StageRing::Position at{now[0], now[1]};
                                  ring.waitUntilEmpty(at);
                                  ring.expectBytes(at, block.tile.stageBytes());
                                  Value kk = e.mulIndex(step, WgmmaTile::k);
                                  block.left->load(
                                      e, block.stagePointer(at.stage, 0),
                                      ring.full(at.stage), tile.batch,
                                      tile.firstRow, kk);
                                  loadRight(at, tile, kk);
                                  StageRing::Position next = ring.next(at);
                                  return {next.stage, next.parity};
                                });
      });
}

/// Waits for the thread's copies to the stage `age` before `next`. The tensor
/// cores read through another proxy than cp.async wrote (PTX ISA, "Async
/// proxy"): each thread fences its own copies before it arrives.
void Producer::fillOldest(const StageRing::Position &next, int64_t age) {
  NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, static_cast<uint32_t>(age - 1));
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  Value stage = next.stage;
  for (int64_t i = 0; i < age; ++i) {
    stage = ring.before(stage);
  }
  ring.arriveFull(stage);
}

void Producer::gather() {
  Value isFirst = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                        block.thread, e.index(0));
  StageRing::Position first = ring.first();
  int64_t age = inFlight() + 1;
  // The third value counts what has been begun, up to `age`.
  Carried last = block.scheduler.forEachTile(
      {first.stage, first.parity, e.index(0)},
      [&](const ResultTile &tile, ValueRange carried) {
        return e.forLoopCarried(
            e.index(0), e.index(block.steps()), 1, carried,
            [&](Value step, ValueRange now) -> Carried {
              StageRing::Position at{now[0], now[1]};
              ring.waitUntilEmpty(at);
              Value kk = e.mulIndex(step, WgmmaTile::k);
              e.onlyIf(isFirst, [&] {
                ring.expectBytes(at, block.tile.rightBytes());
                loadRight(at, tile, kk);
              });
              block.gathered->load(
                  e, block.view, block.stagePointer(at.stage, 0), block.thread,
                  tile.firstRow, block.tile.m, kk);
              NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
              StageRing::Position next = ring.next(at);
              Value begun = arith::MinUIOp::create(
                  e.b, e.loc, e.addIndex(now[2], e.index(1)), e.index(age));
              Value isFull = arith::CmpIOp::create(
                  e.b, e.loc, arith::CmpIPredicate::eq, begun, e.index(age));
              e.onlyIf(isFull, [&] { fillOldest(next, age); });
              return {next.stage, next.parity, begun};
            });
      });
  StageRing::Position next{last[0], last[1]};
  for (int64_t left = age - 1; left > 0; --left) {
    Value hasIt = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::uge,
                                        last[2], e.index(left));
    e.onlyIf(hasIt, [&] { fillOldest(next, left); });
  }
}

} // namespace

void cuda::emitWgmmaProducer(WgmmaBlock &block) {
  CudaEmitter &e = block.e;
  if (block.tile.movesRegisters()) {
    NVVM::SetMaxRegisterOp::create(
        e.b, e.loc, static_cast<uint32_t>(block.producerRegisters()),
        NVVM::SetMaxRegisterAction::decrease);
  }
  if (block.gathered) {
    Producer(block).gather();
    return;
  }
  e.onFirstThread([&] { Producer(block).copy(); });
}
