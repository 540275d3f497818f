//===- WgmmaTile.cpp - Tiles of a contraction on warpgroups ---------------===//
#include "compiler/Targets/CUDA/Contraction/WgmmaTile.h"

using namespace ampc;
using namespace ampc::cuda;

// Stages fill what 227 KB have besides the epilogue's part; the smallest tiles
// leave room for a second block, whose loads hide the other's epilogue.
static constexpr WgmmaTile tiles[] = {
    {128, 256, 2, 4, 1, 1.0},  {256, 128, 2, 4, 1, 1.0},
    {128, 128, 2, 6, 1, 0.85}, {64, 256, 1, 5, 1, 0.7},
    {128, 64, 2, 8, 1, 0.6},   {64, 128, 1, 4, 2, 0.6},
    {64, 64, 1, 6, 2, 0.4},
};

// H100 SXM and H200; other Hoppers have fewer, where some blocks wait.
static constexpr int64_t multiprocessors = 132;

llvm::ArrayRef<WgmmaTile> cuda::getWgmmaTiles() { return tiles; }

int64_t cuda::countTiles(const WgmmaTile &tile, const GemmView &view) {
  return view.batch * llvm::divideCeil(view.m, tile.m) *
         llvm::divideCeil(view.n, tile.n);
}

/// The tile of the given rows and columns; null if there is none.
static const WgmmaTile *findTile(llvm::ArrayRef<int64_t> wanted) {
  const auto *it = llvm::find_if(tiles, [&](const WgmmaTile &tile) {
    return llvm::equal(wanted, llvm::ArrayRef({tile.m, tile.n}));
  });
  return it == std::end(tiles) ? nullptr : it;
}

const WgmmaTile *cuda::chooseWgmmaTile(const GemmView &view,
                                       amp::KernelOp kernel) {
  if (auto wanted =
          kernel->getAttrOfType<mlir::DenseI64ArrayAttr>(tileAttrName)) {
    return findTile(wanted);
  }
  const WgmmaTile &smallest = tiles[std::size(tiles) - 1];
  if (view.m <= smallest.m / 2 || view.n <= smallest.n / 2) {
    return nullptr;
  }
  const WgmmaTile *best = nullptr;
  double least = 0;
  for (const WgmmaTile &tile : tiles) {
    int64_t each = llvm::divideCeil(countTiles(tile, view), multiprocessors);
    double time = static_cast<double>(each * tile.m * tile.n) / tile.rate;
    if (!best || time < least) {
      best = &tile;
      least = time;
    }
  }
  return best;
}

int64_t cuda::countBlocks(const WgmmaTile &tile, const GemmView &view) {
  return std::min(countTiles(tile, view), multiprocessors * tile.blocks);
}
