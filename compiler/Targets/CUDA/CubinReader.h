//===- CubinReader.h - What the kernels of a cubin need -------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CUBINREADER_H
#define AMPC_COMPILER_TARGETS_CUDA_CUBINREADER_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ampc::cuda {

/// What one thread or block of a kernel takes.
struct KernelResources {
  std::string symbol;
  unsigned registers = 0;   ///< of a thread
  uint64_t sharedBytes = 0; ///< static, of a block
  uint64_t stackBytes = 0;  ///< of a thread: spills and local arrays
  uint64_t codeBytes = 0;
};

/// The kernels of a cubin (an ELF file), in the order of their code.
llvm::Expected<std::vector<KernelResources>> readCubin(llvm::StringRef bytes);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CUBINREADER_H
