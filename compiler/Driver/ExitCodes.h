//===- ExitCodes.h - What the exit code of a command says -----------------===//
#ifndef AMPC_COMPILER_DRIVER_EXITCODES_H
#define AMPC_COMPILER_DRIVER_EXITCODES_H

namespace ampc::driver {

/// Exit codes of ampc; those of a compiled program are the same.
enum class ExitCode {
  Ok = 0,
  Mismatch = 1,    ///< a comparison failed
  Usage = 2,       ///< a wrong option or argument
  Invalid = 3,     ///< an invalid or hostile model or data file
  Unsupported = 4, ///< valid, but beyond this compiler
  InputOutput = 5, ///< the operating system refused to read or write
  Limit = 6,       ///< a stated limit is exceeded
  Toolchain = 7,   ///< the linker failed
  Device = 8,      ///< this machine cannot run the program
  Internal = 70    ///< a defect of ampc
};

/// The category as a word: "usage", "invalid", ...
const char *getCategoryName(ExitCode code);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_EXITCODES_H
