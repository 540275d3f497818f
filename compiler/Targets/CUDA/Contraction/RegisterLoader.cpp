//===- RegisterLoader.cpp - Slices that pass through registers ------------===//
#include "compiler/Targets/CUDA/Contraction/SliceLoader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

LogicalResult RegisterLoader::fetch(const ResultTile &tile, Value thread,
                                    Value step, Value) {
  fetched.clear();
  for (int64_t i = 0; i < chunksPerThread(); ++i) {
    Chunk chunk = locate(i, tile, thread, step);
    chunk.inside = e.bothOf(chunk.inside, isSlice(tile, step));
    FailureOr<Value> value = fetchChunk(tile, chunk);
    if (failed(value)) {
      return failure();
    }
    fetched.push_back({chunk, *value});
  }
  return success();
}

/// The elements of a chunk; zeros where they are not inside.
FailureOr<Value> RegisterLoader::fetchChunk(const ResultTile &tile,
                                            const Chunk &chunk) {
  int64_t elements = shared.chunkElements();
  int64_t count = vectors ? std::min(operand.lanes, elements) : 1;
  Type memory = shared.element();
  memory = memory.isBF16() ? e.b.getI16Type() : memory;
  auto wide = VectorType::get({count}, memory);
  auto full = VectorType::get({elements}, memory);
  Value result;
  if (count < elements) {
    result = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(full));
  }
  bool ok = true;
  for (int64_t i = 0; i < elements; i += count) {
    Value here =
        e.bothOf(e.bothOf(chunk.inside, chunk.exists), isInside(chunk, i));
    auto choice = scf::IfOp::create(e.b, e.loc, wide, here, /*withElse=*/true);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(choice.elseBlock());
      Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
      scf::YieldOp::create(e.b, e.loc, zero);
      e.b.setInsertionPointToStart(choice.thenBlock());
      FailureOr<Value> value =
          view.elements(e, side, placeOf(tile, chunk, i, count), count);
      Value stored;
      if (succeeded(value)) {
        stored = e.toMemory(*value, shared.element());
        if (count == 1) {
          stored = vector::BroadcastOp::create(e.b, e.loc, wide, stored);
        }
      } else {
        ok = false;
        stored = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
      }
      scf::YieldOp::create(e.b, e.loc, stored);
    }
    result = count == elements ? choice.getResult(0)
                               : vector::InsertStridedSliceOp::create(
                                     e.b, e.loc, choice.getResult(0), result,
                                     ArrayRef<int64_t>{i}, ArrayRef<int64_t>{1})
                                     .getResult();
  }
  if (!ok) {
    return failure();
  }
  return LLVM::BitcastOp::create(e.b, e.loc,
                                 VectorType::get({4}, e.b.getI32Type()), result)
      .getResult();
}

void RegisterLoader::put(Value base) {
  for (const auto &entry : fetched) {
    const Chunk &chunk = entry.first;
    e.onlyIf(chunk.exists,
             [&] { shared.store(entry.second, base, chunk.row, chunk.chunk); });
  }
}
