//===- Epilogue.cpp - From the sums of a contraction to its results -------===//
#include "compiler/Targets/CUDA/Contraction/Epilogue.h"

#include "compiler/Targets/CUDA/Contraction/SplitSum.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

Type ContractionEpilogue::sumType() const {
  return getComputeType(getElementTypeOrSelf(view.result.getType()));
}

void ContractionEpilogue::handOver(ValueRange sums, Value row, Value column) {
  Value at = e.addIndex(e.mulIndex(row, stride(columns)), column);
  Value vector = sums.front();
  if (sums.size() > 1) {
    auto type = VectorType::get({static_cast<int64_t>(sums.size())}, sumType());
    vector = vector::FromElementsOp::create(e.b, e.loc, type, sums);
  }
  e.store(vector, e.scratchPointer(offset), sumType(), at);
}

LogicalResult ContractionEpilogue::finish(const ResultTile &tile, Value thread,
                                          RowMap rowInTile) {
  constexpr int64_t lanes = 8;
  bool ok = true;
  int64_t perRow = columns / lanes;
  bool hasVectors =
      vectors && view.n % lanes == 0 && view.columnDimension().has_value();
  e.forLoop(thread, e.index(rows * perRow), threads, [&](Value id) {
    Value local = arith::DivUIOp::create(e.b, e.loc, id, e.index(perRow));
    Value inRow = e.mulIndex(
        arith::RemUIOp::create(e.b, e.loc, id, e.index(perRow)), lanes);
    Value rowHere = rowInTile ? rowInTile(local) : local;
    Value row = e.addIndex(tile.firstRow, rowHere);
    Value column = e.addIndex(tile.firstColumn, inRow);
    Value at = e.addIndex(e.mulIndex(local, stride(columns)), inRow);
    // Of the first of the lanes, among the tile's sums.
    Value inTile = e.addIndex(e.mulIndex(rowHere, columns), inRow);
    bool isWhole = !rowInTile && view.m % rows == 0;
    Value inside = isWhole ? Value() : e.isBelow(row, view.m);
    if (view.n % lanes == 0 && view.n % columns != 0) {
      inside = e.bothOf(inside, e.isBelow(column, view.n));
    }
    e.onlyIf(inside, [&] {
      if (hasVectors) {
        ok =
            ok && succeeded(finishVector(tile, row, column, at, inTile, lanes));
        return;
      }
      Value end = arith::MinUIOp::create(
          e.b, e.loc, e.addIndex(column, e.index(lanes)), e.index(view.n));
      e.forLoop(column, end, 1, [&](Value c) {
        Value more = arith::SubIOp::create(e.b, e.loc, c, column);
        ok = ok && succeeded(finishVector(tile, row, c, e.addIndex(at, more),
                                          e.addIndex(inTile, more), 1));
      });
    });
  });
  return success(ok);
}

LogicalResult ContractionEpilogue::finishVector(const ResultTile &tile,
                                                Value row, Value column,
                                                Value at, Value inTile,
                                                int64_t lanes) {
  Value sums = e.load(e.scratchPointer(offset), sumType(), at, lanes);
  SmallVector<LaneIndex> index;
  for (Value i : view.resultIndex(e, tile.batch, row, column)) {
    index.push_back({i, 0});
  }
  if (lanes != 1) {
    index[*view.columnDimension()].step = 1;
  }
  if (!split) {
    return finishSums(sums, index, lanes);
  }
  LogicalResult result = success();
  sums = split->add(sums, inTile);
  split->passOn(sums, inTile, [&] { result = finishSums(sums, index, lanes); });
  return result;
}

LogicalResult ContractionEpilogue::finishSums(Value sums,
                                              ArrayRef<LaneIndex> index,
                                              int64_t lanes) {
  FailureOr<Value> biased =
      addBias(e, view.bias, view.result, sums, index, lanes);
  return failed(biased) ? failure()
                        : emitEpilogue(e, view.result, *biased, index, lanes);
}
