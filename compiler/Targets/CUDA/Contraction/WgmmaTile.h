//===- WgmmaTile.h - Tiles of a contraction on warpgroups -----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_WGMMATILE_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_WGMMATILE_H

#include "compiler/Targets/CUDA/Contraction/ContractionPlan.h"
#include "compiler/Targets/CUDA/Contraction/GemmView.h"
#include "llvm/ADT/ArrayRef.h"

namespace ampc::cuda {

/// A block computes `m` x `n` of the result, its `consumers` warpgroups `m /
/// consumers` rows each; one more warpgroup fills a ring of `stages` slices of
/// both operands.
struct WgmmaTile {
  int64_t m, n;
  int64_t consumers, stages;
  /// Blocks of a multiprocessor that fit its shared memory.
  int64_t blocks;

  static constexpr int64_t k = 64;
  static constexpr int64_t warpgroupThreads = 128;
  static constexpr int64_t warpgroupRows = 64; ///< of one wgmma
  static constexpr int64_t elementBytes = 2;
  /// Columns that a warp hands to the epilogue at a time, and rows that it has.
  static constexpr int64_t handedColumns = 64, warpRows = 16;

  int64_t threads() const { return (consumers + 1) * warpgroupThreads; }
  int64_t consumerWarps() const { return consumers * 4; }
  /// Registers of a thread as a block begins, and of a consumer's thread once
  /// the producer's have left theirs but `producerRegisters` (PTX ISA,
  /// "setmaxnreg"). A block of few threads has no need to move any.
  int64_t firstRegisters() const {
    return (int64_t(64) << 10) / (threads() * blocks) / 8 * 8;
  }
  bool movesRegisters() const { return firstRegisters() < 255; }
  int64_t consumerRegisters(int64_t producerRegisters) const {
    int64_t left = (consumers + 1) * firstRegisters() - producerRegisters;
    return left / consumers / 8 * 8;
  }
  /// Rows of a consumer, in wgmmas.
  int64_t parts() const { return m / consumers / warpgroupRows; }
  int64_t leftBytes() const { return m * k * elementBytes; }
  int64_t rightBytes() const { return n * k * elementBytes; }
  int64_t stageBytes() const { return leftBytes() + rightBytes(); }
  /// Where the parts of shared memory begin.
  int64_t handedOffset() const { return stages * stageBytes(); }
  int64_t handedBytes() const { return warpRows * handedColumns * 4; }
  int64_t barrierOffset() const {
    return handedOffset() + consumerWarps() * handedBytes();
  }
  int64_t sharedBytes() const { return barrierOffset() + 2 * stages * 8; }
};

/// All tiles, the fastest first.
llvm::ArrayRef<WgmmaTile> getWgmmaTiles();

/// Clocks that a contraction takes with the tile by the model, in the terms of
/// that of other kernels (ContractionPlan.h).
double estimateClocks(const WgmmaTile &tile, const GemmSize &size,
                      const CudaFigures &figures);

/// The tile that the rules of the user name, or else that of the least
/// estimate; null where a rule or the estimate is for another kernel, or most
/// of each tile would be empty.
const WgmmaTile *chooseWgmmaTile(const GemmView &view,
                                 const CudaEmitter &emitter);

/// All tiles of the result, and the blocks of a launch: one for each tile, or
/// as many as run at once.
int64_t countTiles(const WgmmaTile &tile, const GemmSize &size);
int64_t countBlocks(const WgmmaTile &tile, const GemmSize &size,
                    const CudaArchitecture &architecture);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_WGMMATILE_H
