//===- BlockProduct.cpp - How a block multiplies two slices ---------------===//
#include "compiler/Targets/CUDA/Contraction/BlockProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

std::unique_ptr<BlockProduct>
BlockProduct::create(ProductKind kind, CudaEmitter &e, const GemmView &view,
                     const TileShape &tile, SharedTile &left,
                     SharedTile &right) {
  if (kind == ProductKind::Mma16 || kind == ProductKind::Tf32) {
    return std::make_unique<MmaProduct>(e, view, tile, left, right);
  }
  return std::make_unique<FmaProduct>(e, view, tile, left, right);
}

SharedTile::Swizzle BlockProduct::swizzleFor(ProductKind kind, bool alongK) {
  if (alongK || kind == ProductKind::Mma16) {
    return SharedTile::Swizzle::EightRows;
  }
  return kind == ProductKind::Tf32 ? SharedTile::Swizzle::FourRows
                                   : SharedTile::Swizzle::None;
}

void BlockProduct::begin(Value thread) {
  lane = rem(thread, 32);
  Value warp = div(thread, 32);
  int64_t columns = tile.n / tile.warpN;
  warpRow = e.mulIndex(div(warp, columns), tile.warpM);
  warpColumn = e.mulIndex(rem(warp, columns), tile.warpN);
}

Value BlockProduct::rowInTile(Value band, Value local) {
  constexpr int64_t rows = TileShape::bandRows;
  if (tile.bands() == 1) {
    return local;
  }
  Value share = e.mulIndex(div(local, rows), tile.warpM);
  Value within = e.addIndex(e.mulIndex(band, rows), rem(local, rows));
  return e.addIndex(share, within);
}

Value BlockProduct::div(Value value, int64_t by) {
  return arith::DivUIOp::create(e.b, e.loc, value, e.index(by));
}

Value BlockProduct::rem(Value value, int64_t by) {
  return arith::RemUIOp::create(e.b, e.loc, value, e.index(by));
}
