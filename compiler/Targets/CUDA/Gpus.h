//===- Gpus.h - What GPUs have and how fast they are ----------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_GPUS_H
#define AMPC_COMPILER_TARGETS_CUDA_GPUS_H

#include "compiler/Targets/CUDA/Architectures.h"

namespace ampc {

/// One GPU as its maker describes it: dense rates at the boost clock.
struct Gpu {
  llvm::StringLiteral name; ///< "h200", as in --cuda-arch
  llvm::StringLiteral architecture;
  unsigned multiprocessors;
  double clock; ///< Hz
  /// Operations a second: matrix units with 16-bit factors and f32 sums, with
  /// tf32 factors (0: none), and f32 outside of them.
  double rate16, rateTf32, rateFp32;
  double bandwidth; ///< of memory, bytes a second
  uint64_t cacheBytes, memoryBytes;
};

llvm::ArrayRef<Gpu> getGpus();

/// The GPU of that name; the error lists all.
llvm::Expected<const Gpu *> findGpu(llvm::StringRef name);

/// One GPU of the architecture, to be named by default; null if none is known.
const Gpu *findGpuOf(const CudaArchitecture &architecture);

/// How many blocks of a kernel share a multiprocessor.
struct Occupancy {
  unsigned blocks = 0; ///< at once; 0: it does not fit at all
  unsigned warps = 0, mostWarps = 0;
  /// What allows no more: "registers", "shared memory", "warps" or "blocks".
  llvm::StringLiteral limiter = "";

  double getShare() const { return mostWarps ? double(warps) / mostWarps : 0; }
};

/// For blocks of `threads`, each using `registers`, and `sharedBytes` of static
/// and dynamic shared memory.
Occupancy computeOccupancy(const CudaArchitecture &architecture,
                           unsigned threads, unsigned registers,
                           uint64_t sharedBytes);

} // namespace ampc

#endif // AMPC_COMPILER_TARGETS_CUDA_GPUS_H
