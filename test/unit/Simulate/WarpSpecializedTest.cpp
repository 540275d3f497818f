//===- WarpSpecializedTest.cpp - Producers, consumers, stores by TMA
//-------===//
#include "test/unit/Simulate/Hopper.h"
#include "test/unit/Simulate/TensorMaps.h"

#include "ampc/numerics.h"

using namespace ampc::test;
using sim::Fault;

namespace {

//===----------------------------------------------------------------------===//
// A producer and a warpgroup
//===----------------------------------------------------------------------===//

class WarpSpecialized : public testing::Test {
protected:
  static constexpr int steps = 7, k = 64 * steps;

  void run(HopperBug bug, uint64_t seed = 0) {
    device.reset();
    program = Program::fromLlvm(warpSpecializedGemm(bug), 90);
    ASSERT_EQ(program->error(), "");
    EXPECT_EQ(program->assemble(), "");
    device = std::make_unique<Device>(*program);
    std::vector<uint16_t> a(64 * k), b(64 * k); // b[column][k]
    auto value = [](int i, int j) {
      return static_cast<float>((i * 3 + j * 5) % 7 - 3);
    };
    for (int i = 0; i < 64 * k; ++i) {
      a[static_cast<size_t>(i)] = ampc_f32_to_f16(value(i / k, i % k));
      b[static_cast<size_t>(i)] = ampc_f32_to_f16(value(i % k, i / k));
    }
    void *deviceA = device->upload(a, "A"), *deviceB = device->upload(b, "B");
    auto *d = static_cast<float *>(device->allocate(64 * 64 * 4, "D"));
    device->param(mapOf(deviceA, "f16", 64, k, 64, 64, 128))
        .param(mapOf(deviceB, "f16", 64, k, 64, 64, 128))
        .param(d)
        .param(steps);
    device->options.seed = seed;
    device->launch("product", {1, 1, 1}, {256, 1, 1}, 3 * 16384);
    wrong = 0;
    for (int t = 0; t < 128; ++t) {
      for (int i = 0; i < 32; ++i) {
        int row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2);
        int column = i / 4 * 8 + 2 * (t % 4) + i % 2;
        float sum = 0;
        for (int l = 0; l < k; ++l) {
          sum += value(row, l) * value(l, column);
        }
        wrong += d[t * 32 + i] != sum;
      }
    }
  }
  std::unique_ptr<Program> program;
  std::unique_ptr<Device> device;
  int wrong = 0;
};

TEST_F(WarpSpecialized, Computes) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    ASSERT_NO_FATAL_FAILURE(run(HopperBug::none, seed));
    EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(WarpSpecialized, EarlyRelease) {
  ASSERT_NO_FATAL_FAILURE(run(HopperBug::earlyRelease));
  EXPECT_TRUE(found(device->report, Fault::missingWait, "g2s.tile.2d",
                    "which wgmma of warpgroup 0 may still be reading"));
}

TEST_F(WarpSpecialized, LastGroupInFlight) {
  ASSERT_NO_FATAL_FAILURE(run(HopperBug::noWgmmaWait));
  EXPECT_TRUE(found(device->report, Fault::missingWait, "wgmma.mma_async",
                    "uses the result of a wgmma whose group is not waited"));
}

//===----------------------------------------------------------------------===//
// Stores by TMA
//===----------------------------------------------------------------------===//

class TensorStore : public testing::Test {
protected:
  void run(HopperBug bug) {
    program = Program::fromLlvm(tensorStore(bug), 90);
    ASSERT_EQ(program->error(), "");
    EXPECT_EQ(program->assemble(), "");
    device = std::make_unique<Device>(*program);
    // The tile's last 8 of 32 rows lie outside of the matrix.
    result = static_cast<uint16_t *>(device->allocate(32 * 64 * 2, "result"));
    device->param(mapOf(result, "f16", 32, 64, 32, 64, 0));
    device->launch("fill", {1, 1, 1}, {128, 1, 1});
  }
  std::unique_ptr<Program> program;
  std::unique_ptr<Device> device;
  uint16_t *result = nullptr;
};

TEST_F(TensorStore, WritesWhatIsInside) {
  ASSERT_NO_FATAL_FAILURE(run(HopperBug::none));
  EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
  EXPECT_EQ(device->memory.unwritten(result, 8 * 128), 8u * 128);
  for (int i = 0; i < 24 * 64; ++i) {
    EXPECT_EQ(ampc_f16_to_f32(result[8 * 64 + i]), static_cast<float>(i));
  }
}

TEST_F(TensorStore, NeedsAFence) {
  ASSERT_NO_FATAL_FAILURE(run(HopperBug::noProxyFence));
  EXPECT_TRUE(found(device->report, Fault::missingFence, "store half",
                    "no fence.proxy.async since"));
}

TEST_F(TensorStore, NeedsAWait) {
  ASSERT_NO_FATAL_FAILURE(run(HopperBug::noStoreWait));
  EXPECT_TRUE(found(device->report, Fault::missingWait, "s2g.tile.2d",
                    "ends without waiting for its bulk stores"));
}

TEST_F(TensorStore, NeedsAlignment) {
  ASSERT_NO_FATAL_FAILURE(run(HopperBug::misalignedTile));
  EXPECT_TRUE(found(device->report, Fault::misaligned, "s2g.tile.2d",
                    "is not aligned to 128 bytes"));
}

} // namespace
