//===- ExactChains.h - Positions, which are never lowered -----------------===//
#ifndef AMPC_PASSES_PRECISION_EXACTCHAINS_H
#define AMPC_PASSES_PRECISION_EXACTCHAINS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace ampc::precision {

/// The operations that compute positions or read one as an angle: nothing that
/// autocast lowers stands above them, and what they compute ends, through
/// operations that autocast does not lower, in an operand that must be exact
/// (an angle, an index). A rounding of 2^-8 of a position of 65536 is many
/// periods of the sine.
///
/// Linear in the size of the function.
llvm::DenseSet<mlir::Operation *>
findExactChains(mlir::FunctionOpInterface function);

} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_EXACTCHAINS_H
