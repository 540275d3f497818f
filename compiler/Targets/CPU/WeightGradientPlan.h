//===- WeightGradientPlan.h - Blocks of a convolution's weight gradient ---===//
#ifndef AMPC_COMPILER_TARGETS_CPU_WEIGHTGRADIENTPLAN_H
#define AMPC_COMPILER_TARGETS_CPU_WEIGHTGRADIENTPLAN_H

#include "compiler/Targets/CPU/CpuEmitter.h"

namespace ampc::cpu {

/// The gradient of a convolution's weight as a product over samples and
/// positions, for each group: rows are its output channels, columns the taps
/// and the input channels under each. Work items are blocks of it.
struct WeightGradientPlan {
  WeightGradientPlan(const CpuTraits &traits, amp::ConvWeightGradientOp op);

  bool isEmpty() const {
    return m * channels * taps * groups == 0 || positions == 0;
  }
  int64_t items() const {
    return groups * rowBlocks * tapBlocks * channelBlocks;
  }

  bool isLast;
  int64_t lanes;
  /// Sizes, but 1 for the last dimension if `run` has it.
  llvm::SmallVector<int64_t> kernel;
  llvm::SmallVector<int64_t> space; ///< samples, output positions
  int64_t positions = 0, groups = 1, m = 0, channels = 0, taps = 1;
  int64_t run = 1; ///< taps of the last dimension that count as channels

  int64_t vectors = 2, tileRows = 1; ///< of a tile
  int64_t blockRows = 0, blockTaps = 0, blockChannels = 0;
  int64_t rowBlocks = 0, tapBlocks = 0, channelBlocks = 0;
  int64_t panels = 0; ///< of `vectors` vectors of columns
  int64_t slice = 0;  ///< positions copied at a time
  /// Elements between rows of the block and between positions of a slice: no
  /// multiples of a page, which would put them all into one cache set.
  int64_t sumStride = 0, leftStride = 0, rightStride = 0;
  int64_t leftOffset = 0, rightOffset = 0;      ///< bytes into scratch
  bool leftDirect = false, rightDirect = false; ///< not copied

private:
  void planBlocks(const CpuTraits &traits, amp::ConvWeightGradientOp op);
  bool isDirect(mlir::Value tensor) const;
  bool isInputDirect(amp::ConvWeightGradientOp op) const;
};

} // namespace ampc::cpu

#endif // AMPC_COMPILER_TARGETS_CPU_WEIGHTGRADIENTPLAN_H
