//===- TensorLoadTest.cpp - Tensors of one to five dimensions by TMA
//-------===//
#include "test/unit/Simulate/Harness.h"

#include "runtime/devices/sim/tensor_map.h"

using namespace ampc::test;

namespace {

const char *const declarations = R"(
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
)";

class TensorLoad : public testing::TestWithParam<int> {};

/// A box that begins before the tensor, or ends after it, is filled with zeros.
TEST_P(TensorLoad, FillsWithZeros) {
  int rank = GetParam();
  std::string r = std::to_string(rank), coordinates, types;
  const int start[] = {-4, 1, -1, 2, 0};
  const uint32_t box[] = {8, 3, 2, 2, 2};
  const uint64_t sizes[] = {16, 3, 4, 3, 2};
  for (int i = 0; i < rank; ++i) {
    coordinates += ", i32 " + std::to_string(start[i]);
    types += ", i32";
  }
  uint32_t count = 1;
  uint64_t strides[5] = {}, total = 4;
  for (int i = 0; i < rank; ++i) {
    count *= box[i];
    total *= sizes[i];
    strides[i] = total;
  }
  std::string bytes = std::to_string(4 * count);
  auto program = Program::fromLlvm(
      R"(
target triple = "nvptx64-nvidia-cuda"
@s = internal addrspace(3) global [1024 x i32] undef, align 128
@bar = internal addrspace(3) global i64 undef, align 8
define ptx_kernel void @k(ptr byval([128 x i8]) align 128 "nvvm.grid_constant" %map, ptr addrspace(1) %out) {
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  %token = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @bar, i32 )" +
          bytes + R"()
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.)" +
          r + R"(d(ptr addrspace(3) @s, ptr addrspace(3) @bar, ptr %map)" +
          coordinates + R"(, i64 0, i1 false)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @bar, i32 0)
  br i1 %done, label %loop, label %wait
loop:
  %i = phi i32 [0, %wait], [%n, %loop]
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %i
  %v = load i32, ptr addrspace(3) %p, align 4
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %v, ptr addrspace(1) %o, align 4
  %n = add i32 %i, 1
  %more = icmp ult i32 %n, )" +
          std::to_string(count) + R"(
  br i1 %more, label %loop, label %end
end:
  ret void
}
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.cta.tile.)" +
          r +
          "d(ptr addrspace(3), ptr addrspace(3), "
          "ptr" +
          types + ", i64, i1)\n" + declarations,
      90);
  ASSERT_EQ(program->error(), "");
  Device device(*program);
  std::vector<int32_t> values(total / 4);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int32_t>(i + 1);
  }
  auto *x = device.upload(values, "x");
  auto *out = static_cast<int32_t *>(device.allocate(4 * count, "out"));
  uint32_t ones[] = {1, 1, 1, 1, 1};
  sim::TensorMap map;
  auto status = sim::encodeTensorMap({2, static_cast<uint32_t>(rank), x, sizes,
                                      strides, box, ones, 0, 0, 0, 0},
                                     &map);
  ASSERT_TRUE(status.ok()) << status.message();
  struct alignas(128) {
    char bytes[128];
  } packed = {};
  memcpy(packed.bytes, &map, sizeof map);
  device.param(packed).param(out);
  device.launch("k", {1, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(device.report.clean()) << device.report.text().c_str();
  for (uint32_t i = 0; i < count; ++i) {
    int64_t at = 0, step = 1, rest = i;
    bool inside = true;
    for (int d = 0; d < rank; ++d) {
      int64_t c = start[d] + rest % box[d];
      rest /= box[d];
      inside = inside && c >= 0 && c < static_cast<int64_t>(sizes[d]);
      at += c * step;
      step *= static_cast<int64_t>(sizes[d]);
    }
    EXPECT_EQ(out[i], inside ? at + 1 : 0) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, TensorLoad, testing::Range(1, 6));

} // namespace
