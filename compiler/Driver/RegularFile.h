//===- RegularFile.h - Short files that the user names --------------------===//
#ifndef AMPC_COMPILER_DRIVER_REGULARFILE_H
#define AMPC_COMPILER_DRIVER_REGULARFILE_H

#include "compiler/Driver/DiagnosticSink.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace ampc::driver {

/// The characters of a regular file of at most `maxBytes`; null, and an error,
/// where it is anything else.
std::unique_ptr<llvm::MemoryBuffer>
readRegularFile(llvm::StringRef path, uint64_t maxBytes, DiagnosticSink &sink);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_REGULARFILE_H
