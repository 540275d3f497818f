//===- FlashShape.cpp - How attention is cut up ---------------------------===//
#include "compiler/Targets/CUDA/Attention/FlashShape.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

int64_t FlashShape::sharedBytes() const {
  int64_t result = rows() * resultStride(std::min<int64_t>(width, 32)) * 4;
  return std::max({2 * stageBytes(), queryOffset() + queryBytes(), result});
}

int64_t FlashShape::resultColumns() const {
  int64_t columns = sharedBytes() / (rows() * 4) - resultStride(0);
  return std::min(width, columns / 16 * 16);
}

namespace {
/// A row of the table: a shape for heads of up to `extent` elements.
struct Choice {
  int64_t extent, warps, warpRows, keys;
  bool keepsQueries;
};
} // namespace

// Two rows of fragments for each warp halve its reads of keys and values from
// shared memory, where the result's registers leave room for them: a thread
// holds warpRows / 16 * (width + keys) / 2 sums, and as many words of queries
// as a quarter of that for depth alone.
static constexpr Choice asyncChoices[] = {
    {64, 4, 32, 64, true},   {64, 4, 16, 64, true},   {128, 8, 16, 64, true},
    {128, 4, 16, 64, true},  {128, 4, 16, 32, true},  {256, 8, 16, 32, false},
    {256, 4, 16, 32, false}, {256, 4, 16, 16, false},
};
/// Those for architectures whose loads pass through registers.
static constexpr Choice registerChoices[] = {
    {64, 4, 16, 64, true},
    {128, 4, 16, 32, true},
    {256, 4, 16, 16, false},
};

std::optional<FlashShape> cuda::chooseFlashShape(const AttentionSizes &sizes,
                                                 int64_t sharedBytes,
                                                 bool hasAsyncCopy) {
  constexpr int64_t wantedBlocks = 96;
  int64_t depth = llvm::alignTo(sizes.depth, 16);
  int64_t width = llvm::alignTo(sizes.width, 16);
  ArrayRef<Choice> choices = hasAsyncCopy ? ArrayRef<Choice>(asyncChoices)
                                          : ArrayRef<Choice>(registerChoices);
  std::optional<FlashShape> chosen;
  for (const Choice &choice : choices) {
    FlashShape shape{choice.warps,        choice.warpRows, choice.keys,
                     choice.keepsQueries, depth,           width};
    if (std::max(depth, width) > choice.extent ||
        shape.sharedBytes() > sharedBytes) {
      continue;
    }
    // What comes later in the table serves to have more blocks.
    if (chosen && shape.rows() >= chosen->rows()) {
      continue;
    }
    chosen = shape;
    int64_t blocks = sizes.batch * sizes.heads *
                     llvm::divideCeil(sizes.queries, shape.rows());
    if (blocks >= wantedBlocks && sizes.queries > shape.rows() / 2) {
      break;
    }
  }
  // Few queries leave nothing to do for most warps.
  while (chosen && chosen->warps > 1 &&
         sizes.queries <= chosen->warps / 2 * chosen->warpRows) {
    chosen->warps /= 2;
  }
  return chosen;
}
