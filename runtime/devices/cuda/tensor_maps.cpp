//===- tensor_maps.cpp - What the copy engine knows of a buffer -----------===//
#include "runtime/devices/cuda/gpu_device.h"

namespace ampc::runtime::cuda {
namespace {

// CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapL2promotion.
int dataTypeOf(uint32_t dtype) {
  switch (dtype) {
  case AMPC_DTYPE_F16:
    return 6;
  case AMPC_DTYPE_BF16:
    return 9;
  case AMPC_DTYPE_F32:
    return 7;
  default:
    return -1;
  }
}
int swizzleOf(uint32_t bytes) {
  return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
}
constexpr int noInterleave = 0, promoteTo128Bytes = 2, fillWithZeros = 0;

Status encode(GpuDevice &self, const ampc_gpu_tensor_map &map, void *buffer,
              TensorMapBytes *out) {
  static constexpr uint32_t ones[] = {1, 1, 1, 1, 1};
  return AMPC_CUDA(self, tensorMapEncodeTiled, out, dataTypeOf(map.dtype),
                   map.rank, buffer, map.sizes, map.strides + 1, map.box, ones,
                   noInterleave, swizzleOf(map.swizzle), promoteTo128Bytes,
                   fillWithZeros);
}

} // namespace

Status fillArguments(GpuDevice &self, const ampc_gpu_launch &launch,
                     void *const *buffers,
                     TensorMapBytes (&maps)[AMPC_GPU_MAX_TENSOR_MAPS]) {
  for (uint32_t i = 0; i < launch.num_params; ++i) {
    self.arguments[i] = const_cast<void **>(&buffers[i]);
  }
  for (uint32_t i = 0; i < launch.num_tensor_maps; ++i) {
    const ampc_gpu_tensor_map &map = launch.tensor_maps[i];
    AMPC_TRY(encode(self, map, buffers[map.param], &maps[i]));
    self.arguments[launch.num_params + i] = &maps[i];
  }
  if (launch.workspace_bytes != 0) {
    self.arguments[launch.num_params + launch.num_tensor_maps] =
        &self.workspace;
  }
  return Status();
}

} // namespace ampc::runtime::cuda
