//===- device.h - What the runtime asks of a device -----------------------===//
//
// A device is a table of functions. The session walks the program; the device
// owns memory and launches kernels. Launches and copies run in the order given;
// a device may run them later than they are called, but never out of order.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_DEVICE_H
#define AMPC_RUNTIME_DEVICES_DEVICE_H

#include "runtime/core/status.h"

namespace ampc::runtime {

/// What a device needs to know when it is created.
struct DeviceOptions {
  uint32_t numThreads;   // 0: the device's choice
  uint64_t scratchBytes; // the largest of any kernel, per thread
  uint64_t cpuFeatures;  // AMPC_CPU_* bits that the kernels use
  bool poisonScratch;    // fill scratch with NaN bytes in beginRun
};

struct Device; // each device defines its own behind this name

struct DeviceApi {
  const char *name;
  Status (*create)(const DeviceOptions &options, Device **outDevice);
  void (*destroy)(Device *device);
  /// How many threads compute; 1 where that means nothing.
  uint32_t (*numThreads)(const Device *device);
  /// AMPC_ALIGNMENT-aligned memory, padded by AMPC_OVERREAD, reading as zero.
  Status (*allocate)(Device *device, uint64_t bytes, void **outMemory);
  void (*release)(Device *device, void *memory, uint64_t bytes);
  /// Brackets every run.
  void (*beginRun)(Device *device);
  Status (*endRun)(Device *device);
  Status (*launch)(Device *device, const ampc_kernel_desc &kernel,
                   void *const *buffers);
  Status (*copy)(Device *device, void *to, const void *from, uint64_t bytes);
  Status (*fill)(Device *device, void *to, uint8_t value, uint64_t bytes);
  /// Between host and device memory; these wait for all work before them.
  Status (*read)(Device *device, void *toHost, const void *from,
                 uint64_t bytes);
  Status (*write)(Device *device, void *to, const void *fromHost,
                  uint64_t bytes);
};

/// The table of the device that `name` selects ("cpu"), or null.
const DeviceApi *findDevice(const char *name);

extern const DeviceApi cpuDeviceApi;

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_DEVICES_DEVICE_H
