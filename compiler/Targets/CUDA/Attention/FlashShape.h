//===- FlashShape.h - How attention is cut up -----------------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ATTENTION_FLASHSHAPE_H
#define AMPC_COMPILER_TARGETS_CUDA_ATTENTION_FLASHSHAPE_H

#include "compiler/Targets/Codegen/Attention.h"

namespace ampc::cuda {

/// A block takes `warps` * `warpRows` queries and `keys` keys at a time.
struct FlashShape {
  int64_t warps, warpRows, keys;
  /// Whether the queries stay in registers; else they stay in shared memory
  /// and are read anew for each block of keys.
  bool keepsQueries;
  int64_t depth, width; ///< multiples of 16

  int64_t threads() const { return warps * 32; }
  int64_t rows() const { return warps * warpRows; }
  int64_t keyBytes() const { return keys * depth * 2; }
  int64_t stageBytes() const { return keys * (depth + width) * 2; }
  int64_t queryBytes() const { return rows() * depth * 2; }
  /// Queries on their way to registers lie where the second stage will.
  int64_t queryOffset() const { return stageBytes() * (keepsQueries ? 1 : 2); }
  int64_t sharedBytes() const;

  /// Columns of the result that go to the epilogue at once, and the floats
  /// between their rows: eight more, so that what the threads of half a warp
  /// store, two each, lies in different banks.
  int64_t resultColumns() const;
  static int64_t resultStride(int64_t columns) { return columns + 8; }
};

/// The largest shape that fits `sharedBytes` and leaves a block for most
/// multiprocessors; none where the heads are too wide.
std::optional<FlashShape> chooseFlashShape(const codegen::AttentionSizes &sizes,
                                           int64_t sharedBytes,
                                           bool hasAsyncCopy);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ATTENTION_FLASHSHAPE_H
