//===- TileShape.h - How the result of a contraction is cut up ------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_TILESHAPE_H
#define AMPC_COMPILER_TARGETS_CUDA_TILESHAPE_H

#include "compiler/Targets/CUDA/GemmView.h"
#include <algorithm>

namespace ampc::cuda {

/// A block computes `m` x `n` of the result from slices of `k`, a warp `warpM`
/// x `warpN` of that.
struct TileShape {
  int64_t m, n, k;
  int64_t warpM, warpN;

  int64_t warps() const { return (m / warpM) * (n / warpN); }
  /// Floats between rows of the products that go to the epilogue.
  int64_t productStride() const { return n + 4; }
  /// Two slices of both matrices, or the products.
  int64_t sharedBytes() const {
    return std::max(2 * (m + n) * k * 2, m * productStride() * 4);
  }
};

/// The largest tile that fits `sharedBytes` and leaves a block for most
/// multiprocessors.
TileShape chooseTile(const GemmView &view, int64_t sharedBytes);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_TILESHAPE_H
