//===- WgmmaEpilogue.cpp - From accumulators of wgmma to results ----------===//
#include "compiler/Targets/CUDA/WgmmaEpilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

static constexpr int64_t warpThreads = 32;
/// Neighbouring products that a lane takes.
static constexpr int64_t groupSize = 8;
static constexpr int64_t groups = WgmmaTile::handedColumns / groupSize;

void WgmmaEpilogue::syncWarp() {
  Value all = arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(-1));
  NVVM::SyncWarpOp::create(e.b, e.loc, all);
}

/// Where group `group` of row `row` lies. Rows follow each other without a gap;
/// the position of a group is xored with its row's, so that the rows of a
/// fragment lie in different banks.
Value WgmmaEpilogue::offsetOf(Value row, Value group) {
  Value bits = arith::AndIOp::create(e.b, e.loc, row, e.index(groups - 1));
  Value moved = arith::XOrIOp::create(e.b, e.loc, group, bits);
  return e.addIndex(e.mulIndex(row, WgmmaTile::handedColumns),
                    e.mulIndex(moved, groupSize));
}

/// Lane t holds columns 2 * (t % 4) and one more of rows t / 4 and t / 4 + 8 of
/// each 16 x 8 products (PTX ISA, "wgmma.mma_async", matrix D).
void WgmmaEpilogue::handOver(Value start, Value lane, ValueRange acc) {
  Value four = e.index(4);
  Value row = arith::DivUIOp::create(e.b, e.loc, lane, four);
  Value pair = e.mulIndex(arith::RemUIOp::create(e.b, e.loc, lane, four), 2);
  auto type = VectorType::get({2}, e.b.getF32Type());
  for (size_t i = 0; i < acc.size(); i += 2) {
    auto group = static_cast<int64_t>(i / 4);
    auto lower = static_cast<int64_t>(i / 2 % 2);
    Value two = vector::FromElementsOp::create(e.b, e.loc, type,
                                               ValueRange{acc[i], acc[i + 1]});
    Value at = offsetOf(e.addIndex(row, e.index(8 * lower)), e.index(group));
    e.store(two, start, e.b.getF32Type(), e.addIndex(at, pair));
  }
}

LogicalResult WgmmaEpilogue::emit(const Place &place, ValueRange acc) {
  Value bytes = e.mulIndex(place.warp, tile.handedBytes());
  Value base = e.scratchPointer(tile.handedOffset());
  Value start = LLVM::GEPOp::create(
      e.b, e.loc, base.getType(), e.b.getI8Type(), base,
      ArrayRef<LLVM::GEPArg>{
          arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), bytes)
              .getResult()});
  constexpr int64_t registers =
      WgmmaTile::warpRows * WgmmaTile::handedColumns / warpThreads;
  for (size_t i = 0; i < acc.size(); i += registers) {
    handOver(start, place.lane, acc.slice(i, registers));
    syncWarp();
    auto columns =
        static_cast<int64_t>(i) / registers * WgmmaTile::handedColumns;
    if (failed(
            finish(place, start, e.addIndex(place.column, e.index(columns))))) {
      return failure();
    }
    syncWarp();
  }
  return success();
}

LogicalResult WgmmaEpilogue::finish(const Place &place, Value start,
                                    Value firstColumn) {
  bool ok = true;
  bool wholeVectors = view.n % groupSize == 0;
  constexpr int64_t rounds = WgmmaTile::warpRows * groups / warpThreads;
  auto less = [&](Value lhs, int64_t rhs) -> Value {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, lhs,
                                 e.index(rhs));
  };
  e.forLoop(e.index(0), e.index(rounds), 1, [&](Value round) {
    Value id = e.addIndex(e.mulIndex(round, warpThreads), place.lane);
    Value localRow = arith::DivUIOp::create(e.b, e.loc, id, e.index(groups));
    Value group = arith::RemUIOp::create(e.b, e.loc, id, e.index(groups));
    Value row = e.addIndex(place.row, localRow);
    Value column = e.addIndex(firstColumn, e.mulIndex(group, groupSize));
    Value offset = offsetOf(localRow, group);
    Value inside = view.m % tile.m == 0 ? Value() : less(row, view.m);
    if (view.n % tile.n != 0) {
      Value within = less(column, view.n);
      inside =
          inside ? arith::AndIOp::create(e.b, e.loc, inside, within).getResult()
                 : within;
    }
    OpBuilder::InsertionGuard guard(e.b);
    if (inside) {
      auto choice = scf::IfOp::create(e.b, e.loc, inside, /*withElse=*/false);
      e.b.setInsertionPointToStart(choice.thenBlock());
    }
    if (vectors && wholeVectors) {
      ok = ok && succeeded(finishVector(place, row, column, offset, start,
                                        groupSize));
      return;
    }
    Value end = arith::MinUIOp::create(
        e.b, e.loc, e.addIndex(column, e.index(groupSize)), e.index(view.n));
    e.forLoop(column, end, 1, [&](Value c) {
      Value within = arith::SubIOp::create(e.b, e.loc, c, column);
      ok = ok && succeeded(finishVector(place, row, c,
                                        e.addIndex(offset, within), start, 1));
    });
  });
  return success(ok);
}

LogicalResult WgmmaEpilogue::finishVector(const Place &place, Value row,
                                          Value column, Value offset,
                                          Value start, int64_t lanes) {
  Value sums = e.load(start, e.b.getF32Type(), offset, lanes);
  SmallVector<LaneIndex> index;
  for (Value i : view.resultIndex(e, place.batch, row, column)) {
    index.push_back({i, 0});
  }
  index.back().step = lanes == 1 ? 0 : 1;
  FailureOr<Value> biased =
      addBias(e, view.bias, view.result, sums, index, lanes);
  return failed(biased) ? failure()
                        : emitEpilogue(e, view.result, *biased, index, lanes);
}
