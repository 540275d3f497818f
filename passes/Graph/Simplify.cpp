//===- Simplify.cpp - Simplify amp programs -------------------------------===//
#include "dialects/Amp/IR/AmpDialect.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/SimplifyPatterns.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ampc::graph {
#define GEN_PASS_DEF_GRAPHSIMPLIFYPASS
#include "passes/Graph/Passes.h.inc"

namespace {
struct GraphSimplifyPass final
    : impl::GraphSimplifyPassBase<GraphSimplifyPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSimplifyArithmeticPatterns(patterns);
    populateSimplifyViewPatterns(patterns);
    populateSimplifyContractionPatterns(patterns);
    // Stopping early leaves ops that are right as they are.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace
} // namespace ampc::graph
