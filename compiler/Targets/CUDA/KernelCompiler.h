//===- KernelCompiler.h - The kernels of a program, each on its own -------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_KERNELCOMPILER_H
#define AMPC_COMPILER_TARGETS_CUDA_KERNELCOMPILER_H

#include "compiler/Targets/CUDA/Assembler.h"
#include "compiler/Targets/CUDA/KernelCache.h"
#include "compiler/Targets/CUDA/PtxWriter.h"
#include "compiler/Targets/Target.h"

namespace ampc::cuda {

/// One kernel as code of one architecture.
struct CompiledKernel {
  codegen::GpuImage::Launch launch;
  codegen::KernelLaunch items;
  std::string ptx;
  Assembly assembly; ///< empty unless asked for
};

/// A variant of all kernels.
struct KernelVariant {
  const CudaArchitecture *architecture;
  bool isAssembled; ///< to a cubin
};

/// What a program holds: a cubin of each of the named architectures (oldest
/// first), where there is a ptxas, and PTX for all later GPUs.
struct ProgramVariants {
  std::vector<KernelVariant> variants;
  size_t ptx; ///< the variant whose PTX that is
};
ProgramVariants
chooseVariants(llvm::ArrayRef<const CudaArchitecture *> architectures);

/// The compiled kernels of one variant, in the module's order.
using CompiledKernels = std::vector<CompiledKernel>;

/// Compiles each kernel of `module` for each variant as a module of its own, on
/// the threads of the context; what the cache of `options` holds is taken from
/// there. The result does not depend on either. All kernels that cannot be
/// compiled are reported.
mlir::FailureOr<std::vector<CompiledKernels>>
compileKernels(mlir::ModuleOp module, llvm::ArrayRef<KernelVariant> variants,
               const CodegenOptions &options);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_KERNELCOMPILER_H
