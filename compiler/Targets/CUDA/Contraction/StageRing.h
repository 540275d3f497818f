//===- StageRing.h - Slices of shared memory between warpgroups -----------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_STAGERING_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_STAGERING_H

#include "compiler/Targets/CUDA/CudaEmitter.h"

namespace ampc::cuda {

/// A ring of stages that a producer fills and consumers empty. Each stage has
/// two mbarriers, whose phases alternate: one completes when it is full, the
/// other when all consumers are through with it.
class StageRing {
public:
  /// The mbarriers lie at byte `offset` of the scratch.
  StageRing(CudaEmitter &e, int64_t stages, int64_t offset)
      : e(e), stages(stages), offset(offset) {}

  /// By one thread, before a barrier of the block.
  void initialize(int64_t fillArrivals, int64_t emptyArrivals);

  /// A stage, and the parity of the phase in which it is filled now.
  struct Position {
    mlir::Value stage, parity;
  };
  Position first();
  Position next(const Position &at);
  mlir::Value before(mlir::Value stage);

  void waitUntilFull(const Position &at);
  /// As each barrier begins in an incomplete phase, the first round waits for
  /// the phase before, which counts as complete.
  void waitUntilEmpty(const Position &at);

  /// Says how many bytes the copy engine will bring, and arrives.
  void expectBytes(const Position &at, int64_t bytes);
  void arriveFull(mlir::Value stage) { arrive(full(stage)); }
  void arriveEmpty(mlir::Value stage) { arrive(empty(stage)); }

  mlir::Value full(mlir::Value stage) { return barrier(stage, 0); }

private:
  mlir::Value empty(mlir::Value stage) { return barrier(stage, stages); }
  mlir::Value barrier(mlir::Value stage, int64_t plus);
  void wait(mlir::Value barrier, mlir::Value parity);
  void arrive(mlir::Value barrier);

  CudaEmitter &e;
  int64_t stages, offset;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_STAGERING_H
