//===- StageRing.cpp - Slices of shared memory between warpgroups ---------===//
#include "compiler/Targets/CUDA/Contraction/StageRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

static constexpr int64_t barrierBytes = 8;

static Value int32(CudaEmitter &e, int64_t value) {
  return arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(value));
}

Value StageRing::barrier(Value stage, int64_t plus) {
  Value at = e.mulIndex(e.addIndex(stage, e.index(plus)), barrierBytes);
  Value bytes = arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), at);
  Value start = e.scratchPointer(offset);
  return LLVM::GEPOp::create(e.b, e.loc, start.getType(), e.b.getI8Type(),
                             start, ArrayRef<LLVM::GEPArg>{bytes});
}

void StageRing::initialize(int64_t fillArrivals, int64_t emptyArrivals) {
  for (int64_t i = 0; i < stages; ++i) {
    NVVM::MBarrierInitOp::create(e.b, e.loc, full(e.index(i)),
                                 int32(e, fillArrivals), Value());
    NVVM::MBarrierInitOp::create(e.b, e.loc, empty(e.index(i)),
                                 int32(e, emptyArrivals), Value());
  }
  // The copy engine sees them too (PTX ISA, "fence.mbarrier_init").
  NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
}

StageRing::Position StageRing::first() { return {e.index(0), e.index(0)}; }

StageRing::Position StageRing::next(const Position &at) {
  Value later = e.addIndex(at.stage, e.index(1));
  Value wraps = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                      later, e.index(stages));
  Value flipped =
      arith::XOrIOp::create(e.b, e.loc, at.parity, e.index(1)).getResult();
  return {
      arith::SelectOp::create(e.b, e.loc, wraps, e.index(0), later).getResult(),
      arith::SelectOp::create(e.b, e.loc, wraps, flipped, at.parity)
          .getResult()};
}

Value StageRing::before(Value stage) {
  Value isFirst = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                        stage, e.index(0));
  return arith::SelectOp::create(e.b, e.loc, isFirst, e.index(stages - 1),
                                 e.addIndex(stage, e.index(-1)));
}

void StageRing::wait(Value barrier, Value parity) {
  Value phase =
      arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), parity);
  auto loop = scf::WhileOp::create(e.b, e.loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(e.b);
  e.b.createBlock(&loop.getBefore());
  Value done = NVVM::MBarrierTryWaitOp::create(
      e.b, e.loc, e.b.getI1Type(), barrier, phase, /*ticks=*/Value());
  Value again = arith::XOrIOp::create(
      e.b, e.loc, done,
      arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true)));
  scf::ConditionOp::create(e.b, e.loc, again, ValueRange());
  e.b.createBlock(&loop.getAfter());
  scf::YieldOp::create(e.b, e.loc);
}

void StageRing::waitUntilFull(const Position &at) {
  wait(full(at.stage), at.parity);
}

void StageRing::waitUntilEmpty(const Position &at) {
  wait(empty(at.stage),
       arith::XOrIOp::create(e.b, e.loc, at.parity, e.index(1)));
}

void StageRing::expectBytes(const Position &at, int64_t bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(
      e.b, e.loc, /*res=*/Type(), full(at.stage), int32(e, bytes),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
}

void StageRing::arrive(Value barrier) {
  NVVM::MBarrierArriveOp::create(e.b, e.loc, /*res=*/Type(), barrier,
                                 /*count=*/Value());
}
