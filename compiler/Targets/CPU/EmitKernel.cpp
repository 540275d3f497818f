//===- EmitKernel.cpp - Picks the emitter of a kernel by its root ---------===//
#include "compiler/Targets/CPU/KernelEmitter.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cpu;

Operation *cpu::findRoot(amp::KernelOp kernel) {
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

/// Whether the kernel has nothing to store.
static bool isEmpty(amp::KernelOp kernel) {
  return llvm::all_of(kernel.getFunctionType().getResults(), [](Type type) {
    return cast<RankedTensorType>(type).getNumElements() == 0;
  });
}

LogicalResult cpu::emitKernel(KernelEmitter &emitter) {
  if (isEmpty(emitter.kernel)) {
    emitter.reset();
    emitter.launch = {};
    return success();
  }
  Operation *root = findRoot(emitter.kernel);
  if (!root) {
    return emitMapKernel(emitter);
  }
  switch (cast<FusableOpInterface>(root).getFusionKind()) {
  case FusionKind::RowReduction:
    return emitRowKernel(emitter, root);
  case FusionKind::Contraction:
    return emitContractionKernel(emitter, root);
  case FusionKind::Attention:
    return emitAttentionKernel(emitter, root);
  case FusionKind::Serial:
    return emitSerialKernel(emitter, root);
  default:
    return emitMapKernel(emitter);
  }
}
