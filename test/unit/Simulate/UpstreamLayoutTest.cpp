//===- UpstreamLayoutTest.cpp - Fragments as upstream lays them out -------===//
//
// A kernel and a simulator made by the same hand could share an error that
// cancels. Here upstream's rewrite of a matrix product to mma.sync decides
// which lane loads and stores what.
//
//===----------------------------------------------------------------------===//
#include "test/unit/Simulate/Harness.h"

#include "ampc/numerics.h"

using namespace ampc::test;

namespace {

const char *const products = R"(
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @f16(%A: memref<16x16xf16>, %B: memref<16x8xf16>, %C: memref<16x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      linalg.matmul ins(%A, %B : memref<16x16xf16>, memref<16x8xf16>) outs(%C : memref<16x8xf16>)
      gpu.return
    }
    gpu.func @tf32(%A: memref<16x4xf32>, %B: memref<4x8xf32>, %C: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      linalg.matmul ins(%A, %B : memref<16x4xf32>, memref<4x8xf32>) outs(%C : memref<16x8xf32>)
      gpu.return
    }
  }
  module attributes {transform.with_named_sequence} {
    transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
      %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
      transform.nvgpu.rewrite_matmul_as_mma_sync %matmul : (!transform.any_op) -> ()
      transform.yield
    }
  }
}
)";

/// C += A B of 16 x k and k x 8, with integers that every format holds.
template <typename T, typename Pack, typename Unpack>
void check(const std::string &kernel, int k, Pack pack, Unpack unpack) {
  auto program = Program::fromMlir(products, 80);
  ASSERT_EQ(program->error(), "");
  Device device(*program);
  std::vector<T> a, b, c;
  auto value = [](int i, int j) { return (i * 5 + j * 3) % 7 - 3; };
  for (int i = 0; i < 16 * k; ++i) {
    a.push_back(pack(static_cast<float>(value(i / k, i % k))));
  }
  for (int i = 0; i < k * 8; ++i) {
    b.push_back(pack(static_cast<float>(value(i % 8, i / 8 + 1))));
  }
  for (int i = 0; i < 128; ++i) {
    c.push_back(pack(static_cast<float>(i % 9)));
  }
  T *deviceA = device.upload(a, "A"), *deviceB = device.upload(b, "B");
  T *deviceC = device.upload(c, "C");
  device.matrix(deviceA, 16, k).matrix(deviceB, k, 8).matrix(deviceC, 16, 8);
  device.launch(kernel, {1, 1, 1}, {32, 1, 1});
  EXPECT_TRUE(device.report.clean()) << device.report.text().c_str();
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      int sum = (i * 8 + j) % 9;
      for (int l = 0; l < k; ++l) {
        sum += value(i, l) * value(j, l + 1);
      }
      EXPECT_EQ(unpack(deviceC[i * 8 + j]), static_cast<float>(sum))
          << i << ", " << j;
    }
  }
}

TEST(UpstreamLayout, HalfM16n8k16) {
  check<uint16_t>("f16", 16, ampc_f32_to_f16, ampc_f16_to_f32);
}

TEST(UpstreamLayout, Tf32M16n8k4) {
  auto same = [](float x) { return x; };
  check<float>("tf32", 4, same, same);
}

} // namespace
