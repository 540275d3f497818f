//===- gpu_memory.cpp - Slices and staging memory of a program ------------===//
#include "runtime/core/gpu_images.h"
#include "runtime/devices/cuda/gpu_device.h"

namespace ampc::runtime::cuda {
namespace {

bool isTensor(const Slice &slice) {
  return slice.region == AMPC_REGION_INPUT ||
         slice.region == AMPC_REGION_OUTPUT;
}

/// An input of no bytes has an address all the same.
uint64_t allocatedBytes(const Slice &slice) {
  return slice.size() == 0 && isTensor(slice) ? 1 : slice.size();
}

Status tooLarge(GpuDevice &self, size_t free, size_t total) {
  uint64_t sums[5] = {};
  for (const Slice &slice : self.placement.slices) {
    sums[slice.region] += allocatedBytes(slice);
  }
  uint64_t workspace = workspaceBytes(*self.image, *self.program);
  auto number = [](uint64_t bytes) {
    return static_cast<unsigned long long>(bytes);
  };
  Str state;
  if (sums[AMPC_REGION_STATE]) {
    state.appendf("state %llu, ", number(sums[AMPC_REGION_STATE]));
  }
  return Status::error(
      AMPC_DEVICE,
      "this program needs %llu bytes of GPU memory (weights %llu, "
      "%sactivations "
      "%llu, workspace %llu, inputs and outputs %llu); GPU %d has %llu free of "
      "%llu",
      number(sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + workspace),
      number(sums[AMPC_REGION_WEIGHTS]), state.c_str(),
      number(sums[AMPC_REGION_ARENA]), number(workspace),
      number(sums[AMPC_REGION_INPUT] + sums[AMPC_REGION_OUTPUT]), self.ordinal,
      number(free), number(total));
}

/// The workspace; flags in it are zero whenever no kernel runs, which begins
/// here.
Status allocateWorkspace(GpuDevice &self, size_t free, size_t total) {
  uint64_t bytes = workspaceBytes(*self.image, *self.program);
  if (bytes == 0) {
    return Status();
  }
  Result result = self.api.memAlloc(&self.workspace, bytes);
  if (result == outOfMemory) {
    return tooLarge(self, free, total);
  }
  AMPC_TRY(self.check(result, "memAlloc"));
  return AMPC_CUDA(self, memsetD8Async, self.workspace, 0, bytes, self.stream);
}

Status allocateAll(GpuDevice &self) {
  size_t free = 0, total = 0;
  AMPC_TRY(AMPC_CUDA(self, memGetInfo, &free, &total));
  for (Slice &slice : self.placement.slices) {
    uint64_t bytes = allocatedBytes(slice);
    if (bytes == 0) {
      continue;
    }
    DevicePointer memory = 0;
    Result result = self.api.memAlloc(&memory, bytes);
    if (result == outOfMemory) {
      return tooLarge(self, free, total);
    }
    AMPC_TRY(self.check(result, "memAlloc"));
    slice.memory = reinterpret_cast<uint8_t *>(memory);
  }
  return allocateWorkspace(self, free, total);
}

Status allocatePinned(GpuDevice &self, uint64_t bytes, Staged *out) {
  AMPC_TRY(AMPC_CUDA(self, eventCreate, &out->done, 0));
  if (bytes == 0) {
    return Status();
  }
  void *memory = nullptr;
  Result result = self.api.memAllocHost(&memory, bytes);
  if (result == outOfMemory) {
    return Status::error(AMPC_DEVICE,
                         "cannot allocate %llu bytes of pinned memory",
                         static_cast<unsigned long long>(bytes));
  }
  AMPC_TRY(self.check(result, "memAllocHost"));
  out->memory = static_cast<uint8_t *>(memory);
  return Status();
}

/// The second set is for entries that are submitted.
Status allocateStaging(GpuDevice &self) {
  uint64_t bytes = 0;
  for (const Slice &slice : self.placement.slices) {
    if (isTensor(slice)) {
      self.stagingOffsets.push(bytes);
      if (addOverflow(bytes, slice.size(), &bytes) ||
          !alignUp(bytes, AMPC_ALIGNMENT, &bytes)) {
        return Status::error(AMPC_LIMIT, "inputs and outputs are too large");
      }
    }
  }
  AMPC_TRY(allocatePinned(self, bytes, &self.staging[0]));
  if (self.program->num_entries) {
    AMPC_TRY(allocatePinned(self, bytes, &self.staging[1]));
  }
  for (Staged &control : self.controls) {
    AMPC_TRY(allocatePinned(self, self.program->control_bytes, &control));
  }
  return Status();
}

} // namespace

Status allocateSlices(GpuDevice &self, const void *weights, Plan *plan) {
  if (self.platform->place) {
    self.platform->place(*self.program, *self.image, *plan, &self.placement);
  } else {
    placeRegions(*self.program, *plan, &self.placement);
  }
  AMPC_TRY(allocateAll(self));
  AMPC_TRY(allocateStaging(self));
  for (const Slice &slice : self.placement.slices) {
    if (slice.region == AMPC_REGION_WEIGHTS && slice.size()) {
      AMPC_TRY(AMPC_CUDA(self, memcpyHtoDAsync, addressOf(slice.memory),
                         static_cast<const uint8_t *>(weights) + slice.begin,
                         slice.size(), self.stream));
    } else if (slice.region == AMPC_REGION_STATE && slice.size()) {
      AMPC_TRY(AMPC_CUDA(self, memsetD8Async, addressOf(slice.memory), 0,
                         slice.size(), self.stream));
    }
  }
  for (const PlanNode &node : plan->nodes) {
    for (uint32_t i = 0; i < node.source->num_buffers; ++i) {
      size_t slot = node.firstSlot + i;
      const Slice &slice = self.placement.slices[self.placement.ofSlot[slot]];
      uint64_t offset = node.source->buffers[i].offset.fixed - slice.begin;
      plan->slots[slot] = slice.memory + offset;
    }
  }
  return AMPC_CUDA(self, streamSynchronize, self.stream);
}

} // namespace ampc::runtime::cuda
