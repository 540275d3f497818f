//===- RowLoader.cpp - Rows of a tensor into a tile of shared memory ------===//
#include "compiler/Targets/CUDA/Attention/RowLoader.h"

#include "compiler/Targets/CUDA/DirectAccess.h"
#include "compiler/Targets/Codegen/Attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

/// Of 16 bits, in 16 bytes.
static constexpr int64_t chunkElements = 8;

RowLoader::RowLoader(CudaEmitter &e, SharedTile &tile, Matrix given,
                     int64_t threads, Value thread)
    : e(e), tile(tile), matrix(std::move(given)),
      element(getElementTypeOrSelf(matrix.tensor.getType())), threads(threads),
      thread(thread) {
  int64_t chunks = tile.bytes() / 16;
  perThread = llvm::divideCeil(chunks, threads);
  partial = chunks % threads != 0;
  if (e.architecture.hasAsyncCopy() && matrix.columns % chunkElements == 0) {
    auto access = findDirectAccess(
        e, matrix.tensor,
        indexOf(thread, e.mulIndex(thread, chunkElements), chunkElements),
        chunkElements);
    async = access && knownDivisor(access->offset) % chunkElements == 0;
  }
}

SmallVector<LaneIndex> RowLoader::indexOf(Value row, Value column,
                                          int64_t lanes) {
  return matrix.index(row, {column, lanes == 1 ? 0 : 1});
}

/// The row and chunk of the tile that is number `i` of this thread.
RowLoader::Place RowLoader::place(int64_t i) {
  Value id = e.addIndex(thread, e.index(i * threads));
  Value chunks = e.index(tile.chunks());
  return {arith::DivUIOp::create(e.b, e.loc, id, chunks),
          arith::RemUIOp::create(e.b, e.loc, id, chunks)};
}

/// The condition that the matrix has the row and the chunk; null if it has all.
Value RowLoader::isInside(Value row, Value column) {
  Value inside;
  if (matrix.rows % tile.rows() != 0) {
    inside = e.isBelow(row, matrix.rows);
  }
  if (matrix.columns < tile.chunks() * chunkElements) {
    inside = e.bothOf(inside, e.isBelow(column, matrix.columns));
  }
  return inside;
}

SmallVector<Value> RowLoader::begin(Value first, Value base, Value condition) {
  SmallVector<Value> chunks;
  auto forEach = [&](function_ref<void(Value, Value, Value)> body) {
    for (int64_t i = 0; i < perThread; ++i) {
      Place at = place(i);
      body(e.addIndex(first, at.row), at.row, at.chunk);
    }
  };
  if (async) {
    e.onlyIf(condition, [&] {
      forEach([&](Value row, Value local, Value chunk) {
        e.onlyIf(partial ? e.isBelow(local, tile.rows()) : Value(), [&] {
          Value column = e.mulIndex(chunk, chunkElements);
          copy(row, local, chunk, base, isInside(row, column));
        });
      });
    });
    return chunks;
  }
  forEach([&](Value row, Value local, Value chunk) {
    Value column = e.mulIndex(chunk, chunkElements);
    Value inside = e.bothOf(condition, isInside(row, column));
    if (partial) {
      inside = e.bothOf(inside, e.isBelow(local, tile.rows()));
    }
    chunks.push_back(fetch(row, column, inside));
  });
  return chunks;
}

void RowLoader::copy(Value row, Value local, Value chunk, Value base,
                     Value inside) {
  Value column = e.mulIndex(chunk, chunkElements);
  auto access = findDirectAccess(
      e, matrix.tensor, indexOf(row, column, chunkElements), chunkElements);
  if (!access) {
    ok = false;
    return;
  }
  constexpr int64_t bytes = 16;
  // What is not copied of the bytes becomes zero.
  Value size;
  if (inside) {
    auto number = [&](int64_t n) -> Value {
      return arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(n));
    };
    size =
        arith::SelectOp::create(e.b, e.loc, inside, number(bytes), number(0));
  }
  NVVM::CpAsyncOp::create(e.b, e.loc, tile.pointer(base, local, chunk),
                          access->pointer(e), bytes,
                          NVVM::LoadCacheModifierKind::CG, size);
}

/// Eight neighbours as a vector<4xi32>; zeros where `inside` does not hold or
/// beyond the matrix.
Value RowLoader::fetch(Value row, Value column, Value inside) {
  // As many at once as never straddle the end of a row.
  int64_t count =
      std::min<int64_t>(chunkElements, matrix.columns & -matrix.columns);
  Type memory = element.isBF16() ? e.b.getI16Type() : element;
  auto wide = VectorType::get({count}, memory);
  auto full = VectorType::get({chunkElements}, memory);
  Value result = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(full));
  for (int64_t i = 0; i < chunkElements; i += count) {
    Value at = e.addIndex(column, e.index(i));
    Value here =
        i == 0 ? inside : e.bothOf(inside, e.isBelow(at, matrix.columns));
    auto get = [&]() -> Value {
      FailureOr<Value> value =
          pullLanes(e, matrix.tensor, indexOf(row, at, count), count);
      if (failed(value)) {
        ok = false;
        return arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
      }
      Value stored = e.toMemory(*value, element);
      return count == 1 ? vector::BroadcastOp::create(e.b, e.loc, wide, stored)
                              .getResult()
                        : stored;
    };
    Value part;
    if (!here) {
      part = get();
    } else {
      auto choice =
          scf::IfOp::create(e.b, e.loc, wide, here, /*withElse=*/true);
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(choice.thenBlock());
      scf::YieldOp::create(e.b, e.loc, get());
      e.b.setInsertionPointToStart(choice.elseBlock());
      Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
      scf::YieldOp::create(e.b, e.loc, zero);
      part = choice.getResult(0);
    }
    result = count == chunkElements
                 ? part
                 : vector::InsertStridedSliceOp::create(
                       e.b, e.loc, part, result, ArrayRef<int64_t>{i},
                       ArrayRef<int64_t>{1})
                       .getResult();
  }
  return LLVM::BitcastOp::create(
      e.b, e.loc, VectorType::get({4}, e.b.getI32Type()), result);
}

void RowLoader::end(ValueRange chunks, Value base) {
  for (size_t i = 0; i < chunks.size(); ++i) {
    Place at = place(i);
    e.onlyIf(partial ? e.isBelow(at.row, tile.rows()) : Value(),
             [&] { tile.store(chunks[i], base, at.row, at.chunk); });
  }
}
