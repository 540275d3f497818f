//===- WgmmaKernel.cpp - Contractions on tensor cores with wgmma ----------===//
// Hopper's warp-specialised persistent kernel: blocks stay on their
// multiprocessors and take tiles of the result in turn. The first warpgroup
// fills a ring of stages with slices of both operands, the others multiply.
#include "compiler/Targets/CUDA/Contraction/WgmmaProducer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

/// `block` has its operands, but none of the values.
static LogicalResult emitKernelOf(WgmmaBlock &block, WgmmaEpilogue::Mode mode) {
  CudaEmitter &e = block.e;
  e.reset();
  e.scratchAlignment = 1024; // the swizzle repeats after as many bytes
  e.blocksPerMultiprocessor = block.tile.blocks;
  e.launch.items = block.scheduler.blocks();
  e.launch.scratchBytes = block.tile.sharedBytes();
  if (block.left) {
    block.left->addMap(e, block.tile.m);
  }
  block.right.addMap(e, block.tile.n);
  bool ok = true;
  e.forEachBlock(block.tile.threads(), [&](Value) {
    block.thread = e.threadIndex();
    block.lane = arith::RemUIOp::create(e.b, e.loc, block.thread, e.index(32));
    // The compiler keeps what all threads of a warp share in one register.
    block.warp = e.broadcastFirst(
        arith::DivUIOp::create(e.b, e.loc, block.thread, e.index(32)));
    e.onFirstThread([&] {
      if (block.left) {
        block.left->prefetchMap(e);
      }
      block.right.prefetchMap(e);
      block.ring.initialize(block.fillArrivals(), block.tile.consumerWarps());
    });
    e.barrier();
    auto roles = scf::IfOp::create(e.b, e.loc, e.isBelow(block.warp, 4),
                                   /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(roles.thenBlock());
    emitWgmmaProducer(block);
    e.b.setInsertionPointToStart(roles.elseBlock());
    ok = succeeded(emitWgmmaConsumers(block, mode));
  });
  return success(ok);
}

LogicalResult cuda::emitWgmmaKernel(CudaEmitter &emitter, Operation *root) {
  if (!emitter.architecture.hasWgmma()) {
    return failure();
  }
  std::unique_ptr<GemmView> view = GemmView::create(root);
  if (!view || view->left.element != view->right.element || view->k == 0) {
    return failure();
  }
  Type element = view->left.element;
  const WgmmaTile *tile = chooseWgmmaTile(*view, emitter);
  if ((!element.isF16() && !element.isBF16()) || !tile) {
    return failure();
  }
  auto left = TmaOperand::create(root, /*isLeft=*/true);
  auto gathered = left ? std::optional<GatheredOperand>()
                       : GatheredOperand::create(root, *view);
  auto right = TmaOperand::create(root, /*isLeft=*/false);
  if ((!left && !gathered) || !right) {
    return failure();
  }
  using Mode = WgmmaEpilogue::Mode;
  for (Mode mode : {Mode::Fragments, Mode::Vectors, Mode::Scalars}) {
    WgmmaBlock block{emitter,
                     *view,
                     *tile,
                     left,
                     gathered,
                     *right,
                     StageRing(emitter, tile->stages, tile->barrierOffset()),
                     TileScheduler(emitter, *view, *tile),
                     {},
                     {},
                     {}};
    if (succeeded(emitKernelOf(block, mode))) {
      return success();
    }
  }
  return failure();
}
