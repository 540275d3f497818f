//===- WgmmaConsumer.cpp - The warpgroups that multiply -------------------===//
// Each multiplies its own rows of a stage, and releases the stage before once
// the products of this one are under way.
#include "compiler/Targets/CUDA/Contraction/WgmmaProducer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

namespace {

class Consumer {
public:
  explicit Consumer(WgmmaBlock &block)
      : block(block), e(block.e), tile(block.tile), ring(block.ring) {}

  LogicalResult emit(WgmmaEpilogue::Mode mode);

private:
  using Carried = TileScheduler::Carried;

  Carried multiply(ValueRange position, Carried &sums);
  void multiplyStage(Value stage, MutableArrayRef<Value> sums);
  void release(Value stage, Value condition = {});
  /// Of the part of shared memory that begins at `offset`.
  Value descriptor(uint64_t bits, int64_t offset);
  Value plus(Value descriptor, int64_t bytes);

  bool leftAlongK() const { return !block.left || block.left->alongK(); }
  int64_t leftStepBytes() const {
    return block.left ? block.left->stepBytes() : TmaOperand::rowStepBytes;
  }
  auto registers() const { return static_cast<size_t>(tile.n / 2); }

  WgmmaBlock &block;
  CudaEmitter &e;
  const WgmmaTile &tile;
  StageRing &ring;
  /// The first stage's descriptors, the left one of this warpgroup's rows.
  Value leftDescriptor, rightDescriptor;
};

// Bits 4 to 17 of the address (PTX ISA, "Matrix descriptor").
Value Consumer::descriptor(uint64_t bits, int64_t offset) {
  auto number = [&](uint64_t value) -> Value {
    return arith::ConstantOp::create(
        e.b, e.loc, e.b.getI64IntegerAttr(static_cast<int64_t>(value)));
  };
  Value address = LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI64Type(),
                                           e.scratchPointer(offset));
  address = arith::AndIOp::create(e.b, e.loc, address, number(0x3ffff));
  address = arith::ShRUIOp::create(e.b, e.loc, address, number(4));
  return arith::OrIOp::create(e.b, e.loc, address, number(bits));
}

Value Consumer::plus(Value descriptor, int64_t bytes) {
  if (bytes == 0) {
    return descriptor;
  }
  Value units =
      arith::ConstantOp::create(e.b, e.loc, e.b.getI64IntegerAttr(bytes / 16));
  return arith::AddIOp::create(e.b, e.loc, descriptor, units);
}

LogicalResult Consumer::emit(WgmmaEpilogue::Mode mode) {
  Value consumerWarp = e.addIndex(block.warp, e.index(-4));
  Value consumer = arith::DivUIOp::create(e.b, e.loc, consumerWarp, e.index(4));
  int64_t rows = tile.m / tile.consumers;
  Value ownUnits = arith::IndexCastUIOp::create(
      e.b, e.loc, e.b.getI64Type(),
      e.mulIndex(consumer, rows * WgmmaTile::k * WgmmaTile::elementBytes / 16));
  leftDescriptor = arith::AddIOp::create(
      e.b, e.loc, descriptor(TmaOperand::descriptorBits(leftAlongK()), 0),
      ownUnits);
  rightDescriptor = descriptor(TmaOperand::descriptorBits(block.right.alongK()),
                               tile.leftBytes());
  // A warp's rows within a wgmma of its warpgroup.
  Value inGroup = arith::RemUIOp::create(e.b, e.loc, consumerWarp, e.index(4));
  Value warpRow = e.addIndex(e.mulIndex(consumer, rows),
                             e.mulIndex(inGroup, WgmmaTile::warpRows));
  WgmmaEpilogue epilogue(e, block.view, tile, mode);
  bool ok = true;
  StageRing::Position first = ring.first();
  block.scheduler.forEachTile(
      {first.stage, first.parity},
      [&](const ResultTile &at, ValueRange position) {
        Carried sums;
        Carried next = multiply(position, sums);
        for (int64_t part = 0; part < tile.parts(); ++part) {
          Value row = e.addIndex(e.addIndex(at.firstRow, warpRow),
                                 e.index(part * WgmmaTile::warpgroupRows));
          auto begin = static_cast<size_t>(part) * registers();
          ok = ok &&
               succeeded(epilogue.emit(
                   {at.batch, row, at.firstColumn, consumerWarp, block.lane},
                   ValueRange(sums).slice(begin, registers())));
        }
        return next;
      });
  return success(ok);
}

/// One lane of each warp arrives: it alone knows that its wgmmas are done.
void Consumer::release(Value stage, Value condition) {
  Value isFirst = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                        block.lane, e.index(0));
  e.onlyIf(e.bothOf(condition, isFirst), [&] { ring.arriveEmpty(stage); });
}

/// All products of a tile into `sums`; the position after them.
Consumer::Carried Consumer::multiply(ValueRange position, Carried &sums) {
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
  Carried init(position);
  init.append(static_cast<size_t>(tile.parts()) * registers(), zero);
  Carried last = e.forLoopCarried(
      e.index(0), e.index(block.steps()), 1, init,
      [&](Value step, ValueRange carried) -> Carried {
        StageRing::Position at{carried[0], carried[1]};
        Carried now(carried.drop_front(2));
        ring.waitUntilFull(at);
        multiplyStage(at.stage, now);
        // The products before these are done, and with them their stage.
        NVVM::WgmmaWaitGroupSyncOp::create(e.b, e.loc, 1);
        Value isLater = arith::CmpIOp::create(
            e.b, e.loc, arith::CmpIPredicate::ne, step, e.index(0));
        release(ring.before(at.stage), isLater);
        StageRing::Position next = ring.next(at);
        now.insert(now.begin(), {next.stage, next.parity});
        return now;
      });
  NVVM::WgmmaWaitGroupSyncOp::create(e.b, e.loc, 0);
  release(ring.before(last[0]));
  sums.assign(last.begin() + 2, last.end());
  return {last[0], last[1]};
}

/// One group of wgmma: all of a stage.
void Consumer::multiplyStage(Value stage, MutableArrayRef<Value> sums) {
  Type f32 = e.b.getF32Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(registers(), f32));
  bool isHalf = block.view.left.element.isF16();
  NVVM::WGMMATypes kind =
      isHalf ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::bf16;
  auto shape = NVVM::MMAShapeAttr::get(e.b.getContext(),
                                       WgmmaTile::warpgroupRows, tile.n, 16);
  Value moved = arith::IndexCastUIOp::create(
      e.b, e.loc, e.b.getI64Type(), e.mulIndex(stage, tile.stageBytes() / 16));
  Value left = arith::AddIOp::create(e.b, e.loc, leftDescriptor, moved);
  Value right = arith::AddIOp::create(e.b, e.loc, rightDescriptor, moved);
  // A whole struct in and out: nothing may touch the registers in between.
  SmallVector<Value> packed;
  for (size_t part = 0; part < sums.size(); part += registers()) {
    Value sum = LLVM::PoisonOp::create(e.b, e.loc, type);
    for (size_t i = 0; i < registers(); ++i) {
      sum = LLVM::InsertValueOp::create(
          e.b, e.loc, sum, sums[part + i],
          ArrayRef<int64_t>{static_cast<int64_t>(i)});
    }
    packed.push_back(sum);
  }
  NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
  constexpr int64_t partBytes =
      WgmmaTile::warpgroupRows * WgmmaTile::k * WgmmaTile::elementBytes;
  for (int64_t i = 0; i < WgmmaTile::k / 16; ++i) {
    for (auto [part, sum] : llvm::enumerate(packed)) {
      int64_t leftBytes =
          static_cast<int64_t>(part) * partBytes + i * leftStepBytes();
      sum = NVVM::WgmmaMmaAsyncOp::create(
          e.b, e.loc, type, sum, plus(left, leftBytes),
          plus(right, i * block.right.stepBytes()), shape, kind, kind,
          NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one,
          NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
          leftAlongK() ? NVVM::MMALayout::row : NVVM::MMALayout::col,
          block.right.alongK() ? NVVM::MMALayout::col : NVVM::MMALayout::row,
          /*satfinite=*/nullptr);
    }
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
  for (auto [part, sum] : llvm::enumerate(packed)) {
    for (size_t i = 0; i < registers(); ++i) {
      sums[part * registers() + i] = LLVM::ExtractValueOp::create(
          e.b, e.loc, sum, ArrayRef<int64_t>{static_cast<int64_t>(i)});
    }
  }
}

} // namespace

LogicalResult cuda::emitWgmmaConsumers(WgmmaBlock &block,
                                       WgmmaEpilogue::Mode mode) {
  CudaEmitter &e = block.e;
  if (block.tile.movesRegisters()) {
    NVVM::SetMaxRegisterOp::create(
        e.b, e.loc,
        static_cast<uint32_t>(
            block.tile.consumerRegisters(block.producerRegisters())),
        NVVM::SetMaxRegisterAction::increase);
  }
  return Consumer(block).emit(mode);
}
