//===- Architecture.h - What each GPU architecture can do -----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ARCHITECTURE_H
#define AMPC_COMPILER_TARGETS_CUDA_ARCHITECTURE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace ampc::cuda {

/// A row of the table of architectures. Figures are of NVIDIA's programming
/// guide, "Technical Specifications per Compute Capability".
struct Architecture {
  llvm::StringLiteral name;    ///< sm_80
  uint32_t number;             ///< 80
  llvm::StringLiteral feature; ///< the PTX version that first knows it
  bool hasBf16;                ///< mma.sync on bf16 and tf32, cp.async
  bool hasWgmma;               ///< wgmma, TMA
  int32_t sharedPerBlock;      ///< bytes a block can ask for
  int32_t sharedPerProcessor;  ///< bytes of a multiprocessor
  int32_t warpsPerProcessor;
};

/// All architectures that code can be made for, oldest first.
llvm::ArrayRef<Architecture> getArchitectures();

/// The architecture of a name: sm_86, or a GPU's: a100, rtx3060. Null when
/// there is none.
const Architecture *findArchitecture(llvm::StringRef name);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ARCHITECTURE_H
