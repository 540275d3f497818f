//===- KernelHeader.h - How other programs launch a kernel ----------------===//
#ifndef AMPC_COMPILER_DRIVER_KERNELHEADER_H
#define AMPC_COMPILER_DRIVER_KERNELHEADER_H

#include "compiler/Targets/CUDA/KernelCompiler.h"

namespace ampc::driver {

/// Code of one kernel in the folder that --emit=kernels writes.
struct KernelCode {
  const CudaArchitecture *architecture;
  std::string file; ///< "NAME.sm_80.cubin"; empty for the simulator's object
  llvm::StringRef kind; ///< "cubin", "ptx", "simulator"
  codegen::GpuImage::Launch launch;
};

/// Prints `ampc_kernels.h`, which the header of each kernel includes.
void printKernelTypes(llvm::StringRef producer, llvm::raw_ostream &os);

/// Prints the header of a kernel: a constant `NAME` of type `ampc_kernel`.
void printKernelHeader(amp::KernelOp kernel, llvm::ArrayRef<KernelCode> code,
                       llvm::raw_ostream &os);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_KERNELHEADER_H
