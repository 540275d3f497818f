//===- CpuEmitter.cpp - Kernels as functions of the CPU -------------------===//
#include "compiler/Targets/CPU/CpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

void CpuEmitter::reset() {
  Block *entry = beginFunction();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  unsigned count = kernel.getNumArguments() + kernel.getNumResults();
  for (unsigned i = 0; i < count; ++i) {
    Value slot =
        LLVM::GEPOp::create(b, loc, pointer, pointer, entry->getArgument(0),
                            ArrayRef<LLVM::GEPArg>{int32_t(i)});
    pointers.push_back(LLVM::LoadOp::create(b, loc, pointer, slot, 8));
  }
  scratch = entry->getArgument(1);
  begin = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                     entry->getArgument(2));
  end = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                   entry->getArgument(3));
}

void CpuEmitter::forEachItem(function_ref<void(Value)> body) {
  forLoop(begin, end, 1, body);
}

Value CpuEmitter::scratchPointer(int64_t offset) {
  return offset == 0
             ? scratch
             : LLVM::GEPOp::create(b, loc, scratch.getType(), b.getI8Type(),
                                   scratch,
                                   ArrayRef<LLVM::GEPArg>{int32_t(offset)})
                   .getResult();
}

std::unique_ptr<RowWalker> CpuEmitter::makeRowWalker(const RowSpace &space,
                                                     int64_t lanes) {
  return std::make_unique<RowWalker>(*this, space, lanes);
}
