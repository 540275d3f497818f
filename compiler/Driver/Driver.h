//===- Driver.h - The ampc program as a function --------------------------===//
#ifndef AMPC_COMPILER_DRIVER_DRIVER_H
#define AMPC_COMPILER_DRIVER_DRIVER_H

namespace ampc::driver {

/// Runs the command line of ampc and returns the exit code.
int ampcMain(int argc, char **argv);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_DRIVER_H
