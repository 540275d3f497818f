//===- TileShape.h - How the result of a contraction is cut up ------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TILESHAPE_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TILESHAPE_H

#include "compiler/Targets/CUDA/Contraction/Epilogue.h"
#include <algorithm>

namespace ampc::cuda {

/// What multiplies the slices of a contraction.
enum class ProductKind {
  Mma16, ///< mma.sync on 16-bit operands
  Tf32,  ///< mma.sync on f32 operands cut to TF32
  Fma32, ///< fused multiply-add in f32
  Fma64, ///< the same in f64
};

/// Bytes of an element in shared memory, and of a sum.
inline int64_t elementBytes(ProductKind kind) {
  return kind == ProductKind::Mma16 ? 2 : kind == ProductKind::Fma64 ? 8 : 4;
}
inline int64_t sumBytes(ProductKind kind) {
  return kind == ProductKind::Fma64 ? 8 : 4;
}

/// A block computes `m` x `n` of the result from slices of `k`, a warp `warpM`
/// x `warpN` of that.
struct TileShape {
  int64_t m, n, k;
  int64_t warpM, warpN;
  /// Of a thread, about: a figure for the occupancy.
  int64_t registers;

  int64_t warps() const { return (m / warpM) * (n / warpN); }
  int64_t threads() const { return warps() * 32; }
  /// The sums go to the epilogue in bands of so many rows of each warp's share.
  static constexpr int64_t bandRows = 16;
  int64_t bands() const { return warpM / bandRows; }
  /// Of `stages` slices of both matrices, or a band of sums.
  int64_t sharedBytes(int64_t stages, ProductKind kind) const {
    return std::max(
        stages * (m + n) * k * elementBytes(kind),
        ContractionEpilogue::sharedBytes(m / bands(), n, sumBytes(kind)));
  }
};

/// The tiles that kernels of a kind exist in.
llvm::ArrayRef<TileShape> getTiles(ProductKind kind);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TILESHAPE_H
