//===- Architectures.h - What each GPU architecture can do ----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ARCHITECTURES_H
#define AMPC_COMPILER_TARGETS_CUDA_ARCHITECTURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ampc {

/// One GPU architecture: what its matrix units multiply. LLVM ends the process
/// at an instruction that a chip lacks, so what is emitted is asked for here.
struct CudaArchitecture {
  llvm::StringLiteral name; ///< of code for it: "sm_90a"
  unsigned major, minor;    ///< compute capability
  llvm::StringLiteral family;
  bool hasFp16, hasBf16, hasTf32;

  /// Whether matrix products of "fp16", "bf16" or "tf32" run on it; fp32
  /// products run everywhere.
  bool hasType(llvm::StringRef type) const;

  /// Whether it has wgmma: warpgroups multiply from shared memory. Code for it
  /// runs on no other architecture.
  bool hasWgmma() const { return name == "sm_90a"; }

  /// Whether threads can copy to shared memory without waiting: cp.async.
  bool hasAsyncCopy() const { return major >= 8; }

  /// Bytes of shared memory that a block can ask for.
  int64_t getSharedBytes() const;
};

/// The oldest compute capability that CUDA 13 compiles for, times ten.
constexpr unsigned oldestCudaCapability = 75;

/// All known architectures, oldest first.
llvm::ArrayRef<CudaArchitecture> getCudaArchitectures();

/// Finds an architecture by its name ("sm_86", "86", "8.6") or that of a GPU
/// ("rtx3060", "RTX 3060", "a100"). The error names what comes near.
llvm::Expected<const CudaArchitecture *>
findCudaArchitecture(llvm::StringRef name);

/// The architectures of these names, each once, oldest first.
llvm::Expected<std::vector<const CudaArchitecture *>>
findCudaArchitectures(llvm::ArrayRef<std::string> names);

} // namespace ampc

#endif // AMPC_COMPILER_TARGETS_CUDA_ARCHITECTURES_H
