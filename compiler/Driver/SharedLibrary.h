//===- SharedLibrary.h - A program as a library for C ---------------------===//
#ifndef AMPC_COMPILER_DRIVER_SHAREDLIBRARY_H
#define AMPC_COMPILER_DRIVER_SHAREDLIBRARY_H

#include "compiler/Driver/DiagnosticSink.h"
#include "mlir/IR/BuiltinOps.h"

namespace ampc::driver {

/// The name of a model in C: from the stem of a file, made an identifier.
std::string makeModelName(llvm::StringRef output);

/// An object that defines the library's functions, `<name>_create` and so on.
/// Each calls the runtime, which the library hides, with the model's program.
llvm::LogicalResult emitLibraryFunctions(llvm::StringRef name,
                                         llvm::StringRef programSymbol,
                                         llvm::raw_pwrite_stream &os,
                                         DiagnosticSink &sink);

/// The C header of the library.
void printLibraryHeader(llvm::StringRef name, mlir::ModuleOp module,
                        llvm::raw_ostream &os);

/// The linker's version script: the library exports `<name>_*` alone.
void printVersionScript(llvm::StringRef name, llvm::raw_ostream &os);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_SHAREDLIBRARY_H
