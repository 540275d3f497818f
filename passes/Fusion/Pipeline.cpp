//===- Pipeline.cpp - The fusion phase ------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Fusion/Passes.h"

using namespace mlir;
using namespace ampc;

void fusion::buildFusionPipeline(OpPassManager &passes,
                                 const FusionOptions &options) {
  passes.addPass(createFusionSplitReductionsPass());
  passes.addPass(createFusionFormKernelsPass());
  if (!options.strictRounding) {
    passes.addPass(createFusionRetypeKernelsPass());
  }
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createFusionPackWeightsPass());
  passes.addPass(createFusionTransposeWeightsPass());
  passes.addPass(createFusionOutlineWeightsPass());
  passes.addPass(createFusionDeduplicateKernelsPass());
}
