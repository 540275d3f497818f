//===- Passes.h - From tensor ops to kernels ------------------------------===//
#ifndef AMPC_PASSES_FUSION_PASSES_H
#define AMPC_PASSES_FUSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
class OpPassManager;
} // namespace mlir

namespace ampc::fusion {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Fusion/Passes.h.inc"

/// Options of the fusion phase.
struct FusionOptions {
  /// Round at each op, as eager execution does: kernels keep 16-bit interiors.
  bool strictRounding = false;
};

/// Adds the passes of the fusion phase.
void buildFusionPipeline(mlir::OpPassManager &passes,
                         const FusionOptions &options = {});
} // namespace ampc::fusion

#endif // AMPC_PASSES_FUSION_PASSES_H
