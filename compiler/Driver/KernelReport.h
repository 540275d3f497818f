//===- KernelReport.h - What the GPU kernels of a program need ------------===//
#ifndef AMPC_COMPILER_DRIVER_KERNELREPORT_H
#define AMPC_COMPILER_DRIVER_KERNELREPORT_H

#include "compiler/Driver/DiagnosticSink.h"
#include "compiler/Targets/CUDA/CubinReader.h"
#include "compiler/Targets/CUDA/Gpus.h"
#include "compiler/Targets/CUDA/InstructionMix.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>

namespace ampc::driver {
class Compilation;

/// One parameter: a pointer to a dense tensor.
struct KernelParam {
  std::string elementType; ///< "f16"; empty if not known
  llvm::SmallVector<int64_t> shape;
  uint64_t bytes = 0;
  bool isOutput = false;
};

/// A kernel as code of one architecture.
struct KernelVariantFacts {
  const CudaArchitecture *architecture = nullptr;
  std::string symbol;
  std::array<uint32_t, 3> grid{}, block{};
  uint64_t dynamicSharedBytes = 0, workspaceBytes = 0;
  /// Of the cubin; nothing where there is PTX only.
  std::optional<cuda::KernelResources> resources;
  /// What ptxas said; nothing for a compiled program.
  std::optional<uint64_t> spillStoreBytes, spillLoadBytes;
  cuda::InstructionMix mix;
  bool isMixOfSass = false;
  cuda::ProductRate products = cuda::ProductRate::None;
};

/// One kernel, and how a run of the program uses it.
struct KernelFacts {
  std::string name;
  std::vector<KernelParam> params;
  uint64_t flops = 0; ///< 0 where it is not known
  /// Of all parameters, each moved once, but of a table only what is gathered.
  uint64_t bytes = 0;
  std::vector<std::string>
      nodes; ///< labels of its launches outside of If, Loop
  std::vector<KernelVariantFacts> variants;
};

/// What a program takes of a GPU's memory, and of the host's; the workspace
/// comes to that, which depends on the code.
struct DeviceMemory {
  uint64_t weights = 0, activations = 0, inputs = 0, outputs = 0;
  uint64_t staging = 0; ///< pinned, on the host

  uint64_t getTensorBytes() const {
    return weights + activations + inputs + outputs;
  }
};

struct KernelReport {
  std::string source; ///< file name of the model or program
  DeviceMemory memory;
  std::vector<KernelFacts> kernels;
};

/// What the runtime allocates for inputs and outputs of these sizes.
DeviceMemory computeDeviceMemory(uint64_t weights, uint64_t activations,
                                 llvm::ArrayRef<uint64_t> inputs,
                                 llvm::ArrayRef<uint64_t> outputs);

/// Names and types of the kernels and their launches in a module that has
/// reached Memory; no variants.
KernelReport collectKernels(mlir::ModuleOp module);

/// Compiles the kernels for all architectures of the options.
llvm::FailureOr<KernelReport> reportModel(Compilation &compilation);

/// Lets a compiled program write its code, and reads that.
llvm::FailureOr<KernelReport> reportProgram(llvm::StringRef path,
                                            DiagnosticSink &sink);

/// Prints the report, with times on `gpu` or, if that is null, on one GPU of
/// each architecture.
llvm::LogicalResult printKernelReport(const KernelReport &report,
                                      const Gpu *gpu, bool json,
                                      llvm::raw_ostream &os,
                                      DiagnosticSink &sink);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_KERNELREPORT_H
