//===- ContractionPlan.h - The form of a contraction's kernel -------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_CONTRACTIONPLAN_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_CONTRACTIONPLAN_H

#include "compiler/Targets/CUDA/Contraction/TileShape.h"
#include "compiler/Targets/CUDA/Figures.h"
#include "compiler/Targets/Target.h"

namespace ampc::cuda {

/// The sizes of a contraction.
struct GemmSize {
  int64_t batch, m, n, k;
};

/// How a contraction is computed.
struct ContractionPlan {
  TileShape tile;
  int64_t stages; ///< slices in shared memory at once
  int64_t split;  ///< parts that k is cut into, each a block's

  int64_t steps(const GemmSize &size) const {
    return llvm::divideCeil(size.k, tile.k);
  }
  int64_t tiles(const GemmSize &size) const {
    return size.batch * static_cast<int64_t>(llvm::divideCeil(size.m, tile.m)) *
           static_cast<int64_t>(llvm::divideCeil(size.n, tile.n));
  }
};

/// Blocks that a multiprocessor holds at once; 0 where not one fits.
int64_t occupancyOf(const ContractionPlan &plan, ProductKind kind,
                    const CudaFigures &figures);

/// Clocks that the contraction takes by the model: waves of blocks over the
/// multiprocessors, in each the longest of products, shared memory and cache
/// and a share of the others; then what is not hidden of loads, epilogue and
/// the chain of parts.
double estimateClocks(const ContractionPlan &plan, const GemmSize &size,
                      ProductKind kind, const CudaFigures &figures);

/// Whether a rule is for contractions of this size and type.
bool applies(const ContractionRule &rule, const GemmSize &size,
             llvm::StringRef type, const CudaArchitecture &architecture);

/// The plan that the rules of the user name, or else that of the least
/// estimate. `type` is what rules call the operands' type ("bf16", "tf32");
/// `canCopy`: whether slices come by cp.async.
ContractionPlan planContraction(const GemmSize &size, ProductKind kind,
                                llvm::StringRef type,
                                const CudaArchitecture &architecture,
                                bool canCopy,
                                llvm::ArrayRef<ContractionRule> rules);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_CONTRACTIONPLAN_H
