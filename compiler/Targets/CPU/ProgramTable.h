//===- ProgramTable.h - The ampc_program of a module as LLVM data ---------===//
#ifndef AMPC_COMPILER_TARGETS_CPU_PROGRAMTABLE_H
#define AMPC_COMPILER_TARGETS_CPU_PROGRAMTABLE_H

#include "compiler/Targets/CPU/CpuEmitter.h"
#include "compiler/Targets/Target.h"
#include "llvm/ADT/StringMap.h"

namespace llvm {
class Module;
} // namespace llvm

namespace ampc::cpu {

/// Adds to `output` the `ampc_program` that `module`'s rt.program describes,
/// referring to the kernel functions already in `output`. Kernel functions
/// become internal. `features`: AMPC_CPU_* bits that the kernels need.
mlir::LogicalResult addProgramTable(
    mlir::ModuleOp module, const llvm::StringMap<KernelLaunch> &launches,
    const CodegenOptions &options, uint64_t features, llvm::Module &output);

} // namespace ampc::cpu

#endif // AMPC_COMPILER_TARGETS_CPU_PROGRAMTABLE_H
