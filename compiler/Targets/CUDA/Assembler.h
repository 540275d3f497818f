//===- Assembler.h - PTX to cubins, by ptxas ------------------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ASSEMBLER_H
#define AMPC_COMPILER_TARGETS_CUDA_ASSEMBLER_H

#include "compiler/Targets/CUDA/Architectures.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace ampc::cuda {

/// What ptxas makes of a module.
struct Assembly {
  std::string cubin;
  /// Bytes of registers that its kernels write to memory and read back,
  /// counted once where they stand in the code.
  uint64_t spillStoreBytes = 0, spillLoadBytes = 0;
  std::string log; ///< what `ptxas -v` said; not kept in the cache
};

/// Assembles PTX with the `ptxas` of $AMPC_PTXAS, $CUDA_HOME or PATH. Fails
/// with its messages in `error`.
mlir::FailureOr<Assembly> assemble(llvm::StringRef ptx,
                                   const CudaArchitecture &architecture,
                                   std::string &error);

/// Whether there is a ptxas.
bool canAssemble();

/// How that ptxas calls itself; empty without one.
const std::string &getPtxasVersion();

/// The machine code of a cubin as text, where `nvdisasm` or `cuobjdump` is at
/// hand.
std::optional<std::string> disassemble(llvm::StringRef cubin);

/// Joins PTX and cubins with `fatbinary`; nothing where that is not at hand or
/// fails. Each file is named by the architecture of its code.
std::optional<std::string> makeFatbin(
    llvm::ArrayRef<std::pair<const CudaArchitecture *, llvm::StringRef>> cubins,
    const CudaArchitecture &ptxArchitecture, llvm::StringRef ptx);

/// A program of the toolkit, by its name; empty if there is none.
std::string findCudaTool(llvm::StringRef name);

/// Runs a program and waits for it: its exit code, its output in `output`.
int runTool(llvm::ArrayRef<llvm::StringRef> arguments, std::string &output);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ASSEMBLER_H
