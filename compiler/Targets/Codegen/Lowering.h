//===- Lowering.h - Emitted kernels to LLVM IR and machine code -----------===//
#ifndef AMPC_COMPILER_TARGETS_CODEGEN_LOWERING_H
#define AMPC_COMPILER_TARGETS_CODEGEN_LOWERING_H

#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace ampc::codegen {

/// LLVM's machine of a triple whose target has been initialised, without
/// contraction of products and sums; null with a message in `error`.
std::unique_ptr<llvm::TargetMachine>
createMachine(llvm::StringRef triple, llvm::StringRef cpu,
              llvm::StringRef features, unsigned optLevel, std::string &error);

/// The same for x86-64, which needs no preparation.
std::unique_ptr<llvm::TargetMachine> createHostMachine(llvm::StringRef cpu,
                                                       llvm::StringRef features,
                                                       unsigned optLevel,
                                                       std::string &error);

struct LoweringOptions {
  /// Functions without an expansion call libm; otherwise upstream's polynomials
  /// replace those of f32.
  bool hasLibm = true;
  unsigned indexBits = 64; ///< width of index arithmetic
};

/// Lowers a module of emitted kernel functions (func, scf, arith, math, vector,
/// llvm) to the LLVM dialect, in place.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module,
                                       const LoweringOptions &options = {});

/// Loads the dialects that this makes use of, so that it can run on several
/// threads of the context.
void loadLoweringDialects(mlir::MLIRContext *context,
                          const LoweringOptions &options = {});

/// Translates a lowered module; null on failure, which has been diagnosed.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module,
                                        llvm::LLVMContext &context,
                                        const llvm::TargetMachine &machine);

/// Runs LLVM's pipeline of `level` 0 to 3 for the machine.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              unsigned level);

} // namespace ampc::codegen

#endif // AMPC_COMPILER_TARGETS_CODEGEN_LOWERING_H
