//===- WgmmaKernel.cpp - Contractions on tensor cores with wgmma ----------===//
// Blocks stay on their multiprocessors and take tiles of the result in turn
// (Hopper's warp-specialised persistent kernel). The first warpgroup has the
// copy engine fill a ring of stages with slices of both operands, running ahead
// into the next tile; the others multiply, each its own rows, and release a
// stage once the products of the next one are under way.
#include "compiler/Targets/CUDA/StageRing.h"
#include "compiler/Targets/CUDA/TmaOperand.h"
#include "compiler/Targets/CUDA/WgmmaEpilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

/// Registers that a thread of the producer keeps.
constexpr int64_t producerRegisters = 40;

class WgmmaKernel {
public:
  WgmmaKernel(CudaEmitter &e, GemmView &view, TmaOperand left, TmaOperand right,
              const WgmmaTile &tile, bool vectors)
      : e(e), view(view), left(std::move(left)), right(std::move(right)),
        tile(tile), vectors(vectors),
        ring(e, tile.stages, tile.barrierOffset()) {}

  LogicalResult emit();

private:
  /// A tile of the result.
  struct Tile {
    Value batch, row, column;
  };
  using Carried = SmallVector<Value>;

  Tile tileAt(Value number);
  Carried forEachTile(ValueRange init,
                      function_ref<Carried(const Tile &, ValueRange)> body);
  void setRegisters(int64_t count, NVVM::SetMaxRegisterAction action);
  void produce();
  LogicalResult consume();
  Carried multiply(ValueRange position, Carried &sums);
  void multiplyStage(Value stage, MutableArrayRef<Value> sums);
  void release(Value stage);
  Value stagePointer(Value stage, int64_t offset);
  /// Of the part of shared memory that begins at `offset`.
  Value descriptor(const TmaOperand &operand, int64_t offset);
  void onCondition(Value condition, function_ref<void()> body);
  Value equals(Value lhs, int64_t rhs) {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, lhs,
                                 e.index(rhs));
  }
  int64_t steps() const { return llvm::divideCeil(view.k, WgmmaTile::k); }

  CudaEmitter &e;
  GemmView &view;
  TmaOperand left, right;
  const WgmmaTile &tile;
  bool vectors;
  StageRing ring;
  Value thread, lane, warp;
  /// Of a consumer: the first stage's descriptors, with its own rows.
  Value leftDescriptor, rightDescriptor;
};

LogicalResult WgmmaKernel::emit() {
  e.reset();
  e.scratchAlignment = 1024; // the swizzle repeats after as many bytes
  e.blocksPerMultiprocessor = tile.blocks;
  e.launch.items = countBlocks(tile, view);
  e.launch.scratchBytes = tile.sharedBytes();
  left.addMap(e, tile.m);
  right.addMap(e, tile.n);
  bool ok = true;
  e.forEachBlock(tile.threads(), [&](Value) {
    thread = e.threadIndex();
    lane = arith::RemUIOp::create(e.b, e.loc, thread, e.index(32));
    // The compiler keeps what all threads of a warp share in one register.
    warp = e.broadcastFirst(
        arith::DivUIOp::create(e.b, e.loc, thread, e.index(32)));
    e.onFirstThread([&] {
      left.prefetchMap(e);
      right.prefetchMap(e);
      ring.initialize(1, tile.consumerWarps());
    });
    e.barrier();
    Value produces = arith::CmpIOp::create(
        e.b, e.loc, arith::CmpIPredicate::ult, warp, e.index(4));
    auto roles = scf::IfOp::create(e.b, e.loc, produces, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(roles.thenBlock());
    produce();
    e.b.setInsertionPointToStart(roles.elseBlock());
    ok = succeeded(consume());
  });
  return success(ok);
}

void WgmmaKernel::onCondition(Value condition, function_ref<void()> body) {
  auto choice = scf::IfOp::create(e.b, e.loc, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.thenBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Tiles that run at the same time lie in few rows and columns of tiles, whose
/// operands L2 then holds: groups of rows, in each column after column.
WgmmaKernel::Tile WgmmaKernel::tileAt(Value number) {
  constexpr int64_t groupRows = 8;
  int64_t rows = llvm::divideCeil(view.m, tile.m);
  int64_t columns = llvm::divideCeil(view.n, tile.n);
  SmallVector<Value> at = e.delinearize(number, {view.batch, rows * columns});
  int64_t inGroup = std::min(rows, groupRows);
  Value group =
      arith::DivUIOp::create(e.b, e.loc, at[1], e.index(inGroup * columns));
  Value within =
      arith::RemUIOp::create(e.b, e.loc, at[1], e.index(inGroup * columns));
  Value firstRow = e.mulIndex(group, inGroup);
  // The last group may have fewer rows.
  Value size = e.index(inGroup);
  if (rows % inGroup != 0) {
    size = arith::MinUIOp::create(
        e.b, e.loc, size,
        arith::SubIOp::create(e.b, e.loc, e.index(rows), firstRow));
  }
  Value row = e.addIndex(
      firstRow, arith::RemUIOp::create(e.b, e.loc, within, size).getResult());
  Value column = arith::DivUIOp::create(e.b, e.loc, within, size);
  return {at[0], e.mulIndex(row, tile.m), e.mulIndex(column, tile.n)};
}

WgmmaKernel::Carried
WgmmaKernel::forEachTile(ValueRange init,
                         function_ref<Carried(const Tile &, ValueRange)> body) {
  int64_t tiles = view.batch * llvm::divideCeil(view.m, tile.m) *
                  llvm::divideCeil(view.n, tile.n);
  if (tiles <= e.launch.items) {
    return body(tileAt(e.blockIndex()), init);
  }
  return e.forLoopCarried(e.blockIndex(), e.index(tiles), e.launch.items, init,
                          [&](Value number, ValueRange carried) {
                            return body(tileAt(number), carried);
                          });
}

Value WgmmaKernel::stagePointer(Value stage, int64_t offset) {
  Value bytes = arith::IndexCastOp::create(
      e.b, e.loc, e.b.getI32Type(), e.mulIndex(stage, tile.stageBytes()));
  Value start = e.scratchPointer(offset);
  return LLVM::GEPOp::create(e.b, e.loc, start.getType(), e.b.getI8Type(),
                             start, ArrayRef<LLVM::GEPArg>{bytes});
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

void WgmmaKernel::setRegisters(int64_t count,
                               NVVM::SetMaxRegisterAction action) {
  if (tile.firstRegisters() < 255) {
    NVVM::SetMaxRegisterOp::create(e.b, e.loc, static_cast<uint32_t>(count),
                                   action);
  }
}

void WgmmaKernel::produce() {
  setRegisters(producerRegisters, NVVM::SetMaxRegisterAction::decrease);
  onCondition(equals(thread, 0), [&] {
    StageRing::Position first = ring.first();
    forEachTile({first.stage, first.parity},
                [&](const Tile &at, ValueRange carried) -> Carried {
                  return e.forLoopCarried(
                      e.index(0), e.index(steps()), 1, carried,
                      [&](Value step, ValueRange now) -> Carried {
                        StageRing::Position position{now[0], now[1]};
                        ring.waitUntilEmpty(position);
                        ring.expectBytes(position, tile.stageBytes());
                        Value full = ring.full(position.stage);
                        Value kk = e.mulIndex(step, WgmmaTile::k);
                        left.load(e, stagePointer(position.stage, 0), full,
                                  at.batch, at.row, kk);
                        right.load(
                            e, stagePointer(position.stage, tile.leftBytes()),
                            full, at.batch, at.column, kk);
                        StageRing::Position next = ring.next(position);
                        return {next.stage, next.parity};
                      });
                });
  });
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

Value WgmmaKernel::descriptor(const TmaOperand &operand, int64_t offset) {
  // Bits 4 to 17 of the address (PTX ISA, "Matrix descriptor").
  Type i64 = e.b.getI64Type();
  auto number = [&](uint64_t value) -> Value {
    return arith::ConstantOp::create(
        e.b, e.loc, e.b.getI64IntegerAttr(static_cast<int64_t>(value)));
  };
  Value address =
      LLVM::PtrToIntOp::create(e.b, e.loc, i64, e.scratchPointer(offset));
  address = arith::AndIOp::create(e.b, e.loc, address, number(0x3ffff));
  address = arith::ShRUIOp::create(e.b, e.loc, address, number(4));
  return arith::OrIOp::create(e.b, e.loc, address,
                              number(operand.descriptorBits()));
}

LogicalResult WgmmaKernel::consume() {
  setRegisters(tile.consumerRegisters(producerRegisters),
               NVVM::SetMaxRegisterAction::increase);
  Value consumerWarp = e.addIndex(warp, e.index(-4));
  Value consumer = arith::DivUIOp::create(e.b, e.loc, consumerWarp, e.index(4));
  int64_t rows = tile.m / tile.consumers;
  Value ownBytes = arith::IndexCastUIOp::create(
      e.b, e.loc, e.b.getI64Type(),
      e.mulIndex(consumer, rows * WgmmaTile::k * WgmmaTile::elementBytes / 16));
  leftDescriptor =
      arith::AddIOp::create(e.b, e.loc, descriptor(left, 0), ownBytes);
  rightDescriptor = descriptor(right, tile.leftBytes());
  // Rows of a warp within a wgmma of its warpgroup.
  Value warpRow = e.addIndex(
      e.mulIndex(consumer, rows),
      e.mulIndex(arith::RemUIOp::create(e.b, e.loc, consumerWarp, e.index(4)),
                 WgmmaTile::warpRows));
  WgmmaEpilogue epilogue(e, view, tile, vectors);
  bool ok = true;
  StageRing::Position first = ring.first();
  forEachTile({first.stage, first.parity},
              [&](const Tile &at, ValueRange position) -> Carried {
                Carried sums;
                Carried next = multiply(position, sums);
                auto size = static_cast<size_t>(tile.n / 2);
                for (int64_t part = 0; part < tile.parts(); ++part) {
                  Value row =
                      e.addIndex(e.addIndex(at.row, warpRow),
                                 e.index(part * WgmmaTile::warpgroupRows));
                  ok = ok && succeeded(epilogue.emit(
                                 {at.batch, row, at.column, consumerWarp, lane},
                                 ValueRange(sums).slice(
                                     static_cast<size_t>(part) * size, size)));
                }
                return next;
              });
  return success(ok);
}

void WgmmaKernel::release(Value stage) {
  onCondition(equals(lane, 0), [&] { ring.arriveEmpty(stage); });
}

/// All products of a tile into `sums`; the position after them.
WgmmaKernel::Carried WgmmaKernel::multiply(ValueRange position, Carried &sums) {
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
  Carried init(position);
  init.append(static_cast<size_t>(tile.parts() * tile.n / 2), zero);
  Carried last = e.forLoopCarried(
      e.index(0), e.index(steps()), 1, init,
      [&](Value step, ValueRange carried) -> Carried {
        StageRing::Position at{carried[0], carried[1]};
        Carried now(carried.drop_front(2));
        ring.waitUntilFull(at);
        multiplyStage(at.stage, now);
        // The products before these are done, and with them their stage.
        NVVM::WgmmaWaitGroupSyncOp::create(e.b, e.loc, 1);
        Value isLater = arith::CmpIOp::create(
            e.b, e.loc, arith::CmpIPredicate::ne, step, e.index(0));
        Value frees =
            arith::AndIOp::create(e.b, e.loc, isLater, equals(lane, 0));
        onCondition(frees, [&] { ring.arriveEmpty(ring.before(at.stage)); });
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
void WgmmaKernel::multiplyStage(Value stage, MutableArrayRef<Value> sums) {
  Type f32 = e.b.getF32Type(), i64 = e.b.getI64Type();
  auto registers = static_cast<size_t>(tile.n / 2);
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(registers, f32));
  bool isHalf = view.left.element.isF16();
  NVVM::WGMMATypes kind =
      isHalf ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::bf16;
  auto shape = NVVM::MMAShapeAttr::get(e.b.getContext(),
                                       WgmmaTile::warpgroupRows, tile.n, 16);
  Value moved = arith::IndexCastUIOp::create(
      e.b, e.loc, i64, e.mulIndex(stage, tile.stageBytes() / 16));
  Value leftStage = arith::AddIOp::create(e.b, e.loc, leftDescriptor, moved);
  Value rightStage = arith::AddIOp::create(e.b, e.loc, rightDescriptor, moved);
  auto plus = [&](Value base, int64_t bytes) -> Value {
    return bytes == 0 ? base
                      : arith::AddIOp::create(
                            e.b, e.loc, base,
                            arith::ConstantOp::create(
                                e.b, e.loc, e.b.getI64IntegerAttr(bytes / 16)))
                            .getResult();
  };
  // A whole struct in and out: nothing may touch the registers in between.
  SmallVector<Value> packed;
  for (int64_t part = 0; part < tile.parts(); ++part) {
    Value sum = LLVM::PoisonOp::create(e.b, e.loc, type);
    for (size_t i = 0; i < registers; ++i) {
      sum = LLVM::InsertValueOp::create(
          e.b, e.loc, sum, sums[static_cast<size_t>(part) * registers + i],
          ArrayRef<int64_t>{static_cast<int64_t>(i)});
    }
    packed.push_back(sum);
  }
  NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
  int64_t partBytes =
      WgmmaTile::warpgroupRows * WgmmaTile::k * WgmmaTile::elementBytes;
  for (int64_t i = 0; i < WgmmaTile::k / 16; ++i) {
    for (auto [part, sum] : llvm::enumerate(packed)) {
      int64_t leftBytes =
          static_cast<int64_t>(part) * partBytes + i * left.stepBytes();
      sum = NVVM::WgmmaMmaAsyncOp::create(
          e.b, e.loc, type, sum, plus(leftStage, leftBytes),
          plus(rightStage, i * right.stepBytes()), shape, kind, kind,
          NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one,
          NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
          left.alongK() ? NVVM::MMALayout::row : NVVM::MMALayout::col,
          right.alongK() ? NVVM::MMALayout::col : NVVM::MMALayout::row,
          /*satfinite=*/nullptr);
    }
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
  for (auto [part, sum] : llvm::enumerate(packed)) {
    for (size_t i = 0; i < registers; ++i) {
      sums[part * registers + i] = LLVM::ExtractValueOp::create(
          e.b, e.loc, sum, ArrayRef<int64_t>{static_cast<int64_t>(i)});
    }
  }
}

} // namespace

LogicalResult cuda::emitWgmmaKernel(CudaEmitter &emitter, Operation *root) {
  if (!emitter.hasWgmma) {
    return failure();
  }
  std::unique_ptr<GemmView> view = GemmView::create(root);
  if (!view || view->left.element != view->right.element || view->k == 0) {
    return failure();
  }
  Type element = view->left.element;
  auto left = TmaOperand::create(root, /*isLeft=*/true);
  auto right = TmaOperand::create(root, /*isLeft=*/false);
  const WgmmaTile *tile = chooseWgmmaTile(*view, emitter.kernel);
  if ((!element.isF16() && !element.isBF16()) || !left || !right || !tile) {
    return failure();
  }
  for (bool vectors : {true, false}) {
    if (succeeded(WgmmaKernel(emitter, *view, *left, *right, *tile, vectors)
                      .emit())) {
      return success();
    }
  }
  return failure();
}
