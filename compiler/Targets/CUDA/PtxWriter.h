//===- PtxWriter.h - From kernels to PTX ----------------------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_PTXWRITER_H
#define AMPC_COMPILER_TARGETS_CUDA_PTXWRITER_H

#include "compiler/Targets/CUDA/Architectures.h"
#include "compiler/Targets/Codegen/ProgramTable.h"
#include "compiler/Targets/Target.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace ampc::cuda {

/// Kernels as optimised LLVM IR for one architecture.
struct KernelModule {
  /// Emits, lowers and optimises `kernels`. Reports at the kernel that cannot
  /// be emitted. Kernels of a module can be created on several threads of its
  /// context, once it has loaded what `loadDialects` loads.
  static mlir::FailureOr<KernelModule>
  create(llvm::ArrayRef<amp::KernelOp> kernels,
         const CudaArchitecture &architecture, unsigned optLevel,
         llvm::ArrayRef<ContractionRule> contractionRules = {});

  /// The same of all kernels of `module`.
  static mlir::FailureOr<KernelModule>
  create(mlir::ModuleOp module, const CudaArchitecture &architecture,
         unsigned optLevel,
         llvm::ArrayRef<ContractionRule> contractionRules = {});

  /// Loads the dialects of emitted code.
  static void loadDialects(mlir::MLIRContext *context);

  /// The module as PTX.
  std::string writePtx();

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
  std::vector<codegen::GpuImage::Launch> launches;
  llvm::StringMap<codegen::KernelLaunch> items; ///< by kernel
};

/// Reports that ptxas failed, at `op`.
mlir::LogicalResult reportPtxas(mlir::Operation *op,
                                const CudaArchitecture &architecture,
                                llvm::StringRef error);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_PTXWRITER_H
