//===- TileShape.h - How the result of a contraction is cut up ------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TILESHAPE_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TILESHAPE_H

#include "compiler/Targets/CUDA/Contraction/Epilogue.h"
#include <algorithm>

namespace ampc::cuda {

/// A block computes `m` x `n` of the result from slices of `k`, a warp `warpM`
/// x `warpN` of that.
struct TileShape {
  int64_t m, n, k;
  int64_t warpM, warpN;

  int64_t warps() const { return (m / warpM) * (n / warpN); }
  /// Two slices of both matrices, or the sums.
  int64_t sharedBytes() const {
    return std::max(2 * (m + n) * k * 2,
                    ContractionEpilogue::sharedBytes(m, n, 4));
  }
};

/// The largest tile that fits `sharedBytes` and leaves a block for most
/// multiprocessors.
TileShape chooseTile(const GemmView &view, int64_t sharedBytes);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_TILESHAPE_H
