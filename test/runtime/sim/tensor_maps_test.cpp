//===- tensor_maps_test.cpp - Tensor maps from a program to its kernel ----===//
#include "runtime/devices/sim/tensor_map.h"
#include "test/runtime/sim/gpu_program.h"

#include <gtest/gtest.h>

using namespace toy;
using ampc::runtime::sim::Swizzle;
using ampc::runtime::sim::TensorMap;

namespace {

constexpr uint32_t columns = count / 4;

/// out[i] = 2 * in[i], where the map says that element i lies.
void doubleByMap(void **params) {
  uint32_t i = index();
  const auto &map = *static_cast<const TensorMap *>(params[2]);
  auto *row =
      reinterpret_cast<const float *>(map.base + i / columns * map.strides[0]);
  store(1, buffer<float>(params, 1) + i, 2 * load(0, row + i % columns));
}

TensorMap seen;

void keepMap(void **params) {
  memcpy(&seen, params[2], sizeof seen);
  doubleByMap(params);
}

const ampc_sim_param mapParams[] = {{8, 8}, {8, 8}, {128, 64}};
const ampc_sim_kernel mapKernels[] = {
    {"double_by_map", keepMap, mapParams, variables, 3, 1, 0, 0, {}, 0}};
const ampc_sim_module mapModule = {
    AMPC_SIM_MAGIC, AMPC_SIM_ABI_VERSION, 1, 0, 9, 80, mapKernels, nullptr,
    sites};

const ampc_gpu_tensor_map rows = {
    0, AMPC_DTYPE_F32, 2, 128, {columns, 4}, {4, columns * 4}, {32, 2}, 0};

/// y = 2 * x by way of the map of x in the arena.
struct MapProgram : GpuProgram {
  MapProgram() {
    kernels.resize(1);
    launches.resize(1);
    launches[0].symbol = "double_by_map";
    launches[0].num_tensor_maps = 1;
    launches[0].tensor_maps = &rows;
    modules = {{&mapModule, 0}};
    nodes = {copy(input(), arena(bytes), bytes),
             launch(DoubleEach, {arena(bytes), output()}, "/Mul")};
  }
};

TEST(TensorMaps, reachTheKernel) {
  MapProgram p;
  Session session(p.finish());
  ASSERT_TRUE(session.status.ok()) << session.status.message();
  std::vector<float> y = session.run(5);
  for (uint32_t i = 0; i < count; ++i) {
    ASSERT_EQ(y[i], 2 * (5 + static_cast<float>(i)));
  }
  EXPECT_EQ(seen.magic, TensorMap::magicNumber);
  EXPECT_EQ(seen.rank, 2);
  EXPECT_EQ(seen.elementBytes, 4);
  EXPECT_EQ(seen.swizzle, Swizzle::bytes128);
  EXPECT_EQ(seen.fillNan, 0);
  EXPECT_EQ(seen.sizesLess1[0], columns - 1);
  EXPECT_EQ(seen.sizesLess1[1], 3u);
  EXPECT_EQ(seen.box[0], 32);
  EXPECT_EQ(seen.box[1], 2);
}

/// What the driver does not encode is an error that names the node.
TEST(TensorMaps, refused) {
  ampc_gpu_tensor_map wrong = rows;
  wrong.box[0] = 300;
  MapProgram p;
  p.launches[0].tensor_maps = &wrong;
  Session session(p.finish());
  EXPECT_EQ(session.status.code(), AMPC_DEVICE);
  std::string message = session.status.message();
  EXPECT_NE(message.find("/Mul: the GPU's driver failed in "
                         "tensorMapEncodeTiled"),
            std::string::npos)
      << message;
}

} // namespace
