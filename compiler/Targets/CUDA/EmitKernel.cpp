//===- EmitKernel.cpp - Picks the emitter of a kernel by its root ---------===//
#include "compiler/Targets/CUDA/Contraction/DepthwiseGradient.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

LogicalResult cuda::emitKernel(CudaEmitter &emitter) {
  if (isEmptyKernel(emitter.kernel)) {
    emitter.reset();
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
    return success(succeeded(emitDepthwiseConvolution(emitter, root)) ||
                   succeeded(emitDepthwiseGradient(emitter, root)) ||
                   succeeded(emitWgmmaKernel(emitter, root)) ||
                   succeeded(emitTiledContraction(emitter, root)) ||
                   succeeded(emitNaiveContraction(emitter, root)));
  case FusionKind::Serial:
    return emitSerialKernel(emitter, root);
  case FusionKind::Attention:
    return emitAttentionKernel(emitter, root);
  default:
    return emitMapKernel(emitter);
  }
}
