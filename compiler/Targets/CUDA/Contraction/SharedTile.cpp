//===- SharedTile.cpp - A block of a matrix in shared memory --------------===//
#include "compiler/Targets/CUDA/Contraction/SharedTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

Value SharedTile::advance(Value pointer, int64_t bytes) {
  return bytes == 0
             ? pointer
             : LLVM::GEPOp::create(e.b, e.loc, pointer.getType(),
                                   e.b.getI8Type(), pointer,
                                   ArrayRef<LLVM::GEPArg>{int32_t(bytes)})
                   .getResult();
}

Value SharedTile::pointer(Value base, Value row, Value chunk, int64_t moreRows,
                          int64_t moreChunks) {
  int64_t patterns = std::gcd<int64_t>(chunks(), 8);
  // Whole patterns further on is a constant distance.
  int64_t within = moreChunks % patterns;
  chunk = e.addIndex(chunk, e.index(within));
  if (swizzle == Swizzle::EightRows && patterns > 1) {
    // Rows of an odd number of chunks begin in different banks by themselves;
    // where 2, 4 or 8 divides it, the rows that begin alike each take another
    // pattern, within as many chunks.
    Value group = row;
    if (patterns < 8) {
      group = arith::DivUIOp::create(e.b, e.loc, row, e.index(8 / patterns));
    }
    Value bits =
        arith::AndIOp::create(e.b, e.loc, group, e.index(patterns - 1));
    chunk = arith::XOrIOp::create(e.b, e.loc, chunk, bits);
  }
  if (swizzle == Swizzle::FourRows && patterns > 2) {
    Value bits = arith::AndIOp::create(e.b, e.loc, e.mulIndex(row, 2),
                                       e.index(patterns - 2));
    bits = arith::AndIOp::create(e.b, e.loc, bits, e.index(6));
    chunk = arith::XOrIOp::create(e.b, e.loc, chunk, bits);
  }
  assert(moreRows % (swizzle == Swizzle::EightRows  ? 8
                     : swizzle == Swizzle::FourRows ? 4
                                                    : 1) ==
         0);
  Value at =
      e.addIndex(e.mulIndex(row, rowBytes()), e.mulIndex(chunk, chunkBytes));
  at = e.addIndex(at, base);
  Value bytes = arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), at);
  Value start = e.scratchPointer(offset);
  Value result =
      LLVM::GEPOp::create(e.b, e.loc, start.getType(), e.b.getI8Type(), start,
                          ArrayRef<LLVM::GEPArg>{bytes});
  // The pattern repeats, so this is a constant distance.
  return advance(result,
                 moreRows * rowBytes() + (moreChunks - within) * chunkBytes);
}

Value SharedTile::elementPointer(Value base, Value row, Value column,
                                 int64_t moreRows) {
  Value elements = e.index(chunkElements());
  Value chunk = arith::DivUIOp::create(e.b, e.loc, column, elements);
  if (knownDivisor(column) % chunkElements() == 0) {
    return pointer(base, row, chunk, moreRows);
  }
  Value within = arith::RemUIOp::create(e.b, e.loc, column, elements);
  return pointer(e.addIndex(base, e.mulIndex(within, elementBytes())), row,
                 chunk, moreRows);
}

void SharedTile::store(Value value, Value base, Value row, Value chunk) {
  LLVM::StoreOp::create(e.b, e.loc, value, pointer(base, row, chunk),
                        chunkBytes);
}

SmallVector<Value, 4> SharedTile::loadMatrices(Value pointer, bool transposed) {
  Type i32 = e.b.getI32Type();
  auto result =
      LLVM::LLVMStructType::getLiteral(e.b.getContext(), {i32, i32, i32, i32});
  auto shape = NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(e.b, e.loc, result, pointer, 4,
                                          transposed ? NVVM::MMALayout::col
                                                     : NVVM::MMALayout::row,
                                          shape, NVVM::LdStMatrixEltType::B16);
  SmallVector<Value, 4> parts;
  for (int64_t i = 0; i < 4; ++i) {
    parts.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, loaded, i));
  }
  return parts;
}
