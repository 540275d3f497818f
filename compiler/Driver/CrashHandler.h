//===- CrashHandler.h - What an internal error looks like -----------------===//
#ifndef AMPC_COMPILER_DRIVER_CRASHHANDLER_H
#define AMPC_COMPILER_DRIVER_CRASHHANDLER_H

namespace ampc::driver {

/// Makes a crash, a failed assertion, a fatal error of LLVM and a lack of
/// memory end the process with exit code 70 (6 for memory) and a text that says
/// how to report it. `what` names the command and stays valid. Temporary files
/// are removed then, and when the user interrupts.
void installCrashHandler(const char *what);

/// Back to the system's behaviour: the process ends by the signal.
void removeCrashHandler();

/// Makes a signal that ends the process remove `path` first: a file, or a
/// folder that is empty once what was added after it is gone. Main thread only.
void removeOnSignal(const char *path);

/// Forgets all paths.
void keepOnSignal();

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_CRASHHANDLER_H
