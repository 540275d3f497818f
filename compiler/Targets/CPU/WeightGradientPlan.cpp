//===- WeightGradientPlan.cpp - Blocks of a convolution's weight gradient -===//
#include "compiler/Targets/CPU/WeightGradientPlan.h"

#include "compiler/Targets/CPU/Contraction.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

WeightGradientPlan::WeightGradientPlan(const CpuTraits &traits,
                                       amp::ConvWeightGradientOp op)
    : isLast(op.getLayout() == amp::Layout::ChannelsLast), lanes(traits.lanes) {
  ArrayRef<int64_t> gradient = shapeOf(op.getGradient());
  ArrayRef<int64_t> result = shapeOf(op.getResult());
  space.push_back(gradient.front());
  llvm::append_range(space, isLast ? gradient.drop_front().drop_back()
                                   : gradient.drop_front(2));
  positions = llvm::product_of(space);
  groups = static_cast<int64_t>(op.getGroup());
  m = result[0] / groups;
  // Few channels make short copies: where the taps of a row lie side by side,
  // they count as channels of one tap.
  bool isRow = isLast && groups == 1 && op.getDilations().back() == 1 &&
               result[1] < lanes && isa<BlockArgument>(op.getInput());
  kernel.assign(op.getKernel().begin(), op.getKernel().end());
  if (isRow) {
    run = std::exchange(kernel.back(), 1);
  }
  channels = result[1] * run;
  taps = llvm::product_of(kernel);
  planBlocks(traits, op);
}

/// Whether the channels of `tensor` are read where they lie: f32, and not so
/// many that the positions of a slice would share few cache sets.
bool WeightGradientPlan::isDirect(Value tensor) const {
  constexpr int64_t mostChannels = 256;
  return isLast && isa<BlockArgument>(tensor) &&
         getElementTypeOrSelf(tensor.getType()).isF32() &&
         shapeOf(tensor).back() <= mostChannels;
}

/// The same of what lies under the taps: of one, which visits every position,
/// and with no columns beyond the last.
bool WeightGradientPlan::isInputDirect(amp::ConvWeightGradientOp op) const {
  auto all = [](ArrayRef<int64_t> values, int64_t wanted) {
    return llvm::all_of(values, [=](int64_t value) { return value == wanted; });
  };
  return isDirect(op.getInput()) && run == 1 && taps == 1 &&
         all(op.getStrides(), 1) && all(op.getPads(), 0) &&
         blockChannels % (vectors * lanes) == 0 &&
         channels % blockChannels == 0;
}

/// Blocks as large as a quarter of the second-level cache, so that copying is
/// little beside multiplying; but enough of them to share out.
void WeightGradientPlan::planBlocks(const CpuTraits &traits,
                                    amp::ConvWeightGradientOp op) {
  constexpr int64_t mostRows = 128, mostColumns = 512, wantedItems = 8;
  auto split = [](int64_t size, int64_t count, int64_t multiple) {
    int64_t each = llvm::divideCeil(size, std::max<int64_t>(count, 1));
    return std::max<int64_t>(
        std::min<int64_t>(size, llvm::alignTo(each, multiple)), 1);
  };
  tileRows = tileRowsFor(traits, vectors);
  int64_t panel = vectors * lanes;
  blockRows = split(m, llvm::divideCeil(m, mostRows), tileRows);
  int64_t parts = run == 1 ? llvm::divideCeil(channels, mostColumns) : 1;
  blockChannels = split(channels, parts, panel);
  blockTaps =
      std::clamp<int64_t>(mostColumns / std::max<int64_t>(blockChannels, 1), 1,
                          std::max<int64_t>(taps, 1));
  auto count = [&] {
    rowBlocks = llvm::divideCeil(m, blockRows);
    tapBlocks = llvm::divideCeil(taps, blockTaps);
    channelBlocks = llvm::divideCeil(channels, blockChannels);
    return items();
  };
  while (count() < wantedItems) {
    if (blockTaps * blockChannels > 4 * panel && blockTaps > 1) {
      blockTaps = llvm::divideCeil(blockTaps, 2);
    } else if (blockChannels > 4 * panel && run == 1) {
      blockChannels = split(channels, 2 * channelBlocks, panel);
    } else if (blockRows > 4 * tileRows) {
      blockRows = split(m, 2 * rowBlocks, tileRows);
    } else if (blockTaps > 1 && blockTaps * blockChannels > panel) {
      blockTaps = llvm::divideCeil(blockTaps, 2);
    } else if (blockChannels > panel && run == 1) {
      blockChannels = split(channels, 2 * channelBlocks, panel);
    } else if (blockRows > 2 * tileRows) {
      blockRows = split(m, 2 * rowBlocks, tileRows);
    } else {
      break;
    }
  }
  int64_t columns = blockTaps * blockChannels;
  vectors = std::clamp<int64_t>(llvm::divideCeil(columns, lanes), 1, vectors);
  panel = vectors * lanes;
  panels = llvm::divideCeil(columns, panel);
  auto skewed = [](int64_t size) { return llvm::alignTo(size, 32) + 16; };
  sumStride = panels * panel;
  leftStride = skewed(blockRows);
  rightStride = skewed(panels * panel);
  int64_t fit = traits.l2Bytes / 4 / ((leftStride + rightStride) * 4);
  slice = std::clamp<int64_t>(fit, 32, 256);
  slice = std::min(slice, std::max<int64_t>(positions, 1));
  leftDirect = isDirect(op.getGradient());
  rightDirect = isInputDirect(op);
  if (rightDirect) {
    // A panel of the slice stays in the first-level cache, of whose lines a
    // position takes those that lie at its distance modulo a page.
    constexpr int64_t page = 4096, ways = 12, leastPositions = 32;
    int64_t distance = shapeOf(op.getInput()).back() * 4;
    slice = std::min(slice, std::max(ways * page / distance, leastPositions));
  }
  leftOffset = llvm::alignTo(blockRows * sumStride * 4, 64);
  rightOffset = leftOffset + llvm::alignTo(slice * leftStride * 4, 64);
}
