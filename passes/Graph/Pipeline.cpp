//===- Pipeline.cpp - The graph phase -------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Graph/Passes.h"

using namespace mlir;
using namespace ampc;

void graph::buildGraphPipeline(OpPassManager &passes,
                               const GraphOptions &options) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createGraphFoldConstantsPass());
  functions.addPass(createCSEPass());
  GraphRaisePassOptions raise;
  raise.attention = options.raiseAttention;
  functions.addPass(createGraphRaisePass(raise));
  functions.addPass(createGraphFoldBatchNormPass());
  functions.addPass(createGraphSimplifyPass());
  if (options.assignLayout) {
    functions.addPass(createGraphAssignLayoutPass());
    // The transpositions that layouts brought meet those of the model.
    functions.addPass(createGraphSimplifyPass());
  }
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}
