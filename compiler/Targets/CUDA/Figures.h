//===- Figures.h - How fast the parts of a GPU are ------------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_FIGURES_H
#define AMPC_COMPILER_TARGETS_CUDA_FIGURES_H

#include "compiler/Targets/CUDA/Architectures.h"

namespace ampc {

/// What the choice of a kernel's form is computed from. Of an architecture with
/// several chips, those of a common one.
struct CudaFigures {
  unsigned capability;      ///< times ten
  unsigned multiprocessors; ///< of the chip
  unsigned warps;           ///< that a multiprocessor holds
  int64_t sharedBytes;      ///< of a multiprocessor
  unsigned mma16;           ///< products of 16-bit operands a clock
  unsigned tf32;            ///< of TF32 operands
  unsigned fma32, fma64;    ///< by scalar units
  /// Bytes from the second-level cache a clock, for each multiprocessor when
  /// all are at work.
  unsigned cacheBytes;

  static constexpr int64_t registers = 64 << 10;  ///< of a multiprocessor
  static constexpr int64_t sharedBandwidth = 128; ///< bytes a clock
  /// Shared memory of a block that the system uses (sm_80 on).
  static constexpr int64_t reservedShared = 1 << 10;
};

/// The figures of an architecture; those of the nearest older one where it has
/// none of its own.
const CudaFigures &getCudaFigures(const CudaArchitecture &architecture);

} // namespace ampc

#endif // AMPC_COMPILER_TARGETS_CUDA_FIGURES_H
