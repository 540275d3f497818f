//===- TileScheduler.cpp - Tiles that a persistent block takes ------------===//
#include "compiler/Targets/CUDA/Contraction/TileScheduler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

/// Tiles that run at the same time lie in few rows and columns of tiles, whose
/// operands L2 then holds: groups of rows, in each column after column.
ResultTile TileScheduler::tileAt(Value number) {
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
    Value left = arith::SubIOp::create(e.b, e.loc, e.index(rows), firstRow);
    size = arith::MinUIOp::create(e.b, e.loc, size, left);
  }
  Value inRows = arith::RemUIOp::create(e.b, e.loc, within, size);
  Value column = arith::DivUIOp::create(e.b, e.loc, within, size);
  return {at[0], e.mulIndex(e.addIndex(firstRow, inRows), tile.m),
          e.mulIndex(column, tile.n)};
}

TileScheduler::Carried TileScheduler::forEachTile(
    ValueRange init,
    function_ref<Carried(const ResultTile &, ValueRange)> body) {
  int64_t tiles = countTiles(tile, sizeOf(view));
  if (tiles <= blocks()) {
    return body(tileAt(e.blockIndex()), init);
  }
  return e.forLoopCarried(e.blockIndex(), e.index(tiles), blocks(), init,
                          [&](Value number, ValueRange carried) {
                            return body(tileAt(number), carried);
                          });
}
