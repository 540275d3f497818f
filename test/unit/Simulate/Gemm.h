//===- Gemm.h - Tiled matrix products on mma.sync, as MLIR ----------------===//
#ifndef AMPC_TEST_UNIT_SIMULATE_GEMM_H
#define AMPC_TEST_UNIT_SIMULATE_GEMM_H

#include <string>

namespace ampc::test {

/// Faults that can be put into a kernel.
enum class Bug {
  none,
  noBarrierBeforeUse,  // between the wait and the use of a stage
  noBarrierAfterUse,   // between the use of a stage and its next copy
  noWait,              // for the copies of a stage
  waitTooLate,         // leaves one group too many in flight
  stageTooFew,         // one buffer less than the pipeline counts on
  swappedLanes,        // rows and columns of ldmatrix's lanes exchanged
  notTransposed,       // B loaded as it lies
  rowTooFar,           // the last row of the block is that of the next
  sharedRowTooFar,     // one row too far in shared memory
  narrowAlignment,     // shared memory not aligned to 16 bytes
  unwrittenTail,       // a part of a stage is not copied
  divergentBarrier,    // a barrier that half of a warp skips
  divergentMatrix,     // a matrix instruction that half of a warp skips
  uninitializedOutput, // adds to an output that nobody wrote
};

/// C = A B, f32 sums; A, B, C as memref<?x?>, sizes multiples of the tile.
struct GemmShape {
  bool bf16 = false;
  bool halfAccumulators = false;           // sm_75 only
  int rows = 64, columns = 64, depth = 32; // a block's tile
  int warpRows = 2, warpColumns = 2;
  int stages = 3;
  int threads() const { return 32 * warpRows * warpColumns; }
};

/// sm_80: cp.async in stages, ldmatrix, XOR swizzle, m16n8k16.
std::string ampereGemm(const GemmShape &shape, Bug bug = Bug::none);
/// sm_75: loads and stores, padded rows, ldmatrix, m16n8k8.
std::string turingGemm(const GemmShape &shape, Bug bug = Bug::none);

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_SIMULATE_GEMM_H
