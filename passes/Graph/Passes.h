//===- Passes.h - The graph phase -------------------------------*- C++ -*-===//
//
// Brings an imported program into the form that the later phases expect: one op
// for what is one operation, batch normalizations folded, channels last.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_PASSES_GRAPH_PASSES_H
#define AMPC_PASSES_GRAPH_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace ampc::graph {
#define GEN_PASS_DECL
#include "passes/Graph/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Graph/Passes.h.inc"

struct GraphOptions {
  /// Whether matrix products around a softmax become one op, which rounds once.
  bool raiseAttention = true;
  /// Whether channels are moved last, for the sake of targets.
  bool assignLayout = true;
};

/// Adds the passes of the graph phase to a pass manager on modules. Batch
/// normalizations that are left need `graph-expand-batch-norm` once precision
/// is decided.
void buildGraphPipeline(mlir::OpPassManager &passes,
                        const GraphOptions &options = {});
} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_PASSES_H
