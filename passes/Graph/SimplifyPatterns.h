//===- SimplifyPatterns.h - Pattern sets of graph-simplify ------*- C++ -*-===//
#ifndef AMPC_PASSES_GRAPH_SIMPLIFYPATTERNS_H
#define AMPC_PASSES_GRAPH_SIMPLIFYPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace ampc::graph {

/// Elementwise ops and reductions that return an operand bit for bit.
void populateSimplifyArithmeticPatterns(mlir::RewritePatternSet &patterns);

/// Views that meet views, and ops that are views.
void populateSimplifyViewPatterns(mlir::RewritePatternSet &patterns);

/// Transpositions and biases into contractions.
void populateSimplifyContractionPatterns(mlir::RewritePatternSet &patterns);

} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_SIMPLIFYPATTERNS_H
