//===- TypeModule.h - The walk that types every operation -----------------===//
#ifndef AMPC_PASSES_PRECISION_TYPEMODULE_H
#define AMPC_PASSES_PRECISION_TYPEMODULE_H

#include "passes/Precision/AutocastRules.h"

namespace ampc::precision {

/// The MLIR type of an option's value.
mlir::FloatType toFloatType(mlir::MLIRContext *context, LowType type);

/// Types each function of `module` that has a body. Records the decisions in
/// `report` unless it is null, and writes them to `reportFile` unless it is
/// empty. `passName` is the category of the remarks.
mlir::LogicalResult typeModule(mlir::ModuleOp module, const Policy &policy,
                               Report *report, llvm::StringRef reportFile,
                               llvm::StringRef passName);

} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_TYPEMODULE_H
