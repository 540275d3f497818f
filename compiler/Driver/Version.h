//===- Version.h - Which ampc this is -------------------------------------===//
#ifndef AMPC_COMPILER_DRIVER_VERSION_H
#define AMPC_COMPILER_DRIVER_VERSION_H

namespace ampc::driver {

extern const char *const versionText;  ///< "0.1.0"
extern const char *const revisionText; ///< of the checkout, or "unknown"

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_VERSION_H
