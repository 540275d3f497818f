//===- RaisePatterns.h - Pattern sets of graph-raise ------------*- C++ -*-===//
#ifndef AMPC_PASSES_GRAPH_RAISEPATTERNS_H
#define AMPC_PASSES_GRAPH_RAISEPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace ampc::graph {

/// Layer and RMS normalization, and their scales, biases and casts.
void populateRaiseNormPatterns(mlir::RewritePatternSet &patterns);

/// GELU, SiLU, hard swish, sigmoid, by the polynomial that they are.
void populateRaiseActivationPatterns(mlir::RewritePatternSet &patterns);

/// Softmax and its logarithm.
void populateRaiseSoftmaxPatterns(mlir::RewritePatternSet &patterns);

/// softmax(scale * Q K^T + mask) V, and attention with repeated heads.
void populateRaiseAttentionPatterns(mlir::RewritePatternSet &patterns);

} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_RAISEPATTERNS_H
