//===- ProgramTable.h - The ampc_program of a module as LLVM data ---------===//
#ifndef AMPC_COMPILER_TARGETS_CODEGEN_PROGRAMTABLE_H
#define AMPC_COMPILER_TARGETS_CODEGEN_PROGRAMTABLE_H

#include "compiler/Targets/Codegen/KernelEmitter.h"
#include "compiler/Targets/Target.h"

#include "ampc/abi.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace ampc::codegen {

/// Code for one GPU architecture.
struct GpuImage {
  uint32_t architecture = 0; ///< 80 for sm_80
  ampc_gpu_image_kind kind = AMPC_GPU_IMAGE_CUBIN;
  /// The code, as it is loaded; of an image for the simulator, the symbol of
  /// its ampc_sim_module in the same output.
  std::vector<std::string> modules;
  /// In the order of the module's kernels.
  struct Launch {
    std::string symbol;
    std::array<uint32_t, 3> grid{}, block{};
    uint32_t sharedBytes = 0; ///< dynamic
    std::vector<ampc_gpu_tensor_map> tensorMaps;
    uint32_t module = 0; ///< of the image, that holds the kernel
    uint64_t workspaceBytes = 0;
  };
  std::vector<Launch> launches;
};

/// What a target adds to the table of a program.
struct ProgramParts {
  uint64_t cpuFeatures = 0;     ///< AMPC_CPU_* bits that the kernels need
  std::vector<GpuImage> images; ///< of a program whose kernels run on a GPU
};

/// Adds to `output` the `ampc_program` that `module`'s rt.program describes,
/// referring to the kernel functions already in `output`, which become
/// internal; there are none where `parts` holds images.
mlir::LogicalResult
addProgramTable(mlir::ModuleOp module,
                const llvm::StringMap<KernelLaunch> &launches,
                const CodegenOptions &options, const ProgramParts &parts,
                llvm::Module &output);

} // namespace ampc::codegen

#endif // AMPC_COMPILER_TARGETS_CODEGEN_PROGRAMTABLE_H
