//===- WgmmaProducer.h - The warpgroup that brings operands ---------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_WGMMAPRODUCER_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_WGMMAPRODUCER_H

#include "compiler/Targets/CUDA/Contraction/GatheredOperand.h"
#include "compiler/Targets/CUDA/Contraction/StageRing.h"
#include "compiler/Targets/CUDA/Contraction/TileScheduler.h"
#include "compiler/Targets/CUDA/Contraction/TmaOperand.h"
#include "compiler/Targets/CUDA/Contraction/WgmmaEpilogue.h"

namespace ampc::cuda {

/// What both kinds of warpgroups of a block know.
struct WgmmaBlock {
  CudaEmitter &e;
  GemmView &view;
  const WgmmaTile &tile;
  std::optional<TmaOperand> left; ///< none: it is gathered
  std::optional<GatheredOperand> gathered;
  TmaOperand right;
  StageRing ring;
  TileScheduler scheduler;
  mlir::Value thread, lane, warp; ///< of the block; uniform in a warp

  /// Registers that a producer's thread keeps.
  int64_t producerRegisters() const { return gathered ? 104 : 40; }
  /// Arrivals at a stage that the copy engine's bytes do not stand for.
  int64_t fillArrivals() const {
    return gathered ? 1 + WgmmaTile::warpgroupThreads : 1;
  }
  int64_t steps() const { return llvm::divideCeil(view.k, WgmmaTile::k); }
  /// `offset` bytes into a stage.
  mlir::Value stagePointer(mlir::Value stage, int64_t offset);
};

/// Builds the producer's part of the kernel.
void emitWgmmaProducer(WgmmaBlock &block);

/// Builds that of the consumers.
mlir::LogicalResult emitWgmmaConsumers(WgmmaBlock &block,
                                       WgmmaEpilogue::Mode mode);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_WGMMAPRODUCER_H
