//===- Simulate.h - Kernels made for NVPTX, lowered for the simulator -----===//
//
// Takes the very module that the NVPTX backend would get and turns its kernels
// into host code for runtime/devices/sim, so that all but instruction selection
// and ptxas is exercised on a machine without a GPU. Everything that a GPU does
// and a host does not becomes a call; every access to memory is preceded by a
// check. What is not known is an error that names it.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_SIMULATE_SIMULATE_H
#define AMPC_COMPILER_TARGETS_CUDA_SIMULATE_SIMULATE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class TargetMachine;
class raw_pwrite_stream;
} // namespace llvm

namespace ampc::cuda {

struct SimulateOptions {
  /// Compute capability that the module was made for: 10 x major + minor.
  unsigned arch = 80;
  /// The symbol of the ampc_sim_module that the object exports.
  llvm::StringRef moduleSymbol = "ampc_sim_module";
};

/// Lowers `module` in place for `machine`, an x86-64 one. All problems of the
/// module are named in the error; it is of no use then.
llvm::Error lowerForSimulator(llvm::Module &module,
                              llvm::TargetMachine &machine,
                              const SimulateOptions &options);

/// Writes the object file of a lowered module.
llvm::Error emitSimulatorObject(llvm::Module &module,
                                llvm::TargetMachine &machine,
                                llvm::raw_pwrite_stream &out);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_SIMULATE_SIMULATE_H
