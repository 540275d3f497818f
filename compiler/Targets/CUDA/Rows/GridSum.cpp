//===- GridSum.cpp - Reductions whose rows several blocks share -----------===//
#include "compiler/Targets/CUDA/Rows/GridSum.h"

#include "compiler/Targets/CUDA/Contraction/SplitSum.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

static constexpr int64_t ticketBytes = 4, widestElement = 8;
/// Tickets stand where other kernels have flags.
static constexpr int64_t maxGroups = SplitSum::maxTiles;

int64_t GridSum::partsFor(int64_t blocks, int64_t length, int64_t step) {
  // Two for each multiprocessor of the largest GPUs, and steps enough to hide
  // what it takes to wait for the last ticket.
  constexpr int64_t wantedBlocks = 264, leastSteps = 8;
  if (blocks == 0 || blocks > maxGroups || blocks * 2 > wantedBlocks) {
    return 1;
  }
  int64_t most = length / (step * leastSteps);
  return std::max<int64_t>(
      std::min<int64_t>(llvm::divideCeil(wantedBlocks, blocks), most), 1);
}

void GridSum::reserve(int64_t groups) {
  if (isSplit()) {
    e.reserveWorkspace(maxGroups * ticketBytes +
                       groups * parts * values * widestElement);
  }
}

Value GridSum::number(int64_t value) {
  return arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(value));
}

void GridSum::begin(Value groupNumber, Value partNumber) {
  group = groupNumber;
  part = partNumber;
  Value start = e.workspace();
  ticket = e.elementPointer(start, e.b.getI32Type(), group);
  left = LLVM::GEPOp::create(
      e.b, e.loc, start.getType(), e.b.getI8Type(), start,
      ArrayRef<LLVM::GEPArg>{int32_t(maxGroups * ticketBytes)});
}

Value GridSum::place(Value partNumber, Value row) {
  Value block = e.addIndex(e.mulIndex(group, parts), partNumber);
  return e.addIndex(e.mulIndex(block, values), row);
}

void GridSum::leave(Value value, Value row) {
  e.store(value, left, getElementTypeOrSelf(value.getType()), place(part, row));
}

/// The first thread releases what the block has left and acquires what blocks
/// with earlier tickets have; the barriers hand it on (PTX ISA, "Causality
/// order").
Value GridSum::arrive() {
  Type i32 = e.b.getI32Type();
  Value shared = e.reserveShared(ticketBytes);
  // LLVM's PTX of an atomic update is relaxed, whatever its ordering says.
  auto fence = [&] {
    LLVM::FenceOp::create(e.b, e.loc, LLVM::AtomicOrdering::acq_rel, "device");
  };
  e.barrier();
  e.onFirstThread([&] {
    fence();
    Value taken = LLVM::AtomicRMWOp::create(
        e.b, e.loc, LLVM::AtomicBinOp::add, ticket, number(1),
        LLVM::AtomicOrdering::acq_rel, "device", ticketBytes);
    fence();
    e.store(taken, shared, i32, e.index(0));
    Value isLast = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                         taken, number(parts - 1));
    e.onlyIf(isLast, [&] {
      LLVM::StoreOp::create(e.b, e.loc, number(0), ticket, ticketBytes,
                            /*isVolatile=*/false, /*isNonTemporal=*/false,
                            /*isInvariantGroup=*/false,
                            LLVM::AtomicOrdering::release, "device");
    });
  });
  e.barrier();
  Value taken = e.load(shared, i32, e.index(0), 1);
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, taken,
                               number(parts - 1));
}

Value GridSum::combine(Value identity, Value row, int64_t lanes, Value first,
                       int64_t step,
                       function_ref<Value(Value, Value)> combine) {
  Type element = getElementTypeOrSelf(identity.getType());
  return e.forLoopCarried(
      first, e.index(parts), step, ValueRange{identity},
      [&](Value p, ValueRange carried) -> SmallVector<Value> {
        return {
            combine(carried[0], e.load(left, element, place(p, row), lanes))};
      })[0];
}
