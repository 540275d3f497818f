//===- PtxWriter.h - From kernels to PTX and cubins -----------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_PTXWRITER_H
#define AMPC_COMPILER_TARGETS_CUDA_PTXWRITER_H

#include "compiler/Targets/CUDA/Architectures.h"
#include "compiler/Targets/Codegen/ProgramTable.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace ampc::cuda {

/// The kernels of a program as optimised LLVM IR for one architecture.
struct KernelModule {
  /// Emits, lowers and optimises the kernels of `module`. Reports at the kernel
  /// that cannot be emitted.
  static mlir::FailureOr<KernelModule>
  create(mlir::ModuleOp module, const CudaArchitecture &architecture,
         unsigned optLevel);

  /// The module as PTX.
  std::string writePtx();

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
  std::vector<codegen::GpuImage::Launch> launches;
  llvm::StringMap<codegen::KernelLaunch> items; ///< by kernel
};

/// Assembles PTX with the `ptxas` of $AMPC_PTXAS, $CUDA_HOME or PATH. Fails
/// with its messages in `error`.
mlir::FailureOr<std::string> assemble(llvm::StringRef ptx,
                                      const CudaArchitecture &architecture,
                                      std::string &error);

/// Whether there is a ptxas.
bool canAssemble();

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_PTXWRITER_H
