//===- CudaDevices.h - GPUs of this machine -------------------------------===//
#ifndef AMPC_COMPILER_DRIVER_CUDADEVICES_H
#define AMPC_COMPILER_DRIVER_CUDADEVICES_H

#include <cstdint>
#include <string>
#include <vector>

namespace ampc::driver {

/// One GPU as the CUDA driver describes it.
struct CudaDevice {
  std::string chip;
  unsigned major = 0, minor = 0; ///< compute capability
  uint64_t memoryBytes = 0;
};

/// The GPUs of this machine.
struct CudaDevices {
  std::vector<CudaDevice> devices;
  std::string driver; ///< CUDA version of the driver, as 13.0; empty: none
  std::string reason; ///< why there are no devices; empty if there are
};

/// Asks the CUDA driver, which is loaded for this call only where it is
/// installed. Starts no work on a device.
CudaDevices findCudaDevices();

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_CUDADEVICES_H
