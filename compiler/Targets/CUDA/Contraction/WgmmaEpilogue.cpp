//===- WgmmaEpilogue.cpp - From accumulators of wgmma to results ----------===//
#include "compiler/Targets/CUDA/Contraction/WgmmaEpilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

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

/// Where group `group` of row `row` lies, in elements. Rows follow each other
/// without a gap; the position of a group is xored with its row's, so that the
/// rows of a fragment lie in different banks.
Value WgmmaEpilogue::offsetOf(Value row, Value group) {
  Value bits = arith::AndIOp::create(e.b, e.loc, row, e.index(groups - 1));
  Value moved = arith::XOrIOp::create(e.b, e.loc, group, bits);
  return e.addIndex(e.mulIndex(row, WgmmaTile::handedColumns),
                    e.mulIndex(moved, groupSize));
}

Value WgmmaEpilogue::startOf(const Place &place, int64_t offset) {
  Value bytes = e.mulIndex(place.warp, tile.handedBytes());
  Value base = e.scratchPointer(tile.handedOffset() + offset);
  Value word = arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), bytes);
  return LLVM::GEPOp::create(e.b, e.loc, base.getType(), e.b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{word});
}

LogicalResult WgmmaEpilogue::emit(const Place &place, ValueRange acc) {
  constexpr int64_t registers =
      WgmmaTile::warpRows * WgmmaTile::handedColumns / warpThreads;
  bool fragments = mode == Mode::Fragments;
  if (fragments && !suitsFragments()) {
    return failure();
  }
  for (size_t i = 0; i < acc.size(); i += registers) {
    auto number = static_cast<int64_t>(i) / registers;
    Value column =
        e.addIndex(place.column, e.index(number * WgmmaTile::handedColumns));
    ValueRange part = acc.slice(i, registers);
    // Results take half of the room: while lanes still store one part, the next
    // goes to the other half.
    Value start =
        startOf(place, fragments ? number % 2 * tile.handedBytes() / 2 : 0);
    if (fragments) {
      if (failed(handOverResults(place, start, column, part))) {
        return failure();
      }
      syncWarp();
      storeResults(place, start, column);
      continue;
    }
    handOver(start, place.lane, part);
    syncWarp();
    if (failed(finish(place, start, column))) {
      return failure();
    }
    syncWarp();
  }
  if (fragments) {
    syncWarp();
  }
  return success();
}

void WgmmaEpilogue::forEachGroup(
    const Place &place, Value firstColumn,
    function_ref<void(Value row, Value column, Value offset)> body) {
  constexpr int64_t rounds = WgmmaTile::warpRows * groups / warpThreads;
  e.forLoop(e.index(0), e.index(rounds), 1, [&](Value round) {
    Value id = e.addIndex(e.mulIndex(round, warpThreads), place.lane);
    Value localRow = arith::DivUIOp::create(e.b, e.loc, id, e.index(groups));
    Value group = arith::RemUIOp::create(e.b, e.loc, id, e.index(groups));
    Value row = e.addIndex(place.row, localRow);
    Value column = e.addIndex(firstColumn, e.mulIndex(group, groupSize));
    Value inside = view.m % tile.m == 0 ? Value() : e.isBelow(row, view.m);
    if (view.n % tile.n != 0) {
      inside = e.bothOf(inside, e.isBelow(column, view.n));
    }
    e.onlyIf(inside, [&] { body(row, column, offsetOf(localRow, group)); });
  });
}

//===----------------------------------------------------------------------===//
// Epilogues on vectors of a row
//===----------------------------------------------------------------------===//

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

LogicalResult WgmmaEpilogue::finish(const Place &place, Value start,
                                    Value firstColumn) {
  bool ok = true;
  bool wholeVectors = view.n % groupSize == 0;
  forEachGroup(place, firstColumn, [&](Value row, Value column, Value offset) {
    if (mode == Mode::Vectors && wholeVectors) {
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

//===----------------------------------------------------------------------===//
// Epilogues on fragments
//===----------------------------------------------------------------------===//

/// Whether results can be computed two at a time where the products are: there
/// is one, of 16 bits and the products' shape, and what else the epilogue reads
/// is not longer than a row.
bool WgmmaEpilogue::suitsFragments() {
  auto yield = e.kernel.getYield();
  if (yield.getValues().size() != 1 || view.n % groupSize != 0) {
    return false;
  }
  Value result = yield.getValues().front();
  Type element = getElementTypeOrSelf(result.getType());
  if ((!element.isF16() && !element.isBF16()) ||
      shapeOf(result) != shapeOf(view.result)) {
    return false;
  }
  Operation *root = view.result.getDefiningOp();
  auto suits = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    bool isShort =
        cast<RankedTensorType>(operand.getType()).getNumElements() <= view.n;
    return isShort || (op && !op->isBeforeInBlock(root));
  };
  for (Operation *op = root->getNextNode(); op != yield.getOperation();
       op = op->getNextNode()) {
    auto fusable = dyn_cast<FusableOpInterface>(op);
    if (!fusable || fusable.getFusionKind() != FusionKind::Elementwise ||
        !llvm::all_of(op->getOperands(), suits)) {
      return false;
    }
  }
  return true;
}

/// The results of two neighbouring products as a word.
FailureOr<Value> WgmmaEpilogue::resultPair(const Place &place, Value row,
                                           Value column, ValueRange pair) {
  auto type = VectorType::get({2}, e.b.getF32Type());
  Value sums = vector::FromElementsOp::create(e.b, e.loc, type, pair);
  SmallVector<LaneIndex> index;
  for (Value i : view.resultIndex(e, place.batch, row, column)) {
    index.push_back({i, 0});
  }
  index.back().step = 1;
  FailureOr<Value> biased = addBias(e, view.bias, view.result, sums, index, 2);
  Value word;
  auto keep = [&](Value value, Type element) {
    word = LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(),
                                   e.toMemory(value, element));
  };
  if (failed(biased) || failed(emitEpilogue(e, view.result, *biased, index, 2,
                                            /*mask=*/{}, keep))) {
    return failure();
  }
  return word;
}

LogicalResult WgmmaEpilogue::handOverResults(const Place &place, Value start,
                                             Value firstColumn,
                                             ValueRange acc) {
  // An epilogue of more ops is better in a loop than once for each pair.
  constexpr ptrdiff_t longest = 60;
  Value four = e.index(4), eight = e.index(8);
  Value laneRow = arith::DivUIOp::create(e.b, e.loc, place.lane, four);
  Value pair =
      e.mulIndex(arith::RemUIOp::create(e.b, e.loc, place.lane, four), 2);
  // Lane t names row t % 8 of matrix t / 8: the upper and the lower rows of a
  // group, then those of the next group.
  Value matrix = arith::DivUIOp::create(e.b, e.loc, place.lane, eight);
  Value two = e.index(2);
  Value lower = arith::RemUIOp::create(e.b, e.loc, matrix, two);
  Value later = arith::DivUIOp::create(e.b, e.loc, matrix, two);
  Value namedRow = e.addIndex(
      arith::RemUIOp::create(e.b, e.loc, place.lane, eight).getResult(),
      e.mulIndex(lower, 8));
  auto clamp = [&](Value index, int64_t size, int64_t tileSize,
                   int64_t last) -> Value {
    return size % tileSize == 0
               ? index
               : arith::MinUIOp::create(e.b, e.loc, index, e.index(last))
                     .getResult();
  };
  auto shape = NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8);
  for (int64_t group = 0; group < groups; group += 2) {
    SmallVector<Value> words;
    for (int64_t i = 0; i < 4; ++i) {
      // What lies outside computes on the last row or column, for nothing.
      Value row =
          clamp(e.addIndex(place.row, e.addIndex(laneRow, e.index(i % 2 * 8))),
                view.m, tile.m, view.m - 1);
      Value column = clamp(
          e.addIndex(e.addIndex(firstColumn, e.index((group + i / 2) * 8)),
                     pair),
          view.n, tile.n, view.n - 2);
      auto first = static_cast<size_t>((group + i / 2) * 4 + i % 2 * 2);
      size_t before = e.b.getBlock()->getOperations().size();
      FailureOr<Value> word =
          resultPair(place, row, column, acc.slice(first, 2));
      size_t count = e.b.getBlock()->getOperations().size() - before;
      if (failed(word) || !*word || count > longest) {
        return failure();
      }
      words.push_back(*word);
    }
    Value at = offsetOf(namedRow, e.addIndex(later, e.index(group)));
    Value offset = arith::IndexCastOp::create(
        e.b, e.loc, e.b.getI32Type(), e.mulIndex(at, WgmmaTile::elementBytes));
    Value pointer =
        LLVM::GEPOp::create(e.b, e.loc, start.getType(), e.b.getI8Type(), start,
                            ArrayRef<LLVM::GEPArg>{offset});
    NVVM::StMatrixOp::create(e.b, e.loc, pointer, words, NVVM::MMALayout::row,
                             shape, NVVM::LdStMatrixEltType::B16);
  }
  return success();
}

void WgmmaEpilogue::storeResults(const Place &place, Value start,
                                 Value firstColumn) {
  Type words = VectorType::get({4}, e.b.getI32Type());
  constexpr unsigned bytes = groupSize * WgmmaTile::elementBytes;
  Type half = e.b.getI16Type();
  forEachGroup(place, firstColumn, [&](Value row, Value column, Value offset) {
    Value from = LLVM::GEPOp::create(
        e.b, e.loc, start.getType(), half, start,
        ArrayRef<LLVM::GEPArg>{
            arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), offset)
                .getResult()});
    Value group = LLVM::LoadOp::create(e.b, e.loc, words, from, bytes);
    Value line = e.addIndex(e.mulIndex(place.batch, view.m), row);
    Value at = e.addIndex(e.mulIndex(line, view.n), column);
    Value to = LLVM::GEPOp::create(
        e.b, e.loc, e.resultPointer(0).getType(), half, e.resultPointer(0),
        ArrayRef<LLVM::GEPArg>{
            arith::IndexCastOp::create(e.b, e.loc, e.b.getI64Type(), at)
                .getResult()});
    LLVM::StoreOp::create(e.b, e.loc, group, to, bytes);
  });
}
