//===- MmaProduct.cpp - Products of 16-bit slices by mma.sync -------------===//
#include "compiler/Targets/CUDA/Contraction/BlockProduct.h"

#include "compiler/Targets/CUDA/MmaFragment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

using Side = GemmView::Side;

SmallVector<Value> MmaProduct::zeros() {
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
  return SmallVector<Value>(tile.warpM / 16 * (tile.warpN / 8) * 4, zero);
}

/// The elements from (line, k) of this warp's share on, 16 lines by 32 bytes
/// along k. The four matrices, of 8 lines by 16 bytes, stand in the order of
/// the registers: for the left operand first along m, then along k; for the
/// right one, which is two columns of fragments, first along k, then along n.
MmaProduct::Fragment MmaProduct::loadFragment(Side side, Value base,
                                              int64_t line, int64_t k) {
  bool alongK = view.operand(side).alongK, isLeft = side == Side::Left;
  if (isTf32() && !alongK) {
    return loadElements(side, base, line, k);
  }
  SharedTile &from = shared(side);
  Value within = rem(lane, 8);
  Value matrix = div(lane, 8);
  Value low = rem(matrix, 2), high = div(matrix, 2);
  Value outer = e.addIndex(warpLine(side), e.mulIndex(isLeft ? low : high, 8));
  Value inner = e.mulIndex(isLeft ? high : low, from.chunkElements());
  Value row = e.addIndex(alongK ? outer : inner, within);
  Value column =
      alongK ? e.addIndex(inner, e.index(k)) : e.addIndex(outer, e.index(line));
  return from.loadMatrices(from.pointer(base, row,
                                        div(column, from.chunkElements()),
                                        alongK ? line : k),
                           /*transposed=*/!alongK);
}

/// The same where rows run along the lines: ldmatrix transposes only elements
/// of 16 bits.
MmaProduct::Fragment MmaProduct::loadElements(Side side, Value base,
                                              int64_t line, int64_t k) {
  SharedTile &from = shared(side);
  Fragment result;
  for (int64_t i = 0; i < 4; ++i) {
    bool isLeft = side == Side::Left;
    int64_t lines = (isLeft ? i % 2 : i / 2) * 8;
    int64_t depth = (isLeft ? i / 2 : i % 2) * 4;
    Value column = e.addIndex(e.addIndex(warpLine(side), div(lane, 4)),
                              e.index(line + lines));
    Value pointer = from.elementPointer(base, rem(lane, 4), column, k + depth);
    result.push_back(LLVM::LoadOp::create(e.b, e.loc, e.b.getI32Type(), pointer,
                                          from.elementBytes()));
  }
  return result;
}

void MmaProduct::multiply(Value base, MutableArrayRef<Value> sums) {
  int64_t columns = tile.warpN / 8;
  for (int64_t k = 0; k < tile.k; k += 2 * left.chunkElements()) {
    SmallVector<Fragment> a, b;
    for (int64_t i = 0; i < tile.warpM; i += 16) {
      a.push_back(loadFragment(Side::Left, base, i, k));
    }
    for (int64_t j = 0; j < tile.warpN; j += 16) {
      b.push_back(loadFragment(Side::Right, base, j, k));
    }
    for (size_t i = 0; i < a.size(); ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        ArrayRef<Value> pair(b[j / 2]);
        multiplyAccumulate(e, left.element(), a[i], pair.slice(j % 2 * 2, 2),
                           sums.slice((i * columns + j) * 4, 4));
      }
    }
  }
}

/// Thread t of a warp holds columns 2 * (t % 4) and one more of rows t / 4 and
/// t / 4 + 8 of a 16 x 8 fragment (PTX ISA, "Matrix Fragments for mma.m16n8k16
/// with floating point type").
void MmaProduct::handOver(ValueRange sums, int64_t band,
                          ContractionEpilogue &epilogue) {
  static_assert(TileShape::bandRows == 16, "a band is a row of fragments");
  Value row = e.addIndex(bandRow(), div(lane, 4));
  Value column = e.addIndex(warpColumn, e.mulIndex(rem(lane, 4), 2));
  size_t next = band * (tile.warpN / 8) * 4;
  for (int64_t j = 0; j < tile.warpN; j += 8) {
    for (int64_t half = 0; half < 2; ++half, next += 2) {
      epilogue.handOver(sums.slice(next, 2), e.addIndex(row, e.index(half * 8)),
                        e.addIndex(column, e.index(j)));
    }
  }
}
