//===- gpu_device.cpp - A GPU as a device ---------------------------------===//
#include "runtime/devices/cuda/gpu_device.h"

namespace ampc::runtime::cuda {

namespace {

GpuDevice &gpu(runtime::Device *device) {
  return *reinterpret_cast<GpuDevice *>(device);
}

Status synchronize(GpuDevice &self) {
  return AMPC_CUDA(self, streamSynchronize, self.stream);
}

/// Copies the caller's inputs to where the device fetches them.
void stageInputs(GpuDevice &self, const void *const *inputs) {
  for (uint32_t i = 0; i < self.program->num_inputs; ++i) {
    if (uint64_t bytes = self.inputSlice(i).size()) {
      memcpy(self.stagingOf(i), inputs[i], bytes);
    }
  }
}

void unstageOutputs(GpuDevice &self, void *const *outputs) {
  for (uint32_t i = 0; i < self.program->num_outputs; ++i) {
    if (uint64_t bytes = self.outputSlice(i).size()) {
      memcpy(outputs[i], self.stagingOf(self.program->num_inputs + i), bytes);
    }
  }
}

Status prepareHere(GpuDevice &self, const void *weights, Plan *plan) {
  AMPC_TRY(allocateSlices(self, weights, plan));
  AMPC_TRY(AMPC_CUDA(self, eventCreate, &self.timerStart, 0));
  AMPC_TRY(AMPC_CUDA(self, eventCreate, &self.timerStop, 0));
  return isStraight(*plan) ? buildGraph(self, *plan) : Status();
}

Status prepare(runtime::Device *device, const void *weights, Plan *plan) {
  entry::beginRun(device);
  Status status = prepareHere(gpu(device), weights, plan);
  Status ended = entry::endRun(device);
  return status.ok() ? std::move(ended) : std::move(status);
}

bool runsWhole(const runtime::Device *device) {
  return reinterpret_cast<const GpuDevice *>(device)->graph != nullptr;
}

Status runWhole(runtime::Device *device, const void *const *inputs,
                void *const *outputs) {
  GpuDevice &self = gpu(device);
  stageInputs(self, inputs);
  AMPC_TRY(AMPC_CUDA(self, graphLaunch, self.graph, self.stream));
  AMPC_TRY(synchronize(self));
  unstageOutputs(self, outputs);
  return Status();
}

Status load(runtime::Device *device, const void *const *inputs) {
  GpuDevice &self = gpu(device);
  stageInputs(self, inputs);
  for (uint32_t i = 0; i < self.program->num_inputs; ++i) {
    const Slice &slice = self.inputSlice(i);
    if (slice.size()) {
      AMPC_TRY(AMPC_CUDA(self, memcpyHtoDAsync, addressOf(slice.memory),
                         self.stagingOf(i), slice.size(), self.stream));
    }
  }
  for (const Slice &slice : self.placement.slices) {
    if (self.poison && slice.region == AMPC_REGION_ARENA && slice.size()) {
      AMPC_TRY(AMPC_CUDA(self, memsetD8Async, addressOf(slice.memory), 0xff,
                         slice.size(), self.stream));
    }
  }
  return Status();
}

Status store(runtime::Device *device, void *const *outputs) {
  GpuDevice &self = gpu(device);
  for (uint32_t i = 0; i < self.program->num_outputs; ++i) {
    const Slice &slice = self.outputSlice(i);
    if (slice.size()) {
      AMPC_TRY(AMPC_CUDA(self, memcpyDtoHAsync,
                         self.stagingOf(self.program->num_inputs + i),
                         addressOf(slice.memory), slice.size(), self.stream));
    }
  }
  AMPC_TRY(synchronize(self));
  unstageOutputs(self, outputs);
  return Status();
}

Status startTimer(runtime::Device *device) {
  GpuDevice &self = gpu(device);
  return AMPC_CUDA(self, eventRecord, self.timerStart, self.stream);
}

Status stopTimer(runtime::Device *device, uint64_t *outNanoseconds) {
  GpuDevice &self = gpu(device);
  AMPC_TRY(AMPC_CUDA(self, eventRecord, self.timerStop, self.stream));
  AMPC_TRY(AMPC_CUDA(self, eventSynchronize, self.timerStop));
  float milliseconds = 0;
  AMPC_TRY(AMPC_CUDA(self, eventElapsedTime, &milliseconds, self.timerStart,
                     self.timerStop));
  *outNanoseconds =
      static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6);
  return Status();
}

} // namespace

const OwnMemoryApi gpuOwnMemory = {prepare, runsWhole,  runWhole, load,
                                   store,   startTimer, stopTimer};

namespace entry {

Status create(const Platform &platform, const DeviceOptions &options,
              runtime::Device **outDevice) {
  auto *self = new (allocateSmall(sizeof(GpuDevice))) GpuDevice();
  auto *device = reinterpret_cast<runtime::Device *>(self);
  self->platform = &platform;
  self->program = options.program;
  // A simulator knows what has not been written; a fill would hide it.
  self->poison = options.poisonScratch && !platform.simulates;
  Status status = openGpu(*self, options);
  if (!status.ok()) {
    destroy(device);
    return status;
  }
  *outDevice = device;
  return Status();
}

/// Errors are of no use here: what failed has been told by the run.
void destroy(runtime::Device *device) {
  if (!device) {
    return;
  }
  GpuDevice &self = gpu(device);
  if (self.context) {
    beginRun(device);
    if (self.graph) {
      self.api.graphExecDestroy(self.graph);
    }
    for (const Slice &slice : self.placement.slices) {
      if (slice.memory) {
        self.api.memFree(addressOf(slice.memory));
      }
    }
    if (self.workspace) {
      self.api.memFree(self.workspace);
    }
    if (self.staging) {
      self.api.memFreeHost(self.staging);
    }
    for (Event event : {self.timerStart, self.timerStop}) {
      if (event) {
        self.api.eventDestroy(event);
      }
    }
    for (Module module : self.modules) {
      self.api.moduleUnload(module);
    }
    if (self.stream) {
      self.api.streamDestroy(self.stream);
    }
    (void)endRun(device);
    self.api.primaryCtxRelease(self.handle);
  }
  if (self.opened && self.platform->close) {
    self.platform->close();
  }
  self.~GpuDevice();
  free(device);
}

uint32_t numThreads(const runtime::Device *) { return 1; }

/// The context is current for the time of a call; the caller may have another.
void beginRun(runtime::Device *device) {
  GpuDevice &self = gpu(device);
  if (self.api.ctxGetCurrent(&self.callersContext) != success) {
    self.callersContext = nullptr;
  }
  // A failure shows in the next call, which needs the context.
  self.api.ctxSetCurrent(self.context);
}

Status endRun(runtime::Device *device) {
  GpuDevice &self = gpu(device);
  return AMPC_CUDA(self, ctxSetCurrent, self.callersContext);
}

Status launch(runtime::Device *device, const ampc_kernel_desc &kernel,
              void *const *buffers) {
  GpuDevice &self = gpu(device);
  auto index = static_cast<size_t>(&kernel - self.program->kernels);
  const ampc_gpu_launch &launch = self.image->launches[index];
  const uint32_t *grid = launch.grid, *block = launch.block;
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) {
    return Status();
  }
  TensorMapBytes maps[AMPC_GPU_MAX_TENSOR_MAPS];
  AMPC_TRY(fillArguments(self, launch, buffers, maps).withPrefix(kernel.name));
  return AMPC_CUDA(self, launchKernel, self.functions[index], grid[0], grid[1],
                   grid[2], block[0], block[1], block[2], launch.shared_bytes,
                   self.stream, self.arguments.data(), nullptr)
      .withPrefix(kernel.name);
}

Status copy(runtime::Device *device, void *to, const void *from,
            uint64_t bytes) {
  GpuDevice &self = gpu(device);
  return bytes ? AMPC_CUDA(self, memcpyDtoDAsync, addressOf(to),
                           addressOf(from), bytes, self.stream)
               : Status();
}

Status read(runtime::Device *device, void *toHost, const void *from,
            uint64_t bytes) {
  GpuDevice &self = gpu(device);
  AMPC_TRY(AMPC_CUDA(self, memcpyDtoHAsync, toHost, addressOf(from), bytes,
                     self.stream));
  return synchronize(self);
}

Status write(runtime::Device *device, void *to, const void *fromHost,
             uint64_t bytes) {
  GpuDevice &self = gpu(device);
  AMPC_TRY(AMPC_CUDA(self, memcpyHtoDAsync, addressOf(to), fromHost, bytes,
                     self.stream));
  return synchronize(self);
}

} // namespace entry
} // namespace ampc::runtime::cuda
