//===- SimulatedKernel.h - One kernel as an object for the simulator ------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_SIMULATEDKERNEL_H
#define AMPC_COMPILER_TARGETS_CUDA_SIMULATEDKERNEL_H

#include "compiler/Targets/CUDA/PtxWriter.h"
#include "compiler/Targets/Target.h"

namespace ampc::cuda {

/// An x86-64 object that defines `moduleSymbol`, the ampc_sim_module of
/// `kernel` as code of `architecture`.
mlir::FailureOr<std::string>
compileForSimulator(amp::KernelOp kernel, const CudaArchitecture &architecture,
                    const CodegenOptions &options,
                    llvm::StringRef moduleSymbol);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_SIMULATEDKERNEL_H
