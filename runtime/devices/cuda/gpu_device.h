//===- gpu_device.h - A GPU behind a table of driver functions ------------===//
//
// The device of the runtime that CUDA's driver and the simulator's look-alike
// share. An entry of a program without If and Loop is one graph of the driver,
// from the copies of the inputs to those of the outputs, its nodes in the order
// of the list; one call launches it. Entries that are submitted together are
// one graph as well, of their nodes alone: no copy to the host is part of it.
// Callers' buffers are copied through pinned memory, as the addresses in the
// graph stay the same.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_CUDA_GPU_DEVICE_H
#define AMPC_RUNTIME_DEVICES_CUDA_GPU_DEVICE_H

#include "runtime/devices/cuda/driver_api.h"
#include "runtime/devices/cuda/placement.h"
#include "runtime/devices/device.h"

namespace ampc::runtime::cuda {

/// What a GPU and its simulator do differently.
struct Platform {
  /// Whether images are those of the simulator, which itself knows what has
  /// not been written.
  bool simulates;
  /// Fills the table of functions, or says why there are none.
  Status (*open)(const DeviceOptions &options, DriverApi *out);
  void (*close)();
  // The rest may be null:
  /// Replaces placeRegions, for code of `image`.
  void (*place)(const ampc_program &program, const ampc_gpu_image &image,
                const Plan &plan, Placement *out);
  /// Tells what a node of a graph computes.
  void (*label)(GraphNode node, const char *text);
  /// What is known beyond the driver's error; OK if nothing.
  Status (*explain)();
};

/// Entries, by their numbers in the plan, that run as one graph.
struct GraphUnit {
  Vec<uint32_t> entries;
  bool copies = false; // of inputs and outputs are part of it
  GraphExec graph = nullptr;
};

/// What a copy through pinned memory waits for.
struct Staged {
  uint8_t *memory = nullptr;
  Event done = nullptr;
  bool underWay = false;
};

struct GpuDevice {
  const Platform *platform = nullptr;
  const ampc_program *program = nullptr;
  DriverApi api{};
  bool opened = false; // the platform
  bool poison = false; // fill the arena with NaN bytes before each run

  int ordinal = 0;
  cuda::Device handle = 0;
  Context context = nullptr, callersContext = nullptr;
  Stream stream = nullptr;
  Event timerStart = nullptr, timerStop = nullptr;

  const ampc_gpu_image *image = nullptr;
  Vec<Module> modules;     // of the image
  Vec<Function> functions; // of each kernel
  Vec<void *> arguments;   // room for the parameters of a launch

  Placement placement;
  DevicePointer workspace = 0; // 0: no launch needs one
  // Pinned; a part for each input and output. Two, so that one can be filled
  // while the other is read.
  Staged staging[2];
  Staged controls[2];           // pinned copies of the control states
  Vec<uint64_t> stagingOffsets; // in the order of the placement
  uint64_t submissions = 0;
  const Plan *plan = nullptr;
  bool straight = false; // the plan has no If and no Loop
  Vec<GraphUnit> units;

  uint8_t *stagingOf(uint32_t tensor, uint32_t set = 0) {
    return staging[set].memory + stagingOffsets[tensor];
  }
  Slice &inputSlice(uint32_t index) {
    return placement.slices[Placement::firstInput + index];
  }
  Slice &outputSlice(uint32_t index) {
    return inputSlice(countInputs(*program) + index);
  }
  uint8_t *stagingOfOutput(uint32_t index) {
    return stagingOf(countInputs(*program) + index);
  }

  /// AMPC_DEVICE, naming `call` and the driver's error, unless it succeeded.
  Status check(Result result, const char *call) const;
};

/// `AMPC_CUDA(self, graphLaunch, args...)` calls a function of the table and
/// checks it.
#define AMPC_CUDA(self, name, ...)                                             \
  (self).check((self).api.name(__VA_ARGS__), #name)

/// Chooses the GPU, makes a context and a stream, and loads the image that
/// suits it best.
Status openGpu(GpuDevice &self, const DeviceOptions &options);

/// Allocates all slices and the staging memory, writes the slots of the plan,
/// copies the weights.
Status allocateSlices(GpuDevice &self, const void *weights, Plan *plan);

/// Points `self.arguments` at the parameters of a launch: the buffers, their
/// tensor maps, which are encoded into `maps`, and the workspace.
Status fillArguments(GpuDevice &self, const ampc_gpu_launch &launch,
                     void *const *buffers,
                     TensorMapBytes (&maps)[AMPC_GPU_MAX_TENSOR_MAPS]);

/// The unit of these entries, made when it is first asked for; the plan has no
/// If and no Loop.
Status findUnit(GpuDevice &self, const uint32_t *entries, uint32_t count,
                bool copies, GraphExec *out);

inline DevicePointer addressOf(const void *memory) {
  return reinterpret_cast<DevicePointer>(memory);
}

// The functions of DeviceApi and OwnMemoryApi, in gpu_device.cpp.
namespace entry {
Status create(const Platform &platform, const DeviceOptions &options,
              runtime::Device **outDevice);
void destroy(runtime::Device *device);
uint32_t numThreads(const runtime::Device *device);
void beginRun(runtime::Device *device);
Status endRun(runtime::Device *device);
Status launch(runtime::Device *device, const ampc_kernel_desc &kernel,
              void *const *buffers);
Status copy(runtime::Device *device, void *to, const void *from,
            uint64_t bytes);
Status read(runtime::Device *device, void *toHost, const void *from,
            uint64_t bytes);
Status write(runtime::Device *device, void *to, const void *fromHost,
             uint64_t bytes);
} // namespace entry

extern const OwnMemoryApi gpuOwnMemory; // in gpu_entries.cpp

/// The table of a device whose `create` is its own.
#define AMPC_GPU_DEVICE(name, create)                                          \
  {name,                                                                       \
   create,                                                                     \
   ::ampc::runtime::cuda::entry::destroy,                                      \
   ::ampc::runtime::cuda::entry::numThreads,                                   \
   nullptr,                                                                    \
   nullptr,                                                                    \
   ::ampc::runtime::cuda::entry::beginRun,                                     \
   ::ampc::runtime::cuda::entry::endRun,                                       \
   ::ampc::runtime::cuda::entry::launch,                                       \
   ::ampc::runtime::cuda::entry::copy,                                         \
   nullptr,                                                                    \
   ::ampc::runtime::cuda::entry::read,                                         \
   ::ampc::runtime::cuda::entry::write,                                        \
   &::ampc::runtime::cuda::gpuOwnMemory}

} // namespace ampc::runtime::cuda

#endif // AMPC_RUNTIME_DEVICES_CUDA_GPU_DEVICE_H
