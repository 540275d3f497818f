//===- MmaProduct.cpp - Products of 16-bit slices by mma.sync -------------===//
#include "compiler/Targets/CUDA/Contraction/BlockProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

void MmaProduct::begin(Value thread) {
  lane = arith::RemUIOp::create(e.b, e.loc, thread, e.index(32));
  Value warp = arith::DivUIOp::create(e.b, e.loc, thread, e.index(32));
  Value columns = e.index(tile.n / tile.warpN);
  warpRow =
      e.mulIndex(arith::DivUIOp::create(e.b, e.loc, warp, columns), tile.warpM);
  warpColumn =
      e.mulIndex(arith::RemUIOp::create(e.b, e.loc, warp, columns), tile.warpN);
}

SmallVector<Value> MmaProduct::zeros() {
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
  return SmallVector<Value>(tile.warpM / 16 * (tile.warpN / 8) * 4, zero);
}

/// The 16 x 16 elements from (line, k) of this warp's share on. Its four 8 x 8
/// matrices stand in the order of the registers: for the left operand first
/// along m, then along k; for the right one, which is two columns of
/// fragments, first along k, then along n.
MmaProduct::Fragment MmaProduct::loadFragment(GemmView::Side side, Value base,
                                              int64_t line, int64_t k) {
  bool isLeft = side == GemmView::Side::Left;
  SharedTile &shared = isLeft ? left : right;
  Value eight = e.index(8), two = e.index(2);
  Value within = arith::RemUIOp::create(e.b, e.loc, lane, eight);
  Value matrix = arith::DivUIOp::create(e.b, e.loc, lane, eight);
  Value low = arith::RemUIOp::create(e.b, e.loc, matrix, two);
  Value high = arith::DivUIOp::create(e.b, e.loc, matrix, two);
  Value outer = e.addIndex(isLeft ? warpRow : warpColumn, e.index(line));
  outer = e.addIndex(outer, e.mulIndex(isLeft ? low : high, 8));
  Value inner = e.addIndex(e.index(k), e.mulIndex(isLeft ? high : low, 8));
  bool alongK = view.operand(side).alongK;
  Value row = e.addIndex(alongK ? outer : inner, within);
  Value chunk = arith::DivUIOp::create(e.b, e.loc, alongK ? inner : outer,
                                       e.index(shared.chunkElements()));
  return shared.loadMatrices(base, row, chunk, /*transposed=*/!alongK);
}

void MmaProduct::multiply(Value base, MutableArrayRef<Value> sums) {
  int64_t columns = tile.warpN / 8;
  for (int64_t k = 0; k < tile.k; k += 16) {
    SmallVector<Fragment> a, b;
    for (int64_t i = 0; i < tile.warpM; i += 16) {
      a.push_back(loadFragment(GemmView::Side::Left, base, i, k));
    }
    for (int64_t j = 0; j < tile.warpN; j += 16) {
      b.push_back(loadFragment(GemmView::Side::Right, base, j, k));
    }
    for (size_t i = 0; i < a.size(); ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        ArrayRef<Value> pair(b[j / 2]);
        multiplyFragments(a[i], pair.slice(j % 2 * 2, 2),
                          sums.slice((i * columns + j) * 4, 4));
      }
    }
  }
}

void MmaProduct::multiplyFragments(ArrayRef<Value> a, ArrayRef<Value> b,
                                   MutableArrayRef<Value> sums) {
  bool isHalf = left.element().isF16();
  auto operands = [&](ArrayRef<Value> words) {
    SmallVector<Value> result;
    for (Value word : words) {
      result.push_back(
          isHalf ? LLVM::BitcastOp::create(
                       e.b, e.loc, VectorType::get({2}, e.b.getF16Type()), word)
                       .getResult()
                 : word);
    }
    return result;
  };
  Type f32 = e.b.getF32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(e.b.getContext(), {f32, f32, f32, f32});
  NVVM::MMATypes kind = isHalf ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  int64_t depth = e.hasWideMma ? 16 : 8;
  for (int64_t part = 0; part < 16 / depth; ++part) {
    ArrayRef<Value> l = depth == 16 ? a : a.slice(part * 2, 2);
    ArrayRef<Value> r = depth == 16 ? b : b.slice(part, 1);
    Value product = NVVM::MmaOp::create(
        e.b, e.loc, type, operands(l), operands(r), ValueRange(sums),
        ArrayRef<int64_t>{16, 8, depth}, std::nullopt, std::nullopt,
        std::array<NVVM::MMATypes, 2>{kind, kind},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (auto [i, value] : llvm::enumerate(sums)) {
      value = LLVM::ExtractValueOp::create(e.b, e.loc, product, i);
    }
  }
}

/// Thread t of a warp holds columns 2 * (t % 4) and one more of rows t / 4 and
/// t / 4 + 8 of a 16 x 8 fragment (PTX ISA, "Matrix Fragments for mma.m16n8k16
/// with floating point type").
void MmaProduct::handOver(ValueRange sums, ContractionEpilogue &epilogue) {
  Value four = e.index(4);
  Value row = e.addIndex(
      warpRow, arith::DivUIOp::create(e.b, e.loc, lane, four).getResult());
  Value column =
      e.addIndex(warpColumn,
                 e.mulIndex(arith::RemUIOp::create(e.b, e.loc, lane, four), 2));
  size_t next = 0;
  for (int64_t i = 0; i < tile.warpM; i += 16) {
    for (int64_t j = 0; j < tile.warpN; j += 8) {
      for (int64_t half = 0; half < 2; ++half, next += 2) {
        epilogue.handOver(sums.slice(next, 2),
                          e.addIndex(row, e.index(i + half * 8)),
                          e.addIndex(column, e.index(j)));
      }
    }
  }
}
