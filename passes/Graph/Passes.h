//===- Passes.h - The graph phase -------------------------------*- C++ -*-===//
//
// Brings an imported program into the form that the later phases expect: one op
// for what is one operation, batch normalizations folded, channels last.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_PASSES_GRAPH_PASSES_H
#define AMPC_PASSES_GRAPH_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ampc::graph {
#define GEN_PASS_DECL
#include "passes/Graph/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Graph/Passes.h.inc"
} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_PASSES_H
