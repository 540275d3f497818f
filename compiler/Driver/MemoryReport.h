//===- MemoryReport.h - The static memory plan, for people and tools ------===//
#ifndef AMPC_COMPILER_DRIVER_MEMORYREPORT_H
#define AMPC_COMPILER_DRIVER_MEMORYREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace ampc::driver {

/// Prints sizes and each step's buffers of the module's rt.program, as JSON or
/// as a table.
void printMemoryReport(mlir::ModuleOp module, llvm::raw_ostream &os, bool json);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_MEMORYREPORT_H
