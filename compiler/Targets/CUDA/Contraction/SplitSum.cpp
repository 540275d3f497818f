//===- SplitSum.cpp - Sums whose depth several blocks share ---------------===//
#include "compiler/Targets/CUDA/Contraction/SplitSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

static constexpr int64_t flagBytes = 4;

void SplitSum::reserve(int64_t tiles) {
  int64_t sums = tiles * elements * (type.getIntOrFloatBitWidth() / 8);
  e.reserveWorkspace(maxTiles * flagBytes + sums);
}

Value SplitSum::number(int64_t value) {
  return arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(value));
}

void SplitSum::begin(Value tile, Value partIndex) {
  Type i32 = e.b.getI32Type();
  part = arith::IndexCastOp::create(e.b, e.loc, i32, partIndex);
  auto equals = [&](int64_t value) {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, part,
                                 number(value));
  };
  isFirst = equals(0);
  isLast = equals(parts - 1);
  Value start = e.workspace();
  flag = e.elementPointer(start, i32, tile);
  Value sums = LLVM::GEPOp::create(
      e.b, e.loc, start.getType(), e.b.getI8Type(), start,
      ArrayRef<LLVM::GEPArg>{int32_t(maxTiles * flagBytes)});
  kept = e.elementPointer(sums, type, e.mulIndex(tile, elements));
}

/// The first thread acquires what the block before has released; the barrier
/// hands that on to the others (PTX ISA, "Causality order").
void SplitSum::wait() {
  Type i32 = e.b.getI32Type();
  e.onFirstThread([&] {
    auto loop = scf::WhileOp::create(e.b, e.loc, TypeRange(), ValueRange());
    OpBuilder::InsertionGuard guard(e.b);
    e.b.createBlock(&loop.getBefore());
    Value done = LLVM::LoadOp::create(
        e.b, e.loc, i32, flag, flagBytes, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::acquire, "device");
    Value isEarly =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, done, part);
    scf::ConditionOp::create(e.b, e.loc, isEarly, ValueRange());
    e.b.createBlock(&loop.getAfter());
    scf::YieldOp::create(e.b, e.loc);
  });
  e.barrier();
}

Value SplitSum::add(Value sums, Value offset) {
  auto vector = dyn_cast<VectorType>(sums.getType());
  auto choice = scf::IfOp::create(e.b, e.loc, sums.getType(), isFirst,
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(e.b, e.loc, sums);
  e.b.setInsertionPointToStart(choice.elseBlock());
  Value before =
      e.load(kept, type, offset, vector ? vector.getNumElements() : 1);
  Value sum = arith::AddFOp::create(e.b, e.loc, before, sums);
  scf::YieldOp::create(e.b, e.loc, sum);
  return choice.getResult(0);
}

void SplitSum::passOn(Value sums, Value offset, function_ref<void()> last) {
  auto choice = scf::IfOp::create(e.b, e.loc, isLast, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.thenBlock());
  last();
  e.b.setInsertionPointToStart(choice.elseBlock());
  e.store(sums, kept, type, offset);
}

void SplitSum::signal() {
  e.barrier();
  e.onFirstThread([&] {
    Value next = arith::AddIOp::create(e.b, e.loc, part, number(1));
    Value value = arith::SelectOp::create(e.b, e.loc, isLast, number(0), next);
    LLVM::StoreOp::create(e.b, e.loc, value, flag, flagBytes,
                          /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false,
                          LLVM::AtomicOrdering::release, "device");
  });
}
