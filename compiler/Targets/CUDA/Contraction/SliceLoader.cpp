//===- SliceLoader.cpp - The chunks of a slice, among threads -------------===//
#include "compiler/Targets/CUDA/Contraction/SliceLoader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

SliceLoader::Chunk SliceLoader::locate(int64_t number, const ResultTile &tile,
                                       Value thread, Value step) {
  Value id = e.addIndex(thread, e.index(number * threads));
  Value perRow = e.index(shared.chunks());
  Chunk result;
  result.row = arith::DivUIOp::create(e.b, e.loc, id, perRow);
  result.chunk = arith::RemUIOp::create(e.b, e.loc, id, perRow);
  Value minor = e.mulIndex(result.chunk, shared.chunkElements());
  Value first = side == GemmView::Side::Left ? tile.firstRow : tile.firstColumn;
  result.line = e.addIndex(first, operand.alongK ? result.row : minor);
  result.kk = {e.mulIndex(step, depth), operand.alongK ? minor : result.row,
               depth};
  int64_t size = view.extent(side);
  if (size % extent != 0) {
    result.inside = e.isBelow(result.line, size);
  }
  if (view.k % depth != 0) {
    result.inside =
        e.bothOf(result.inside, e.isBelow(result.kk.total(e), view.k));
  }
  if ((shared.bytes() / SharedTile::chunkBytes) % threads != 0) {
    result.exists = e.isBelow(result.row, shared.rows());
  }
  return result;
}

Value SliceLoader::isSlice(const ResultTile &tile, Value step) {
  return tile.endSlice
             ? arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult,
                                     step, tile.endSlice)
                   .getResult()
             : e.isBelow(step, llvm::divideCeil(view.k, depth));
}

Value SliceLoader::isInside(const Chunk &chunk, int64_t i) {
  int64_t size = operand.alongK ? view.k : view.extent(side);
  if (i == 0 || size % shared.chunkElements() == 0) {
    return {};
  }
  Value along = operand.alongK ? chunk.kk.total(e) : chunk.line;
  return e.isBelow(e.addIndex(along, e.index(i)), size);
}

GemmView::Place SliceLoader::placeOf(const ResultTile &tile, const Chunk &chunk,
                                     int64_t i, int64_t count) {
  Value line = chunk.line;
  GemmView::Depth kk = chunk.kk;
  Value &moved = operand.alongK ? kk.within : line;
  moved = e.addIndex(moved, e.index(i));
  return view.place(e, side, tile.batch, line, kk, count);
}
