//===- MmaFragment.cpp - Registers that a warp multiplies -----------------===//
#include "compiler/Targets/CUDA/MmaFragment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

FragmentLoader::FragmentLoader(CudaEmitter &e, Value lane) : e(e) {
  Value eight = e.index(8), two = e.index(2);
  within = arith::RemUIOp::create(e.b, e.loc, lane, eight);
  Value matrix = arith::DivUIOp::create(e.b, e.loc, lane, eight);
  low = arith::RemUIOp::create(e.b, e.loc, matrix, two);
  high = arith::DivUIOp::create(e.b, e.loc, matrix, two);
}

Fragment FragmentLoader::left(SharedTile &tile, Value base, Value row,
                              int64_t offset, int64_t k) {
  Value at = e.addIndex(row, e.addIndex(e.mulIndex(low, 8), within));
  return tile.loadMatrices(
      tile.pointer(base, at, high, offset, k / tile.chunkElements()),
      /*transposed=*/false);
}

Fragment FragmentLoader::right(SharedTile &tile, Value base, int64_t column,
                               int64_t k) {
  Value at = e.addIndex(e.mulIndex(high, 8), within);
  return tile.loadMatrices(
      tile.pointer(base, at, low, column, k / tile.chunkElements()),
      /*transposed=*/false);
}

Fragment FragmentLoader::rightTransposed(SharedTile &tile, Value base,
                                         int64_t column, int64_t k) {
  Value at = e.addIndex(e.mulIndex(low, 8), within);
  return tile.loadMatrices(
      tile.pointer(base, at, high, k, column / tile.chunkElements()),
      /*transposed=*/true);
}

// f32 operands go to the matrix unit as they are, which reads the bits of TF32
// and ignores those below: products of truncated operands, as cuBLAS computes
// them. A conversion (cvt.rna.tf32.f32) would halve the error of an operand and
// cost an instruction for each element of each fragment.
void cuda::multiplyAccumulate(CudaEmitter &e, Type element,
                              ArrayRef<Value> left, ArrayRef<Value> right,
                              MutableArrayRef<Value> acc) {
  bool isHalf = element.isF16();
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
  NVVM::MMATypes kind = element.isF32() ? NVVM::MMATypes::tf32
                        : isHalf        ? NVVM::MMATypes::f16
                                        : NVVM::MMATypes::bf16;
  // Turing takes half of the elements at once.
  int64_t whole = element.isF32() ? 8 : 16;
  int64_t depth = e.hasWideMma ? whole : 8;
  for (int64_t part = 0; part < whole / depth; ++part) {
    ArrayRef<Value> l = depth == whole ? left : left.slice(part * 2, 2);
    ArrayRef<Value> r = depth == whole ? right : right.slice(part, 1);
    Value product = NVVM::MmaOp::create(
        e.b, e.loc, type, operands(l), operands(r), ValueRange(acc),
        ArrayRef<int64_t>{16, 8, depth}, std::nullopt, std::nullopt,
        std::array<NVVM::MMATypes, 2>{kind, kind},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (auto [i, value] : llvm::enumerate(acc)) {
      value = LLVM::ExtractValueOp::create(e.b, e.loc, product, i);
    }
  }
}

Value cuda::packPair(CudaEmitter &e, Type element, Value low, Value high) {
  Value pair = vector::FromElementsOp::create(
      e.b, e.loc, VectorType::get({2}, e.b.getF32Type()),
      ValueRange{low, high});
  Value rounded =
      arith::TruncFOp::create(e.b, e.loc, VectorType::get({2}, element), pair);
  return LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), rounded);
}
