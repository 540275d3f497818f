//===- FmaProduct.cpp - Products of slices by fused multiply-adds ---------===//
#include "compiler/Targets/CUDA/Contraction/BlockProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

using Side = GemmView::Side;

/// Neighbouring lines that a lane has: those that one load brings. Where rows
/// run along k there are none: the lanes read neighbouring rows.
int64_t FmaProduct::groupOf(Side side) const {
  int64_t elements = left.chunkElements();
  return view.operand(side).alongK ? 1 : std::min(linesOf(side), elements);
}

/// The first line of this lane within the warp's share.
Value FmaProduct::lineInWarp(Side side) {
  Value at = side == Side::Left ? div(lane, lanesAlong(Side::Right))
                                : rem(lane, lanesAlong(Side::Right));
  return e.mulIndex(at, groupOf(side));
}

/// The same within the tile.
Value FmaProduct::laneLine(Side side) {
  return e.addIndex(warpLine(side), lineInWarp(side));
}

/// How far behind that the lane's line number `i` lies.
int64_t FmaProduct::moreLines(Side side, int64_t i) const {
  int64_t group = groupOf(side);
  return i / group * group * lanesAlong(side) + i % group;
}

SmallVector<Value> FmaProduct::zeros() {
  Value zero =
      arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(left.element()));
  return SmallVector<Value>(linesOf(Side::Left) * linesOf(Side::Right), zero);
}

/// A chunk's worth of elements along k from `k` on of each of this lane's
/// lines: element j of line i at [i * elements + j].
SmallVector<Value> FmaProduct::loadLines(Side side, Value base, int64_t k) {
  SharedTile &tile = shared(side);
  int64_t elements = tile.chunkElements(), lines = linesOf(side);
  SmallVector<Value> result(lines * elements);
  auto load = [&](Value pointer, int64_t count) -> Value {
    auto type = VectorType::get({count}, tile.element());
    return LLVM::LoadOp::create(e.b, e.loc, type, pointer,
                                count * tile.elementBytes());
  };
  auto extract = [&](Value vector, int64_t i) -> Value {
    return vector::ExtractOp::create(e.b, e.loc, vector, i);
  };
  if (view.operand(side).alongK) {
    for (int64_t i = 0; i < lines; ++i) {
      int64_t more = moreLines(side, i);
      Value row = e.addIndex(laneLine(side), e.index(more % 8));
      Value vector =
          load(tile.pointer(base, row, e.index(k / elements), more - more % 8),
               elements);
      for (int64_t j = 0; j < elements; ++j) {
        result[i * elements + j] = extract(vector, j);
      }
    }
    return result;
  }
  int64_t group = groupOf(side);
  for (int64_t j = 0; j < elements; ++j) {
    for (int64_t i = 0; i < lines; i += group) {
      Value column = e.addIndex(laneLine(side), e.index(moreLines(side, i)));
      Value vector =
          load(tile.elementPointer(base, e.index(0), column, k + j), group);
      for (int64_t l = 0; l < group; ++l) {
        result[(i + l) * elements + j] = extract(vector, l);
      }
    }
  }
  return result;
}

void FmaProduct::multiply(Value base, MutableArrayRef<Value> sums) {
  int64_t elements = left.chunkElements();
  int64_t rows = linesOf(Side::Left), columns = linesOf(Side::Right);
  for (int64_t k = 0; k < tile.k; k += elements) {
    SmallVector<Value> a = loadLines(Side::Left, base, k);
    SmallVector<Value> b = loadLines(Side::Right, base, k);
    for (int64_t j = 0; j < elements; ++j) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
          Value &sum = sums[row * columns + column];
          sum = math::FmaOp::create(e.b, e.loc, a[row * elements + j],
                                    b[column * elements + j], sum);
        }
      }
    }
  }
}

void FmaProduct::handOver(ValueRange sums, int64_t band,
                          ContractionEpilogue &epilogue) {
  int64_t columns = linesOf(Side::Right), group = groupOf(Side::Right);
  int64_t rows = TileShape::bandRows / lanesAlong(Side::Left);
  Value laneRow = e.addIndex(bandRow(), lineInWarp(Side::Left));
  for (int64_t i = band * rows; i < (band + 1) * rows; ++i) {
    int64_t more = moreLines(Side::Left, i) - band * TileShape::bandRows;
    Value row = e.addIndex(laneRow, e.index(more));
    for (int64_t j = 0; j < columns; j += group) {
      Value column =
          e.addIndex(laneLine(Side::Right), e.index(moreLines(Side::Right, j)));
      epilogue.handOver(sums.slice(i * columns + j, group), row, column);
    }
  }
}
