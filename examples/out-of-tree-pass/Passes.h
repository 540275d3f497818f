//===- Passes.h - The passes of the example -------------------------------===//
#ifndef EXAMPLE_PASSES_H
#define EXAMPLE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace example {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Passes.h.inc"

/// Adds the rewrite of `example-narrow-islands`, for use in another pass.
/// Results of fewer than `minElements` elements are left alone.
void populateNarrowIslandsPatterns(mlir::RewritePatternSet &patterns,
                                   int64_t minElements);
} // namespace example

#endif // EXAMPLE_PASSES_H
