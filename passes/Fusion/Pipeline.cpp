//===- Pipeline.cpp - The fusion phase ------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Fusion/Passes.h"

using namespace mlir;
using namespace ampc;

void fusion::buildFusionPipeline(OpPassManager &passes,
                                 const FusionOptions &options) {
  passes.addPass(createFormKernelsPass());
  if (!options.strictRounding) {
    passes.addPass(createRetypeKernelsPass());
  }
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createPackWeightsPass());
  passes.addPass(createOutlineWeightsPass());
  passes.addPass(createDeduplicateKernelsPass());
}
