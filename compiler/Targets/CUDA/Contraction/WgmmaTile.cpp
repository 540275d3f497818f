//===- WgmmaTile.cpp - Tiles of a contraction on warpgroups ---------------===//
#include "compiler/Targets/CUDA/Contraction/WgmmaTile.h"

using namespace ampc;
using namespace ampc::cuda;

// Stages fill what 227 KB have besides the epilogue's part; the smallest tiles
// leave room for a second block, whose loads hide the other's epilogue.
static constexpr WgmmaTile tiles[] = {
    {128, 256, 2, 4, 1}, {256, 128, 2, 4, 1}, {128, 128, 2, 6, 1},
    {64, 256, 1, 5, 1},  {128, 64, 2, 8, 1},  {64, 128, 1, 4, 2},
    {64, 64, 1, 6, 2},
};

llvm::ArrayRef<WgmmaTile> cuda::getWgmmaTiles() { return tiles; }

int64_t cuda::countTiles(const WgmmaTile &tile, const GemmSize &size) {
  return size.batch * static_cast<int64_t>(llvm::divideCeil(size.m, tile.m)) *
         static_cast<int64_t>(llvm::divideCeil(size.n, tile.n));
}

int64_t cuda::countBlocks(const WgmmaTile &tile, const GemmSize &size,
                          const CudaArchitecture &architecture) {
  return std::min<int64_t>(countTiles(tile, size),
                           getCudaFigures(architecture).multiprocessors *
                               tile.blocks);
}

double cuda::estimateClocks(const WgmmaTile &tile, const GemmSize &size,
                            const CudaFigures &figures) {
  // Products of 16-bit operands a clock: H100's data sheet, over its
  // multiprocessors and boost clock.
  constexpr double rate = 2048;
  // A warpgroup alone leaves the units idle between its groups of wgmma.
  constexpr double alone = 0.8;
  // To launch a block and fill its stages.
  constexpr double blockClocks = 1500;
  double steps = llvm::divideCeil(size.k, WgmmaTile::k);
  double each =
      llvm::divideCeil(countTiles(tile, size), figures.multiprocessors);
  double products = double(tile.m) * tile.n * WgmmaTile::k / rate;
  if (tile.consumers * tile.blocks == 1) {
    products /= alone;
  }
  // Each wgmma reads its rows of the left operand, and all of the right one.
  double sharedTraffic = double(tile.m) / WgmmaTile::warpgroupRows *
                         (WgmmaTile::warpgroupRows + tile.n) * WgmmaTile::k *
                         WgmmaTile::elementBytes / CudaFigures::sharedBandwidth;
  double cacheTraffic = double(tile.stageBytes()) / figures.cacheBytes;
  double step = std::max({products, sharedTraffic, cacheTraffic});
  double sums = double(tile.m) * tile.n * sizeof(float);
  double epilogue =
      2 * sums / CudaFigures::sharedBandwidth + sums / figures.cacheBytes;
  return each * (steps * step + epilogue / tile.blocks) + blockClocks;
}

const WgmmaTile *cuda::chooseWgmmaTile(const GemmView &view,
                                       const CudaEmitter &emitter) {
  const CudaArchitecture &architecture = emitter.architecture;
  GemmSize size{view.batch, view.m, view.n, view.k};
  llvm::StringRef type = view.left.element.isF16() ? "f16" : "bf16";
  for (const ContractionRule &rule : emitter.contractionRules) {
    if (applies(rule, size, type, architecture)) {
      const auto *it = llvm::find_if(tiles, [&](const WgmmaTile &tile) {
        return rule.tile == std::array{tile.m, tile.n, WgmmaTile::k};
      });
      return it == std::end(tiles) ? nullptr : it;
    }
  }
  const WgmmaTile &smallest = tiles[std::size(tiles) - 1];
  if (view.m <= smallest.m / 2 || view.n <= smallest.n / 2) {
    return nullptr;
  }
  const CudaFigures &figures = getCudaFigures(architecture);
  // Few deep tiles are better split among blocks, as the other kernel does.
  ContractionPlan other =
      planContraction(size, ProductKind::Mma16, type, architecture,
                      /*canCopy=*/true, /*rules=*/{});
  double least = estimateClocks(other, size, ProductKind::Mma16, figures);
  const WgmmaTile *best = nullptr;
  for (const WgmmaTile &tile : tiles) {
    double clocks = estimateClocks(tile, size, figures);
    if (clocks < least) {
      best = &tile;
      least = clocks;
    }
  }
  return best;
}
