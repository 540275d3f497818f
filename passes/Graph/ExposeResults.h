//===- ExposeResults.h - Intermediate values as results ---------*- C++ -*-===//
#ifndef AMPC_PASSES_GRAPH_EXPOSERESULTS_H
#define AMPC_PASSES_GRAPH_EXPOSERESULTS_H

#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace ampc::graph {

/// The values of `function` that can become results of it, in order: what ops
/// of its body compute at run time, floats, and not empty. Their number and
/// order follow from the IR alone, so a position means the same in every copy
/// of it.
llvm::SmallVector<mlir::OpResult>
findExposableResults(mlir::FunctionOpInterface function);

} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_EXPOSERESULTS_H
