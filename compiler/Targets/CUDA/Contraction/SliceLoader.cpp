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
  result.kk =
      e.addIndex(e.mulIndex(step, depth), operand.alongK ? minor : result.row);
  int64_t size = view.extent(side);
  // The slice behind the last one is not there.
  result.inside =
      e.bothOf(size % extent == 0 ? Value() : e.isBelow(result.line, size),
               e.isBelow(result.kk, view.k));
  if ((shared.bytes() / SharedTile::chunkBytes) % threads != 0) {
    result.exists = e.isBelow(result.row, shared.rows());
  }
  return result;
}

Value SliceLoader::isInside(const Chunk &chunk, int64_t i) {
  Value along = operand.alongK ? chunk.kk : chunk.line;
  int64_t size = operand.alongK ? view.k : view.extent(side);
  return i == 0 ? Value() : e.isBelow(e.addIndex(along, e.index(i)), size);
}

GemmView::Place SliceLoader::placeOf(const ResultTile &tile, const Chunk &chunk,
                                     int64_t i, int64_t count) {
  Value moved = e.addIndex(operand.alongK ? chunk.kk : chunk.line, e.index(i));
  return view.place(e, side, tile.batch, operand.alongK ? chunk.line : moved,
                    operand.alongK ? moved : chunk.kk, count);
}
