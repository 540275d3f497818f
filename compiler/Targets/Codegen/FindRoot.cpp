//===- FindRoot.cpp - The op that decides how a kernel is emitted ---------===//
#include "compiler/Targets/Codegen/KernelEmitter.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

Operation *codegen::findRoot(amp::KernelOp kernel) {
  Operation *root = nullptr;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto fusable = dyn_cast<FusableOpInterface>(op);
    if (!fusable) {
      continue;
    }
    switch (fusable.getFusionKind()) {
    case FusionKind::RowReduction:
    case FusionKind::Contraction:
    case FusionKind::Attention:
    case FusionKind::Serial:
      root = &op;
      break;
    case FusionKind::Indexed:
      root = root ? root : &op;
      break;
    default:
      break;
    }
  }
  return root;
}

bool codegen::isEmptyKernel(amp::KernelOp kernel) {
  return llvm::all_of(kernel.getFunctionType().getResults(), [](Type type) {
    return cast<RankedTensorType>(type).getNumElements() == 0;
  });
}
