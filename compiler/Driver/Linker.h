//===- Linker.h - Call the system's linker --------------------------------===//
#ifndef AMPC_COMPILER_DRIVER_LINKER_H
#define AMPC_COMPILER_DRIVER_LINKER_H

#include "compiler/Driver/DiagnosticSink.h"
#include "llvm/ADT/ArrayRef.h"

namespace ampc::driver {

/// What to link.
struct LinkJob {
  enum Kind { Executable, SharedLibrary, Relocatable };
  Kind kind = Executable;
  std::vector<std::string> objects;
  std::string output;
  std::string log; ///< file that takes what the linker says
  /// SharedLibrary: file with the version script, and the library's name.
  std::string versionScript;
  std::string soname;
  bool needsSimulator = false;
  bool verbose = false;
};

/// Links with the C compiler found on PATH, else with an LLVM of its own name.
/// The bytes written depend on nothing but the inputs. A failure is a toolchain
/// error that shows what the linker said.
llvm::LogicalResult runLinker(const LinkJob &job, DiagnosticSink &sink);

/// The folder with the runtime's archives, found from where ampc itself lies;
/// empty after reporting that they are missing.
std::string findRuntimeFolder(DiagnosticSink &sink);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_LINKER_H
