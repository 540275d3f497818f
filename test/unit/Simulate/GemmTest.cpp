//===- GemmTest.cpp - Matrix products on mma.sync: right, and wrong -------===//
#include "test/unit/Simulate/Gemm.h"
#include "test/unit/Simulate/Harness.h"

#include "ampc/numerics.h"

#include <cmath>
#include <cstdlib>
#include <ctime>

using namespace ampc::test;
using sim::Fault;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool isSanitized = true;
#elif defined(__has_feature)
constexpr bool isSanitized = __has_feature(address_sanitizer);
#else
constexpr bool isSanitized = false;
#endif

class GemmTest : public testing::Test {
protected:
  void build(const std::string &text, unsigned arch, bool bf16 = false) {
    device.reset(); // it refers to the program
    program = Program::fromMlir(text, arch);
    ASSERT_EQ(program->error(), "");
    device = std::make_unique<Device>(*program);
    isBf16 = bf16;
  }

  /// C = A B with random numbers.
  void run(const GemmShape &shape, int m, int n, int k) {
    auto draw = isBf16 ? randomBf16 : randomF16;
    std::vector<uint16_t> a = draw(static_cast<size_t>(m * k), 1);
    std::vector<uint16_t> b = draw(static_cast<size_t>(k * n), 2);
    void *deviceA = device->upload(a, "A"), *deviceB = device->upload(b, "B");
    size_t bytes = shape.halfAccumulators ? 2 : 4;
    c = device->allocate(static_cast<size_t>(m * n) * bytes, "C");
    device->matrix(deviceA, m, k).matrix(deviceB, k, n).matrix(c, m, n);
    clock_t begin = clock(); // of the process: others share the machine
    device->launch("gemm",
                   {static_cast<uint32_t>(n / shape.columns),
                    static_cast<uint32_t>(m / shape.rows), 1},
                   {static_cast<uint32_t>(shape.threads()), 1, 1});
    seconds = static_cast<double>(clock() - begin) / CLOCKS_PER_SEC;
    compare(shape, a, b, m, n, k);
  }

  /// Sets `worst` to the largest error against float64, relative to the sum of
  /// the terms' magnitudes.
  void compare(const GemmShape &shape, const std::vector<uint16_t> &a,
               const std::vector<uint16_t> &b, int m, int n, int k) {
    auto widen = [&](uint16_t bits) {
      return isBf16 ? ampc_bf16_to_f64(bits) : ampc_f16_to_f64(bits);
    };
    worst = 0;
    std::vector<double> sums(static_cast<size_t>(n)), sizes(sums.size());
    for (int i = 0; i < m; ++i) {
      std::fill(sums.begin(), sums.end(), 0);
      std::fill(sizes.begin(), sizes.end(), 0);
      for (int j = 0; j < k; ++j) {
        double x = widen(a[static_cast<size_t>(i * k + j)]);
        for (size_t l = 0; l < sums.size(); ++l) {
          double term = x * widen(b[static_cast<size_t>(j * n) + l]);
          sums[l] += term;
          sizes[l] += std::fabs(term);
        }
      }
      for (size_t l = 0; l < sums.size(); ++l) {
        size_t at = static_cast<size_t>(i) * sums.size() + l;
        double got = shape.halfAccumulators
                         ? ampc_f16_to_f64(static_cast<uint16_t *>(c)[at])
                         : static_cast<double>(static_cast<float *>(c)[at]);
        double error = std::fabs(got - sums[l]) / sizes[l];
        worst = error <= worst ? worst : error; // a NaN stays
      }
    }
  }

  std::unique_ptr<Program> program;
  std::unique_ptr<Device> device;
  void *c = nullptr;
  bool isBf16 = false;
  double worst = 0, seconds = 0;
};

TEST_F(GemmTest, Ampere) {
  GemmShape shape;
  ASSERT_NO_FATAL_FAILURE(build(ampereGemm(shape), 80));
  EXPECT_EQ(program->assemble(), "");
  ASSERT_NO_FATAL_FAILURE(run(shape, 128, 128, 160));
  EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
  EXPECT_LE(worst, 0x1p-20);
  EXPECT_EQ(device->report.counters().bankConflicts, 0u);
  EXPECT_EQ(device->report.counters().matrixOps, 128u * 128 * 160 / 2048);
}

TEST_F(GemmTest, AmpereIsTheSameInAnyOrder) {
  GemmShape shape;
  ASSERT_NO_FATAL_FAILURE(build(ampereGemm(shape), 80));
  ASSERT_NO_FATAL_FAILURE(run(shape, 128, 64, 128));
  std::vector<float> first(static_cast<float *>(c),
                           static_cast<float *>(c) + 128 * 64);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    device->options.seed = seed;
    device->options.shuffleBlocks = true;
    device->options.hostThreads = 2;
    ASSERT_NO_FATAL_FAILURE(run(shape, 128, 64, 128));
    EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
    EXPECT_EQ(memcmp(first.data(), c, first.size() * sizeof(float)), 0);
  }
}

TEST_F(GemmTest, AmpereBf16) {
  GemmShape shape;
  shape.bf16 = true;
  shape.stages = 4;
  ASSERT_NO_FATAL_FAILURE(build(ampereGemm(shape), 80, true));
  EXPECT_EQ(program->assemble(), "");
  ASSERT_NO_FATAL_FAILURE(run(shape, 64, 128, 96));
  EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
  EXPECT_LE(worst, 0x1p-20);
}

TEST_F(GemmTest, Turing) {
  GemmShape shape;
  ASSERT_NO_FATAL_FAILURE(build(turingGemm(shape), 75));
  EXPECT_EQ(program->assemble(), "");
  ASSERT_NO_FATAL_FAILURE(run(shape, 128, 64, 96));
  EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
  EXPECT_LE(worst, 0x1p-20);
}

TEST_F(GemmTest, TuringHalfAccumulators) {
  GemmShape shape;
  shape.halfAccumulators = true;
  ASSERT_NO_FATAL_FAILURE(build(turingGemm(shape), 75));
  EXPECT_EQ(program->assemble(), "");
  ASSERT_NO_FATAL_FAILURE(run(shape, 64, 64, 64));
  EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
  EXPECT_LE(worst, 0x1p-10);
}

/// The figure that the simulator is measured by; AMPC_SIM_BENCH prints it. It
/// takes half a second of one core.
TEST_F(GemmTest, Speed) {
  GemmShape shape;
  shape.rows = shape.columns = 128;
  ASSERT_NO_FATAL_FAILURE(build(ampereGemm(shape), 80));
  ASSERT_NO_FATAL_FAILURE(run(shape, 512, 512, 512));
  EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
  double checked = seconds;
  device->options.checks = false;
  ASSERT_NO_FATAL_FAILURE(run(shape, 512, 512, 512));
  RecordProperty("checked_ms", static_cast<int>(checked * 1000));
  EXPECT_LT(checked, isSanitized ? 20 : 2);
  if (getenv("AMPC_SIM_BENCH")) {
    printf("512^3: %.3f s checked, %.3f s unchecked\n", checked, seconds);
  }
}

//===----------------------------------------------------------------------===//
// Planted faults
//===----------------------------------------------------------------------===//

struct Planted {
  Bug bug;
  Fault fault;
  const char *site, *words;
};

class PlantedAmpere : public GemmTest,
                      public testing::WithParamInterface<Planted> {};

TEST_P(PlantedAmpere, IsFound) {
  const Planted &planted = GetParam();
  GemmShape shape;
  ASSERT_NO_FATAL_FAILURE(build(ampereGemm(shape, planted.bug), 80));
  ASSERT_NO_FATAL_FAILURE(run(shape, 64, 64, 128));
  EXPECT_TRUE(
      found(device->report, planted.fault, planted.site, planted.words));
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, PlantedAmpere,
    testing::Values(
        Planted{Bug::noBarrierBeforeUse, Fault::missingWait, "ldmatrix",
                "no cp.async.wait_group there and barrier after it"},
        Planted{Bug::noBarrierAfterUse, Fault::sharedRace, "ldmatrix",
                "races with a read"},
        Planted{Bug::noWait, Fault::missingWait, "ldmatrix",
                "which cp.async of thread"},
        Planted{Bug::waitTooLate, Fault::missingWait, "ldmatrix",
                "which cp.async of thread"},
        Planted{Bug::stageTooFew, Fault::sharedRace, "cp.async", "races with"},
        Planted{Bug::rowTooFar, Fault::outOfBounds, "cp.async", "reaches A + "},
        Planted{Bug::sharedRowTooFar, Fault::outOfBounds, "cp.async",
                "reach outside of its variables"},
        Planted{Bug::narrowAlignment, Fault::misaligned, "cp.async", ""},
        Planted{Bug::unwrittenTail, Fault::uninitialized, "ldmatrix",
                "which nothing has written"},
        Planted{Bug::divergentBarrier, Fault::divergence, "barrier", ""},
        Planted{Bug::uninitializedOutput, Fault::uninitialized, "load",
                "which nothing has written"}));

/// Wrong layouts are no faults of synchronisation: the numbers tell.
TEST_F(GemmTest, WrongLayoutsGiveWrongNumbers) {
  for (Bug bug : {Bug::swappedLanes, Bug::notTransposed}) {
    GemmShape shape;
    ASSERT_NO_FATAL_FAILURE(build(ampereGemm(shape, bug), 80));
    ASSERT_NO_FATAL_FAILURE(run(shape, 64, 64, 64));
    EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
    EXPECT_GT(worst, 0.01);
  }
}

class PlantedTuring : public GemmTest,
                      public testing::WithParamInterface<Planted> {};

TEST_P(PlantedTuring, IsFound) {
  const Planted &planted = GetParam();
  GemmShape shape;
  ASSERT_NO_FATAL_FAILURE(build(turingGemm(shape, planted.bug), 75));
  ASSERT_NO_FATAL_FAILURE(run(shape, 64, 64, 64));
  EXPECT_TRUE(
      found(device->report, planted.fault, planted.site, planted.words));
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, PlantedTuring,
    testing::Values(Planted{Bug::noBarrierBeforeUse, Fault::sharedRace,
                            "ldmatrix", "races with a write by thread"},
                    Planted{Bug::noBarrierAfterUse, Fault::sharedRace, "store",
                            "races with a read by thread"},
                    Planted{Bug::divergentMatrix, Fault::divergence, "ldmatrix",
                            ""}));

} // namespace
