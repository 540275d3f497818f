//===- RemarkForwarder.h - Remarks of passes, as findings -----------------===//
#ifndef AMPC_COMPILER_DRIVER_REMARKFORWARDER_H
#define AMPC_COMPILER_DRIVER_REMARKFORWARDER_H

#include "compiler/Driver/DiagnosticSink.h"

namespace ampc::driver {

/// Sends the remarks of `context` whose category, the name of a pass, matches
/// the regular expression `pattern` as a whole to `sink`. The context must use
/// one thread. Reports a pattern that is none.
llvm::LogicalResult forwardRemarks(mlir::MLIRContext &context,
                                   llvm::StringRef pattern,
                                   DiagnosticSink &sink);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_REMARKFORWARDER_H
