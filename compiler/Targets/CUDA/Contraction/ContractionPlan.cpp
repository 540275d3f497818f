//===- ContractionPlan.cpp - The form of a contraction's kernel -----------===//
#include "compiler/Targets/CUDA/Contraction/ContractionPlan.h"

#include "compiler/Targets/CUDA/Contraction/SplitSum.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace ampc;
using namespace ampc::cuda;

/// Products a clock.
static double rateOf(ProductKind kind, const CudaFigures &figures) {
  switch (kind) {
  case ProductKind::Mma16:
    return figures.mma16;
  case ProductKind::Tf32:
    return figures.tf32;
  case ProductKind::Fma32:
    return figures.fma32;
  case ProductKind::Fma64:
    return figures.fma64;
  }
  llvm_unreachable("a kind of product");
}

int64_t cuda::occupancyOf(const ContractionPlan &plan, ProductKind kind,
                          const CudaFigures &figures) {
  const TileShape &tile = plan.tile;
  int64_t shared =
      tile.sharedBytes(plan.stages, kind) + CudaFigures::reservedShared;
  // Registers are given out in lots of 8 for each thread of a warp.
  int64_t registers = (tile.registers + 7) / 8 * 8 * tile.threads();
  return std::min({figures.sharedBytes / shared,
                   CudaFigures::registers / registers,
                   figures.warps / tile.warps(), int64_t(16)});
}

double cuda::estimateClocks(const ContractionPlan &plan, const GemmSize &size,
                            ProductKind kind, const CudaFigures &figures) {
  const TileShape &tile = plan.tile;
  // What a step costs besides its bytes and products: a barrier, and addresses.
  constexpr double stepClocks = 40;
  // From asking for a slice to having it.
  constexpr double fetchClocks = 800;
  constexpr double overlapCost = 0.2;
  // To launch a block, fill its stages and drain its epilogue.
  constexpr double blockClocks = 1500;
  // To see the flag of the part before.
  constexpr double linkClocks = 1500;
  double bytes = elementBytes(kind);
  double steps = llvm::divideCeil(plan.steps(size), plan.split);
  double blocks =
      llvm::divideCeil(plan.tiles(size) * plan.split, figures.multiprocessors);
  double atOnce = std::min<double>(occupancyOf(plan, kind, figures), blocks);
  double rounds = std::ceil(blocks / atOnce);
  // A multiprocessor has four units, of which a warp uses one.
  double units = std::min(1.0, atOnce * tile.warps() / 4.0);
  double products =
      double(tile.m) * tile.n * tile.k / (rateOf(kind, figures) * units);
  double sharedTraffic =
      (tile.warps() * (tile.warpM + tile.warpN) + tile.m + tile.n) * tile.k *
      bytes / CudaFigures::sharedBandwidth;
  double cacheTraffic = (tile.m + tile.n) * tile.k * bytes / figures.cacheBytes;
  // What overlaps still gets in each other's way.
  double longest = std::max({products, sharedTraffic, cacheTraffic});
  double step = longest + overlapCost * (products + sharedTraffic +
                                         cacheTraffic - longest);
  // A slice has as long to come as the stages before it are multiplied.
  double exposed =
      std::max(0.0, fetchClocks / (plan.stages - 1) - step * atOnce);
  double sums = double(tile.m) * tile.n * sumBytes(kind);
  double epilogue =
      2 * sums / CudaFigures::sharedBandwidth + sums / figures.cacheBytes;
  // Every part but the last leaves its sums, every one but the first reads
  // some.
  double passed = 2 * sums / figures.cacheBytes;
  double chain =
      (plan.split - 1) * (linkClocks + passed + blocks * passed / plan.split);
  return blocks * steps * step + rounds * steps * (stepClocks + exposed) +
         blocks * epilogue + rounds * blockClocks + chain;
}

bool cuda::applies(const ContractionRule &rule, const GemmSize &size,
                   llvm::StringRef type, const CudaArchitecture &architecture) {
  auto is = [](const std::optional<int64_t> &wanted, int64_t value) {
    return !wanted || *wanted == value;
  };
  return (rule.architecture.empty() ||
          rule.architecture == architecture.name) &&
         rule.type == type && is(rule.batch, size.batch) &&
         is(rule.m, size.m) && is(rule.n, size.n) && is(rule.k, size.k);
}

static std::optional<ProductKind> kindOf(llvm::StringRef type) {
  return llvm::StringSwitch<std::optional<ProductKind>>(type)
      .Cases({"f16", "bf16"}, ProductKind::Mma16)
      .Case("tf32", ProductKind::Tf32)
      .Case("f32", ProductKind::Fma32)
      .Case("f64", ProductKind::Fma64)
      .Default(std::nullopt);
}

std::string ampc::checkContractionRule(const ContractionRule &rule) {
  std::optional<ProductKind> kind = kindOf(rule.type);
  if (!kind) {
    return "unknown type '" + rule.type + "'";
  }
  std::string known;
  for (const TileShape &tile : getTiles(*kind)) {
    std::string name = llvm::formatv("[{0}, {1}, {2}]", tile.m, tile.n, tile.k);
    known += (known.empty() ? "" : ", ") + name;
    if (rule.tile != std::array<int64_t, 3>{tile.m, tile.n, tile.k}) {
      continue;
    }
    int64_t most = 0;
    for (const CudaArchitecture &architecture : getCudaArchitectures()) {
      if (rule.architecture.empty() || rule.architecture == architecture.name) {
        most = std::max(most, architecture.getSharedBytes());
      }
    }
    int64_t bytes = tile.sharedBytes(rule.stages, *kind);
    return bytes <= most
               ? ""
               : llvm::formatv("{0} stages of this tile take {1} bytes of "
                               "shared memory; a block has {2}",
                               rule.stages, bytes, most)
                     .str();
  }
  return "there is no such tile of " + rule.type + "; there are " + known;
}

/// The largest split up to `wanted` whose parts all have a slice, and whose
/// tiles have a flag each.
static int64_t fitSplit(const ContractionPlan &plan, const GemmSize &size,
                        int64_t wanted) {
  if (plan.tiles(size) > SplitSum::maxTiles) {
    return 1;
  }
  int64_t steps = plan.steps(size);
  int64_t each = llvm::divideCeil(steps, std::min(wanted, steps));
  return llvm::divideCeil(steps, each);
}

ContractionPlan cuda::planContraction(const GemmSize &size, ProductKind kind,
                                      llvm::StringRef type,
                                      const CudaArchitecture &architecture,
                                      bool canCopy,
                                      llvm::ArrayRef<ContractionRule> rules) {
  int64_t mostShared = architecture.getSharedBytes();
  for (const ContractionRule &rule : rules) {
    if (!applies(rule, size, type, architecture)) {
      continue;
    }
    for (const TileShape &tile : getTiles(kind)) {
      if (rule.tile == std::array<int64_t, 3>{tile.m, tile.n, tile.k}) {
        ContractionPlan plan{tile, canCopy ? rule.stages : 2, 1};
        plan.split = fitSplit(plan, size, rule.split);
        if (tile.sharedBytes(plan.stages, kind) <= mostShared) {
          return plan;
        }
      }
    }
  }
  const CudaFigures &figures = getCudaFigures(architecture);
  std::optional<ContractionPlan> best;
  double least = 0;
  auto consider = [&](const ContractionPlan &plan) {
    if (plan.tile.sharedBytes(plan.stages, kind) > mostShared ||
        occupancyOf(plan, kind, figures) == 0) {
      return;
    }
    double clocks = estimateClocks(plan, size, kind, figures);
    if (!best || clocks < least) {
      best = plan;
      least = clocks;
    }
  };
  for (const TileShape &tile : getTiles(kind)) {
    // More stages hide more, unless fewer blocks fit.
    for (int64_t stages = canCopy ? 4 : 2; stages >= 2; --stages) {
      ContractionPlan plan{tile, stages, 1};
      if (stages > 2 && plan.steps(size) < stages) {
        continue;
      }
      consider(plan);
      // A part of fewer slices would be all prologue.
      constexpr int64_t fewestSteps = 4;
      for (int64_t wanted : {2, 3, 4, 6, 8, 12, 16}) {
        plan.split = fitSplit(plan, size, wanted);
        if (plan.split > 1 && plan.steps(size) >= plan.split * fewestSteps) {
          consider(plan);
        }
      }
    }
  }
  return *best;
}
