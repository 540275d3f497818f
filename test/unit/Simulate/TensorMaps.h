//===- TensorMaps.h - Tensor maps of matrices, as kernels take them
//--------===//
#ifndef AMPC_TEST_UNIT_SIMULATE_TENSORMAPS_H
#define AMPC_TEST_UNIT_SIMULATE_TENSORMAPS_H

#include "test/unit/Simulate/Harness.h"

#include "runtime/devices/sim/tensor_map.h"

namespace ampc::test {

/// A CUtensorMap of a row-major matrix.
struct alignas(128) MapBytes {
  char bytes[128] = {};
};

inline MapBytes mapOf(void *memory, const std::string &type, int rows,
                      int columns, int boxRows, int boxColumns, int swizzle) {
  uint32_t dataType = type == "f16" ? 6 : type == "bf16" ? 9 : 11;
  uint64_t bytes = type == "tf32" ? 4 : 2;
  uint64_t sizes[] = {static_cast<uint64_t>(columns),
                      static_cast<uint64_t>(rows)};
  uint64_t strides[] = {static_cast<uint64_t>(columns) * bytes};
  uint32_t box[] = {static_cast<uint32_t>(boxColumns),
                    static_cast<uint32_t>(boxRows)};
  uint32_t ones[] = {1, 1};
  uint32_t mode = swizzle == 128  ? 3
                  : swizzle == 64 ? 2
                  : swizzle == 32 ? 1
                                  : 0;
  sim::TensorMap map;
  auto status = sim::encodeTensorMap(
      {dataType, 2, memory, sizes, strides, box, ones, 0, mode, 0, 0}, &map);
  EXPECT_TRUE(status.ok()) << status.message();
  MapBytes result;
  memcpy(result.bytes, &map, sizeof map);
  return result;
}

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_SIMULATE_TENSORMAPS_H
