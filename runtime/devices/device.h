//===- device.h - What the runtime asks of a device -----------------------===//
//
// A device is a table of functions. The session walks the program; the device
// owns memory and launches kernels. Launches and copies run in the order given;
// a device may run them later than they are called, but never out of order.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_DEVICE_H
#define AMPC_RUNTIME_DEVICES_DEVICE_H

#include "runtime/core/plan.h"

namespace ampc::runtime {

/// What a device needs to know when it is created.
struct DeviceOptions {
  uint32_t numThreads;   // 0: the device's choice
  uint64_t scratchBytes; // the largest of any kernel, per thread
  uint64_t cpuFeatures;  // AMPC_CPU_* bits that the kernels use
  bool poisonScratch;    // fill scratch with NaN bytes in beginRun
  const char *name;      // as asked for: "cuda:1"
  const ampc_program *program;
};

struct Device; // each device defines its own behind this name

/// What a device with a memory of its own does beside. Entries are numbered as
/// in the plan; their inputs and outputs are counted from 0.
struct OwnMemoryApi {
  /// Gives memory to everything that `plan` refers to, writes its slots, copies
  /// the weights, fills the state with zeros, and makes the entries ready to
  /// run as a whole if they can be. The plan stays as long as the device.
  Status (*prepare)(Device *device, const void *weights, Plan *plan);
  /// Whether lists run as a whole: there is no If and no Loop.
  bool (*runsWhole)(const Device *device);
  /// Runs all of an entry, copies included, and waits for it.
  Status (*runWhole)(Device *device, uint32_t entry, const void *const *inputs,
                     void *const *outputs);
  /// Starts several entries that have no outputs as one unit, after copies of
  /// their inputs.
  Status (*submit)(Device *device, const uint32_t *entries, uint32_t count,
                   const void *const *inputs);
  /// Where an entry is walked: `load` comes before all nodes, `store` after
  /// them.
  Status (*load)(Device *device, uint32_t entry, const void *const *inputs);
  Status (*store)(Device *device, uint32_t entry, void *const *outputs);
  /// The memory of the state region.
  void *(*state)(Device *device);
  /// Starts a copy of its first bytes, as many as hold numbers, to place
  /// `place`, 0 or 1; and waits for it.
  Status (*fetchControl)(Device *device, uint32_t place);
  Status (*waitControl)(Device *device, uint32_t place,
                        const void **outControl);
  /// The time that the work between the two took.
  Status (*startTimer)(Device *device);
  Status (*stopTimer)(Device *device, uint64_t *outNanoseconds);
};

struct DeviceApi {
  const char *name;
  Status (*create)(const DeviceOptions &options, Device **outDevice);
  void (*destroy)(Device *device);
  /// How many threads compute; 1 where that means nothing.
  uint32_t (*numThreads)(const Device *device);
  /// AMPC_ALIGNMENT-aligned memory, padded by AMPC_OVERREAD, reading as zero.
  /// This, `release` and `fill` are null in a device of its own memory.
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
  /// Null where kernels work on the caller's buffers.
  const OwnMemoryApi *ownMemory;
};

/// The device of `program` that `name` selects ("cpu", "cuda", "cuda:1", or
/// null for its own). AMPC_DEVICE if the program is made for another.
Status findDevice(const ampc_program &program, const char *name,
                  const DeviceApi **out);

extern const DeviceApi cpuDeviceApi;

} // namespace ampc::runtime

/// What a program's table refers to.
struct ampc_device {
  ampc::runtime::DeviceApi api;
};

#endif // AMPC_RUNTIME_DEVICES_DEVICE_H
