//===- EmitKernel.cpp - Picks the emitter of a kernel by its root ---------===//
#include "compiler/Targets/CPU/CpuEmitter.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

LogicalResult cpu::emitKernel(CpuEmitter &emitter) {
  if (isEmptyKernel(emitter.kernel)) {
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
