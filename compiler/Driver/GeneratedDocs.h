//===- GeneratedDocs.h - Man page and completions from the option table ---===//
#ifndef AMPC_COMPILER_DRIVER_GENERATEDDOCS_H
#define AMPC_COMPILER_DRIVER_GENERATEDDOCS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace ampc::driver {

/// Prints what `--generate=KIND` asks for: `man`, `bash`, `zsh` or `fish`.
void printGenerated(llvm::StringRef kind, llvm::raw_ostream &os);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_GENERATEDDOCS_H
