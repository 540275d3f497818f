//===- HopperTest.cpp - wgmma of each kind, a product in stages
//------------===//
#include "test/unit/Simulate/Hopper.h"
#include "test/unit/Simulate/Harness.h"
#include "test/unit/Simulate/TensorMaps.h"

#include "ampc/numerics.h"

#include <cmath>

using namespace ampc::test;
using sim::Fault;

namespace {

//===----------------------------------------------------------------------===//
// One wgmma of each kind
//===----------------------------------------------------------------------===//

class Wgmma : public testing::TestWithParam<WgmmaShape> {
protected:
  void run(const WgmmaShape &shape, HopperBug bug);
  std::unique_ptr<Program> program;
  std::unique_ptr<Device> running;
  int wrong = 0; // elements
};

void Wgmma::run(const WgmmaShape &shape, HopperBug bug) {
  program = Program::fromLlvm(wgmmaKernel(shape, bug), 90);
  ASSERT_EQ(program->error(), "");
  EXPECT_EQ(program->assemble(), "");
  int n = shape.n, depth = shape.depth();
  // Small integers: every sum is exact, so any order is right.
  std::vector<float> a(static_cast<size_t>(64 * depth));
  std::vector<float> b(static_cast<size_t>(depth * n));
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>((i * 7 + i / 64) % 5) - 2;
  }
  for (size_t i = 0; i < b.size(); ++i) {
    b[i] = static_cast<float>((i * 11 + i / 32) % 7) - 3;
  }
  // Bits in the order of memory: a(row, k), or a(k, row) where transposed.
  auto pack = [&](int rows, int columns, auto at) {
    std::vector<char> bytes;
    for (int i = 0; i < rows * columns; ++i) {
      float value = at(i / columns, i % columns);
      uint32_t bits = shape.type == "tf32"   ? ampc_f32_bits(value)
                      : shape.type == "bf16" ? ampc_f32_to_bf16(value)
                                             : ampc_f32_to_f16(value);
      auto *from = reinterpret_cast<char *>(&bits);
      bytes.insert(bytes.end(), from, from + shape.elementBytes());
    }
    return bytes;
  };
  auto elementA = [&](int row, int k) {
    return a[static_cast<size_t>(row * depth + k)];
  };
  auto elementB = [&](int k, int column) {
    return b[static_cast<size_t>(k * n + column)];
  };
  std::vector<char> bytesA =
      shape.aTransposed
          ? pack(depth, 64, [&](int i, int j) { return elementA(j, i); })
          : pack(64, depth, elementA);
  std::vector<char> bytesB =
      shape.bTransposed
          ? pack(depth, n, elementB)
          : pack(n, depth, [&](int i, int j) { return elementB(j, i); });
  running = std::make_unique<Device>(*program);
  Device &device = *running;
  void *deviceA = device.upload(bytesA, "A");
  void *deviceB = device.upload(bytesB, "B");
  void *d = device.allocate(
      static_cast<size_t>(64 * n) * (shape.halfAccumulators ? 2 : 4), "D");
  int row = shape.rowElements();
  auto mapFor = [&](void *memory, int extent, bool transposed) {
    return transposed ? mapOf(memory, shape.type, depth, extent, depth, row,
                              shape.swizzle)
                      : mapOf(memory, shape.type, extent, depth, extent, row,
                              shape.swizzle);
  };
  device.param(mapFor(deviceA, 64, shape.aTransposed))
      .param(mapFor(deviceB, n, shape.bTransposed))
      .param(deviceA)
      .param(d);
  device.options.seed = 3;
  device.launch("product", {1, 1, 1}, {128, 1, 1}, 128 * 1024);
  wrong = 0;
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < depth; ++k) {
        sum += elementA(i, k) * elementB(k, j);
      }
      size_t at = static_cast<size_t>(i * n + j);
      float got = shape.halfAccumulators
                      ? ampc_f16_to_f32(static_cast<uint16_t *>(d)[at])
                      : static_cast<float *>(d)[at];
      wrong += got != sum;
    }
  }
}

TEST_P(Wgmma, Computes) {
  ASSERT_NO_FATAL_FAILURE(run(GetParam(), HopperBug::none));
  EXPECT_TRUE(running->report.clean()) << running->report.text().c_str();
  EXPECT_EQ(wrong, 0);
}

using WgmmaFaults = Wgmma;

TEST_P(WgmmaFaults, ResultsNeedAWait) {
  ASSERT_NO_FATAL_FAILURE(run(GetParam(), HopperBug::noWgmmaWait));
  EXPECT_TRUE(found(running->report, Fault::missingWait, "wgmma.mma_async",
                    "uses the result of a wgmma whose group is not waited"));
}

TEST_P(WgmmaFaults, RegistersNeedAFence) {
  ASSERT_NO_FATAL_FAILURE(run(GetParam(), HopperBug::noWgmmaFence));
  EXPECT_TRUE(found(running->report, Fault::missingFence, "wgmma.mma_async",
                    "no wgmma.fence between"));
}

INSTANTIATE_TEST_SUITE_P(Planted, WgmmaFaults, testing::Values(WgmmaShape()));

std::vector<WgmmaShape> wgmmaShapes() {
  std::vector<WgmmaShape> shapes;
  for (int swizzle : {128, 64, 32, 0}) {
    for (bool a : {false, true}) {
      for (bool b : {false, true}) {
        WgmmaShape shape;
        shape.swizzle = swizzle;
        shape.aTransposed = a;
        shape.bTransposed = b;
        shapes.push_back(shape);
      }
    }
    WgmmaShape tf32;
    tf32.type = "tf32";
    tf32.swizzle = swizzle;
    shapes.push_back(tf32);
  }
  for (int n : {8, 24, 128, 256}) {
    WgmmaShape shape;
    shape.n = n;
    shape.type = "bf16";
    shapes.push_back(shape);
  }
  WgmmaShape registers;
  registers.aInRegisters = true;
  shapes.push_back(registers);
  registers.bTransposed = true;
  registers.swizzle = 64;
  shapes.push_back(registers);
  registers = WgmmaShape();
  registers.aInRegisters = true;
  registers.type = "tf32";
  shapes.push_back(registers);
  WgmmaShape half;
  half.halfAccumulators = true;
  shapes.push_back(half);
  half.n = 16;
  shapes.push_back(half);
  return shapes;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Wgmma, testing::ValuesIn(wgmmaShapes()),
                         [](const testing::TestParamInfo<WgmmaShape> &info) {
                           const WgmmaShape &shape = info.param;
                           return shape.type + "_n" + std::to_string(shape.n) +
                                  "_swizzle" + std::to_string(shape.swizzle) +
                                  (shape.aTransposed ? "_at" : "") +
                                  (shape.bTransposed ? "_bt" : "") +
                                  (shape.aInRegisters ? "_registers" : "") +
                                  (shape.halfAccumulators ? "_half" : "");
                         });

//===----------------------------------------------------------------------===//
// A product in stages
//===----------------------------------------------------------------------===//

class HopperGemm : public testing::Test {
protected:
  static constexpr int m = 256, n = 128, k = 320;

  void run(HopperBug bug, uint64_t seed = 0) {
    device.reset();
    program = Program::fromMlir(hopperGemm(bug), 90);
    ASSERT_EQ(program->error(), "");
    EXPECT_EQ(program->assemble(), "");
    device = std::make_unique<Device>(*program);
    std::vector<uint16_t> a = randomF16(m * k, 1), b = randomF16(k * n, 2);
    void *deviceA = device->upload(a, "A"), *deviceB = device->upload(b, "B");
    c = static_cast<float *>(device->allocate(4 * m * n, "C"));
    std::vector<MapBytes> maps = {mapOf(deviceA, "f16", m, k, 128, 64, 128),
                                  mapOf(deviceB, "f16", k, n, 64, 64, 128)};
    auto *deviceMaps = device->upload(maps, "maps");
    device->param(deviceMaps).param(deviceMaps + 1).matrix(c, m, n);
    device->param<int64_t>(k / 64);
    device->options.seed = seed;
    device->launch("gemm", {n / 128, m / 128, 1}, {128, 1, 1}, 65536);
    worst = 0;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0, size = 0;
        for (int l = 0; l < k; ++l) {
          double term = ampc_f16_to_f64(a[static_cast<size_t>(i * k + l)]) *
                        ampc_f16_to_f64(b[static_cast<size_t>(l * n + j)]);
          sum += term;
          size += std::fabs(term);
        }
        double error =
            std::fabs(static_cast<double>(c[i * n + j]) - sum) / size;
        worst = error <= worst ? worst : error;
      }
    }
  }
  std::unique_ptr<Program> program;
  std::unique_ptr<Device> device;
  float *c = nullptr;
  double worst = 0;
};

TEST_F(HopperGemm, Computes) {
  for (uint64_t seed : {0, 1, 2}) {
    ASSERT_NO_FATAL_FAILURE(run(HopperBug::none, seed));
    EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
    EXPECT_LE(worst, 0x1p-20);
  }
}

struct Planted {
  HopperBug bug;
  Fault fault;
  const char *site, *words;
};

TEST_F(HopperGemm, PlantedFaultsAreFound) {
  const Planted all[] = {
      {HopperBug::noWait, Fault::missingWait, "wgmma",
       "which a bulk copy may still be writing"},
      {HopperBug::wrongParity, Fault::missingWait, "wgmma",
       "which a bulk copy may still be writing"},
      {HopperBug::tooFewBytes, Fault::barrierMisuse, "cp.async.bulk.tensor",
       "fewer bytes are expected than copied"},
      {HopperBug::tooManyBytes, Fault::deadlock, "mbarrier.try_wait",
       "lacks 0 arrivals and 16 bytes"},
      {HopperBug::noBarrierAfterInit, Fault::sharedRace, "mbarrier",
       "races with its initialisation by thread 0"},
      {HopperBug::groupInFlight, Fault::missingWait, "wgmma", ""},
  };
  for (const Planted &planted : all) {
    ASSERT_NO_FATAL_FAILURE(run(planted.bug));
    EXPECT_TRUE(
        found(device->report, planted.fault, planted.site, planted.words));
  }
}

} // namespace
