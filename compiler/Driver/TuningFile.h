//===- TuningFile.h - The file of --tuning-file ---------------------------===//
//
// docs/kernels.md describes it.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_DRIVER_TUNINGFILE_H
#define AMPC_COMPILER_DRIVER_TUNINGFILE_H

#include "compiler/Driver/DiagnosticSink.h"
#include "compiler/Targets/ContractionRule.h"

#include <optional>
#include <vector>

namespace ampc::driver {

/// Reads the user's choices of kernels. Reports every mistake as
/// `FILE:LINE:COLUMN: ...`, and returns nothing if there is one.
std::optional<std::vector<ContractionRule>>
readTuningFile(llvm::StringRef path, DiagnosticSink &sink);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_TUNINGFILE_H
