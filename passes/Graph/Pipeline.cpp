//===- Pipeline.cpp - The graph phase -------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Graph/Passes.h"

using namespace mlir;
using namespace ampc;

void graph::buildGraphPipeline(OpPassManager &passes) {
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createGraphFoldConstantsPass());
  functions.addPass(createCSEPass());
  functions.addPass(createGraphRaisePass());
  functions.addPass(createGraphFoldBatchNormPass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}
