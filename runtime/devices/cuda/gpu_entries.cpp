//===- gpu_entries.cpp - Runs the entries of a program on a GPU -----------===//
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
void stageInputs(GpuDevice &self, const PlanEntry &entry, uint32_t set,
                 const void *const *inputs) {
  for (uint32_t k = 0; k < entry.numInputs; ++k) {
    uint32_t i = entry.firstInput + k;
    if (uint64_t bytes = self.inputSlice(i).size()) {
      memcpy(self.stagingOf(i, set), inputs[k], bytes);
    }
  }
}

void unstageOutputs(GpuDevice &self, const PlanEntry &entry,
                    void *const *outputs) {
  for (uint32_t k = 0; k < entry.numOutputs; ++k) {
    uint32_t i = entry.firstOutput + k;
    if (uint64_t bytes = self.outputSlice(i).size()) {
      memcpy(outputs[k], self.stagingOfOutput(i), bytes);
    }
  }
}

/// Starts the copies of staged inputs to the device.
Status fetchInputs(GpuDevice &self, const PlanEntry &entry, uint32_t set) {
  for (uint32_t k = 0; k < entry.numInputs; ++k) {
    uint32_t i = entry.firstInput + k;
    const Slice &slice = self.inputSlice(i);
    if (slice.size()) {
      AMPC_TRY(AMPC_CUDA(self, memcpyHtoDAsync, addressOf(slice.memory),
                         self.stagingOf(i, set), slice.size(), self.stream));
    }
  }
  return Status();
}

/// Waits until nothing reads or writes the pinned memory.
Status settle(GpuDevice &self, Staged &staged) {
  if (staged.underWay) {
    AMPC_TRY(AMPC_CUDA(self, eventSynchronize, staged.done));
    staged.underWay = false;
  }
  return Status();
}

Status mark(GpuDevice &self, Staged &staged) {
  AMPC_TRY(AMPC_CUDA(self, eventRecord, staged.done, self.stream));
  staged.underWay = true;
  return Status();
}

Status prepareHere(GpuDevice &self, const void *weights, Plan *plan) {
  AMPC_TRY(allocateSlices(self, weights, plan));
  AMPC_TRY(AMPC_CUDA(self, eventCreate, &self.timerStart, 0));
  AMPC_TRY(AMPC_CUDA(self, eventCreate, &self.timerStop, 0));
  self.plan = plan;
  self.straight = isStraight(*plan);
  for (uint32_t i = 0; self.straight && i < plan->entries.size(); ++i) {
    GraphExec graph;
    AMPC_TRY(findUnit(self, &i, 1, /*copies=*/true, &graph));
  }
  return Status();
}

Status prepare(runtime::Device *device, const void *weights, Plan *plan) {
  entry::beginRun(device);
  Status status = prepareHere(gpu(device), weights, plan);
  Status ended = entry::endRun(device);
  return status.ok() ? std::move(ended) : std::move(status);
}

bool runsWhole(const runtime::Device *device) {
  return reinterpret_cast<const GpuDevice *>(device)->straight;
}

Status runWhole(runtime::Device *device, uint32_t index,
                const void *const *inputs, void *const *outputs) {
  GpuDevice &self = gpu(device);
  const PlanEntry &entry = self.plan->entries[index];
  GraphExec graph = nullptr;
  AMPC_TRY(findUnit(self, &index, 1, /*copies=*/true, &graph));
  AMPC_TRY(settle(self, self.staging[0]));
  stageInputs(self, entry, 0, inputs);
  AMPC_TRY(AMPC_CUDA(self, graphLaunch, graph, self.stream));
  AMPC_TRY(synchronize(self));
  unstageOutputs(self, entry, outputs);
  return Status();
}

Status submit(runtime::Device *device, const uint32_t *entries, uint32_t count,
              const void *const *inputs) {
  GpuDevice &self = gpu(device);
  GraphExec graph = nullptr;
  AMPC_TRY(findUnit(self, entries, count, /*copies=*/false, &graph));
  uint32_t set = self.submissions++ % 2;
  AMPC_TRY(settle(self, self.staging[set]));
  for (uint32_t i = 0; i < count; ++i) {
    const PlanEntry &entry = self.plan->entries[entries[i]];
    stageInputs(self, entry, set, inputs);
    AMPC_TRY(fetchInputs(self, entry, set));
    inputs += entry.numInputs;
  }
  AMPC_TRY(mark(self, self.staging[set]));
  return AMPC_CUDA(self, graphLaunch, graph, self.stream);
}

Status load(runtime::Device *device, uint32_t index,
            const void *const *inputs) {
  GpuDevice &self = gpu(device);
  const PlanEntry &entry = self.plan->entries[index];
  AMPC_TRY(synchronize(self));
  stageInputs(self, entry, 0, inputs);
  AMPC_TRY(fetchInputs(self, entry, 0));
  for (const Slice &slice : self.placement.slices) {
    if (self.poison && slice.region == AMPC_REGION_ARENA && slice.size()) {
      AMPC_TRY(AMPC_CUDA(self, memsetD8Async, addressOf(slice.memory), 0xff,
                         slice.size(), self.stream));
    }
  }
  return Status();
}

Status store(runtime::Device *device, uint32_t index, void *const *outputs) {
  GpuDevice &self = gpu(device);
  const PlanEntry &entry = self.plan->entries[index];
  for (uint32_t k = 0; k < entry.numOutputs; ++k) {
    uint32_t i = entry.firstOutput + k;
    const Slice &slice = self.outputSlice(i);
    if (slice.size()) {
      AMPC_TRY(AMPC_CUDA(self, memcpyDtoHAsync, self.stagingOfOutput(i),
                         addressOf(slice.memory), slice.size(), self.stream));
    }
  }
  AMPC_TRY(synchronize(self));
  unstageOutputs(self, entry, outputs);
  return Status();
}

void *state(runtime::Device *device) {
  return gpu(device).placement.slices[Placement::state].memory;
}

Status fetchControl(runtime::Device *device, uint32_t place) {
  GpuDevice &self = gpu(device);
  Staged &control = self.controls[place];
  uint64_t bytes = self.program->control_bytes;
  AMPC_TRY(settle(self, control));
  if (bytes) {
    AMPC_TRY(AMPC_CUDA(self, memcpyDtoHAsync, control.memory,
                       addressOf(state(device)), bytes, self.stream));
  }
  return mark(self, control);
}

Status waitControl(runtime::Device *device, uint32_t place,
                   const void **outControl) {
  GpuDevice &self = gpu(device);
  AMPC_TRY(settle(self, self.controls[place]));
  *outControl = self.controls[place].memory;
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

const OwnMemoryApi gpuOwnMemory = {
    prepare, runsWhole,    runWhole,    submit,     load,     store,
    state,   fetchControl, waitControl, startTimer, stopTimer};

} // namespace ampc::runtime::cuda
