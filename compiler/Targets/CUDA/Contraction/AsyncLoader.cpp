//===- AsyncLoader.cpp - Slices that cp.async copies ----------------------===//
#include "compiler/Targets/CUDA/Contraction/SliceLoader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

std::optional<DirectAccess> AsyncLoader::sourceOf(const GemmView::Place &place,
                                                  int64_t count) {
  return findDirectAccess(e, place.tensor, place.index, count);
}

int64_t AsyncLoader::findCopyBytes() {
  int64_t bytes = shared.elementBytes();
  int64_t count = std::min(operand.lanes, shared.chunkElements());
  if (shared.element() != operand.element || count * bytes < 4) {
    return 0;
  }
  // Somewhere: no more is known of the positions in a kernel.
  Value block = e.blockIndex();
  ResultTile tile{e.delinearize(block, {view.batch, extent}).front(),
                  e.mulIndex(block, extent), e.mulIndex(block, extent)};
  Chunk chunk = locate(0, tile, e.threadIndex(), block);
  auto source = sourceOf(placeOf(tile, chunk, 0, count), count);
  if (!source) {
    return 0;
  }
  // Both addresses have to be multiples of the bytes copied.
  int64_t aligned = std::gcd(knownDivisor(source->offset), count) * bytes;
  return aligned < 4 ? 0 : aligned;
}

LogicalResult AsyncLoader::fetch(const ResultTile &tile, Value thread,
                                 Value step, Value base) {
  bool ok = true;
  e.onlyIf(isSlice(tile, step), [&] {
    for (int64_t i = 0; i < chunksPerThread(); ++i) {
      Chunk chunk = locate(i, tile, thread, step);
      e.onlyIf(chunk.exists,
               [&] { ok = ok && succeeded(copyChunk(tile, chunk, base)); });
    }
  });
  return success(ok);
}

LogicalResult AsyncLoader::copyChunk(const ResultTile &tile, const Chunk &chunk,
                                     Value base) {
  int64_t count = copyBytes / shared.elementBytes();
  Value to = shared.pointer(base, chunk.row, chunk.chunk);
  for (int64_t i = 0; i < shared.chunkElements(); i += count) {
    GemmView::Place place = placeOf(tile, chunk, i, count);
    auto source = sourceOf(place, count);
    if (!source) {
      return failure();
    }
    Value from = source->pointer(e);
    // Nothing is read of what is not inside: the chunk is filled with zeros
    // (PTX ISA, cp.async, "src-size").
    Value inside =
        e.bothOf(e.bothOf(chunk.inside, isInside(chunk, i)), place.inside);
    Value read;
    if (inside) {
      auto number = [&](int64_t n) {
        return arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(n));
      };
      read = arith::SelectOp::create(e.b, e.loc, inside, number(copyBytes),
                                     number(0));
    }
    Value at = to;
    if (i != 0) {
      at = LLVM::GEPOp::create(
          e.b, e.loc, to.getType(), e.b.getI8Type(), to,
          ArrayRef<LLVM::GEPArg>{int32_t(i * shared.elementBytes())});
    }
    NVVM::CpAsyncOp::create(e.b, e.loc, at, from, copyBytes,
                            copyBytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                            : NVVM::LoadCacheModifierKind::CA,
                            read);
  }
  return success();
}
