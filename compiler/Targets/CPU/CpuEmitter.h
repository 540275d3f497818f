//===- CpuEmitter.h - Kernels as functions of the CPU ---------------------===//
#ifndef AMPC_COMPILER_TARGETS_CPU_CPUEMITTER_H
#define AMPC_COMPILER_TARGETS_CPU_CPUEMITTER_H

#include "compiler/Targets/Codegen/KernelEmitter.h"
#include "compiler/Targets/Codegen/RowWalker.h"

namespace ampc::cpu {

using codegen::ElementPuller;
using codegen::KernelLaunch;

/// Facts about the machine that kernels are written for.
struct CpuTraits : codegen::KernelTraits {
  int64_t registers = 16;   ///< vector registers
  int64_t l2Bytes = 524288; ///< second-level cache
};

/// Emits a kernel as
/// `func(buffers: !llvm.ptr, scratch: !llvm.ptr, begin: i64, end: i64)`, which
/// runs work items [begin, end); see ampc_kernel_fn.
class CpuEmitter final : public codegen::KernelEmitter {
public:
  CpuEmitter(amp::KernelOp kernel, mlir::func::FuncOp function,
             const CpuTraits &traits)
      : KernelEmitter(kernel, function, traits), machine(traits) {}

  void reset() override;
  void forEachItem(llvm::function_ref<void(mlir::Value item)> body) override;
  mlir::Value scratchPointer(int64_t offset) override;
  std::unique_ptr<codegen::RowWalker>
  makeRowWalker(const codegen::RowSpace &space, int64_t lanes) override;

  const CpuTraits &machine;

private:
  mlir::Value scratch, begin, end;
};

mlir::LogicalResult emitContractionKernel(CpuEmitter &emitter,
                                          mlir::Operation *root);
mlir::LogicalResult emitAttentionKernel(CpuEmitter &emitter,
                                        mlir::Operation *root);

/// Picks the emitter by the root's fusion kind.
mlir::LogicalResult emitKernel(CpuEmitter &emitter);

} // namespace ampc::cpu

#endif // AMPC_COMPILER_TARGETS_CPU_CPUEMITTER_H
