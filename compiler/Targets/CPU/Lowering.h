//===- Lowering.h - Emitted kernels to LLVM IR and machine code -----------===//
#ifndef AMPC_COMPILER_TARGETS_CPU_LOWERING_H
#define AMPC_COMPILER_TARGETS_CPU_LOWERING_H

#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace ampc::cpu {

/// Lowers a module of emitted kernel functions (func, scf, arith, math, vector,
/// llvm) to the LLVM dialect, in place.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module);

/// Translates a lowered module; null on failure, which has been diagnosed.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module,
                                        llvm::LLVMContext &context,
                                        const llvm::TargetMachine &machine);

/// Runs LLVM's pipeline of `level` 0 to 3 for the machine.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              unsigned level);

} // namespace ampc::cpu

#endif // AMPC_COMPILER_TARGETS_CPU_LOWERING_H
