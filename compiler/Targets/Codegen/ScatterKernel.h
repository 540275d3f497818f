//===- ScatterKernel.h - Scatters, in order but shared out ----------------===//
#ifndef AMPC_COMPILER_TARGETS_CODEGEN_SCATTERKERNEL_H
#define AMPC_COMPILER_TARGETS_CODEGEN_SCATTERKERNEL_H

#include "compiler/Targets/Codegen/KernelEmitter.h"

namespace ampc::codegen {

/// Builds the whole kernel of a scatter and sets `emitter.launch`.
mlir::LogicalResult emitScatterKernel(KernelEmitter &emitter,
                                      mlir::Operation *root);

} // namespace ampc::codegen

#endif // AMPC_COMPILER_TARGETS_CODEGEN_SCATTERKERNEL_H
