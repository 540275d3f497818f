//===- DepthwiseGradient.h - Gradients of depthwise weights ---------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_DEPTHWISEGRADIENT_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_DEPTHWISEGRADIENT_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// The gradient of the weight of a convolution of each channel by itself, as a
/// reduction over positions; fails without a diagnostic when it is none.
mlir::LogicalResult emitDepthwiseGradient(CudaEmitter &emitter,
                                          mlir::Operation *root);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_DEPTHWISEGRADIENT_H
