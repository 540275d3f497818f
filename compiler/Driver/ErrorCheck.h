//===- ErrorCheck.h - The promise of --max-error ----------------*- C++ -*-===//
#ifndef AMPC_COMPILER_DRIVER_ERRORCHECK_H
#define AMPC_COMPILER_DRIVER_ERRORCHECK_H

#include "compiler/Driver/Certificate.h"
#include "compiler/Driver/Trace.h"

namespace ampc::driver {

/// Reports an error above `bound`, and the nodes that lose most alone.
llvm::LogicalResult reportErrorAboveBound(const tune::ErrorBound &bound,
                                          double error,
                                          llvm::ArrayRef<NodeTrace> traces,
                                          DiagnosticSink &sink);

/// Compares the program that `options` ask for with fp32 on --data. Above
/// --max-error this is a failed comparison that names nodes; else the
/// certificate says what was measured.
llvm::LogicalResult checkMaxError(const Options &options, DiagnosticSink &sink,
                                  Certificate &certificate);

/// Sets `calibratedPaths` to the operations whose values leave the range of the
/// 16-bit type on --data.
llvm::LogicalResult calibrate(Options &options, DiagnosticSink &sink);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_ERRORCHECK_H
