//===- Epilogue.cpp - From the sums of a contraction to its results -------===//
#include "compiler/Targets/CUDA/Contraction/Epilogue.h"

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

LogicalResult ContractionEpilogue::finish(const ResultTile &tile,
                                          Value thread) {
  constexpr int64_t lanes = 8;
  bool ok = true;
  int64_t perRow = columns / lanes;
  e.forLoop(thread, e.index(rows * perRow), threads, [&](Value id) {
    Value local = arith::DivUIOp::create(e.b, e.loc, id, e.index(perRow));
    Value inRow = e.mulIndex(
        arith::RemUIOp::create(e.b, e.loc, id, e.index(perRow)), lanes);
    Value row = e.addIndex(tile.firstRow, local);
    Value column = e.addIndex(tile.firstColumn, inRow);
    Value at = e.addIndex(e.mulIndex(local, stride(columns)), inRow);
    Value inside = view.m % rows == 0 ? Value() : e.isBelow(row, view.m);
    if (view.n % lanes == 0 && view.n % columns != 0) {
      inside = e.bothOf(inside, e.isBelow(column, view.n));
    }
    e.onlyIf(inside, [&] {
      if (vectors && view.n % lanes == 0) {
        ok = ok && succeeded(finishVector(tile, row, column, at, lanes));
        return;
      }
      Value end = arith::MinUIOp::create(
          e.b, e.loc, e.addIndex(column, e.index(lanes)), e.index(view.n));
      e.forLoop(column, end, 1, [&](Value c) {
        Value moved = e.addIndex(
            at, arith::SubIOp::create(e.b, e.loc, c, column).getResult());
        ok = ok && succeeded(finishVector(tile, row, c, moved, 1));
      });
    });
  });
  return success(ok);
}

LogicalResult ContractionEpilogue::finishVector(const ResultTile &tile,
                                                Value row, Value column,
                                                Value at, int64_t lanes) {
  Value sums = e.load(e.scratchPointer(offset), sumType(), at, lanes);
  SmallVector<LaneIndex> index;
  for (Value i : view.resultIndex(e, tile.batch, row, column)) {
    index.push_back({i, 0});
  }
  index.back().step = lanes == 1 ? 0 : 1;
  FailureOr<Value> biased =
      addBias(e, view.bias, view.result, sums, index, lanes);
  return failed(biased) ? failure()
                        : emitEpilogue(e, view.result, *biased, index, lanes);
}
