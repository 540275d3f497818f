//===- driver_state.h - What the look-alike's parts share -----------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_DRIVER_STATE_H
#define AMPC_RUNTIME_DEVICES_SIM_DRIVER_STATE_H

#include "runtime/devices/sim/driver.h"
#include "runtime/devices/sim/global_memory.h"

namespace ampc::runtime::cuda {

struct ContextState {
  int retained = 0;
};
struct ModuleState {
  const ampc_sim_module *module;
};
struct FunctionState {
  const ampc_sim_module *module;
  const ampc_sim_kernel *kernel;
  uint32_t maxDynamicShared;
};
struct StreamState {
  bool blocking = true; // ordered with the default stream
  sim::LaunchSet done;  // comes before what is enqueued next
};
struct EventState {
  sim::LaunchSet done;
  uint64_t nanoseconds = 0;
  bool recorded = false, timed = true;
};

} // namespace ampc::runtime::cuda

namespace ampc::runtime::sim {

/// A piece of work: a launch, copy or fill, with its parameters copied.
struct Work {
  enum Kind : uint8_t { kernel, copy, fill, empty } kind = empty;
  const char *label = nullptr; // what it computes
  cuda::Function function = nullptr;
  Dim3 grid, block;
  uint32_t dynamicShared = 0;
  Vec<uint8_t> params; // packed, each at a multiple of 16
  cuda::Memcpy3D memcpy3D{};
  bool hostWaits = false; // for a copy
  cuda::MemsetNodeParams memset{};
};

struct DriverState {
  explicit DriverState(const Options &options) : options(options), report(64) {}

  Options options;
  Report report;
  GlobalMemory memory;
  bool initialized = false;
  cuda::ContextState context;
  cuda::StreamState defaultStream;
  Vec<cuda::StreamState *> streams;
  Vec<cuda::ModuleState *> modules;
  Vec<cuda::FunctionState *> functions;
  LaunchSet hostDone; // what the host has waited for
  uint64_t random = 0;
  cuda::Result sticky = cuda::success;

  /// The stream of a handle; null for one that is not valid.
  cuda::StreamState *find(cuda::Stream stream);
  /// What comes before work enqueued on `stream` now.
  LaunchSet before(const cuda::StreamState &stream) const;
  /// Does `work` after `after`, adds it to `done`.
  cuda::Result run(const Work &work, const LaunchSet &after, LaunchSet *done);
  cuda::Result enqueue(const Work &work, cuda::Stream stream);
  /// The host waits for all of `done`.
  cuda::Result wait(const LaunchSet &done);
  /// What a synchronisation returns.
  cuda::Result outcome();
  /// Whether parameters are those of a launch that a GPU accepts.
  cuda::Result makeKernel(Work *work, cuda::Function function, Dim3 grid,
                          Dim3 block, unsigned shared, void **params,
                          void **extra);
};

/// The state, under its lock, for the time of a call.
class DriverLock {
public:
  DriverLock();
  ~DriverLock();
  DriverLock(const DriverLock &) = delete;
  DriverLock &operator=(const DriverLock &) = delete;
  DriverState *operator->() const { return state; }
  /// initialised, and no error of earlier work stands.
  cuda::Result check() const {
    return state->initialized ? state->sticky : cuda::notInitialized;
  }

private:
  DriverState *state;
};

/// The functions of DriverApi, in files by subject.
namespace entry {
using namespace ampc::runtime::cuda;
#define AMPC_SIM_DRIVER_ENTRY(name, symbol, params) Result name params;
AMPC_CUDA_DRIVER_FUNCTIONS(AMPC_SIM_DRIVER_ENTRY)
#undef AMPC_SIM_DRIVER_ENTRY
} // namespace entry

/// A description of `count` bytes from one place to another.
cuda::Memcpy3D linearCopy(cuda::MemoryType toType, void *to,
                          cuda::MemoryType fromType, const void *from,
                          size_t count);

inline void *pointerOf(cuda::DevicePointer address) {
  return reinterpret_cast<void *>(address);
}

/// As much as fits the tests of a program that counts on a GPU's memory.
constexpr uint64_t deviceBytes = 16ull << 30;

/// Removes `item`; false if it is not there.
template <typename T>
bool take(Vec<T *> &list, T *item) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == item) {
      list[i] = list.back();
      list.resize(list.size() - 1);
      return true;
    }
  }
  return false;
}

template <typename T>
T *make() {
  return new (allocateSmall(sizeof(T))) T();
}
template <typename T>
void destroy(T *object) {
  if (object) {
    object->~T();
    free(object);
  }
}

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_DRIVER_STATE_H
