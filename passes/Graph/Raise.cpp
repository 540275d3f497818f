//===- Raise.cpp - Raise decomposed operations ----------------------------===//
#include "dialects/Amp/IR/AmpDialect.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/RaisePatterns.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ampc::graph {
#define GEN_PASS_DEF_GRAPHRAISEPASS
#include "passes/Graph/Passes.h.inc"

namespace {
struct GraphRaisePass final : impl::GraphRaisePassBase<GraphRaisePass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRaiseNormPatterns(patterns);
    populateRaiseActivationPatterns(patterns);
    populateRaiseSoftmaxPatterns(patterns);
    if (attention) {
      populateRaiseAttentionPatterns(patterns);
    }
    // Stopping early leaves decomposed ops, which are right as they are.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace
} // namespace ampc::graph
