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

} // namespace

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
    for (const GraphUnit &unit : self.units) {
      if (unit.graph) {
        self.api.graphExecDestroy(unit.graph);
      }
    }
    for (const Slice &slice : self.placement.slices) {
      if (slice.memory) {
        self.api.memFree(addressOf(slice.memory));
      }
    }
    if (self.workspace) {
      self.api.memFree(self.workspace);
    }
    for (const Staged *staged : {&self.staging[0], &self.staging[1],
                                 &self.controls[0], &self.controls[1]}) {
      if (staged->memory) {
        self.api.memFreeHost(staged->memory);
      }
      if (staged->done) {
        self.api.eventDestroy(staged->done);
      }
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
