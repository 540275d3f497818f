//===- WgmmaPlantTest.cpp - Faults planted into kernels of wgmma ----------===//
// Each row plants one fault at all of its sites; a detector of the simulator
// must find it and name the place.
#include "test/unit/Cuda/KernelRun.h"
#include "test/unit/Cuda/Plants.h"

#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace ampc::test {
namespace {

using sim::Fault;

// Twelve slices, through a ring of six stages.
const char *const product =
    R"((%a: tensor<64x712xf16>, %b: tensor<712x64xf16>) -> tensor<64x64xf16> {
       %0 = amp.matmul %a, %b : (tensor<64x712xf16>, tensor<712x64xf16>) -> tensor<64x64xf32>
       %1 = amp.cast %0 : (tensor<64x64xf32>) -> tensor<64x64xf16>
       amp.yield %1 : tensor<64x64xf16>
     })";
const char *const conv =
    R"((%x: tensor<1x9x9x72xf16>, %s: tensor<40x3x3x72xf16>) -> tensor<1x9x9x40xf32> {
       %w = amp.transpose %s {permutation = array<i64: 0, 3, 1, 2>} : (tensor<40x3x3x72xf16>) -> tensor<40x72x3x3xf16>
       %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>} : (tensor<1x9x9x72xf16>, tensor<40x72x3x3xf16>) -> tensor<1x9x9x40xf32>
       amp.yield %0 : tensor<1x9x9x40xf32>
     })";

struct Row {
  const char *kernel;
  Plant plant;
  Fault fault;
  std::string site; ///< a part of the text of the site that is named
  std::string words = "";
};

void PrintTo(const Row &row, std::ostream *os) { *os << row.plant.name; }

std::function<int64_t(int64_t)> only(int64_t from, int64_t to) {
  return [=](int64_t value) { return value == from ? to : value; };
}
int64_t oneMore(int64_t value) { return value + 1; }

std::vector<Row> rows() {
  const char *waitGroup = "wgmma.wait_group.sync.aligned";
  return {
      {product, dropCall("NoWgmmaFence", "wgmma.fence"), Fault::missingFence,
       "wgmma.mma_async", "no wgmma.fence"},
      {product, changeOperand("StageReleasedEarly", waitGroup, 0, only(1, 2)),
       Fault::missingWait, "g2s.tile.2d", "may still be reading"},
      {product, changeOperand("SumsUsedEarly", waitGroup, 0, only(0, 1)),
       Fault::missingWait, "wgmma.mma_async", "not waited for"},
      {product,
       changeOperand("FewerBytes", "mbarrier.arrive.expect.tx", 1,
                     [](int64_t bytes) { return bytes - 16; }),
       Fault::barrierMisuse, "g2s.tile.2d", "fewer bytes are expected"},
      {product,
       changeOperand("MoreBytes", "mbarrier.arrive.expect.tx", 1,
                     [](int64_t bytes) { return bytes + 16; }),
       Fault::deadlock, "mbarrier.try.wait"},
      {product, changeOperand("MoreArrivals", "mbarrier.init", 1, oneMore),
       Fault::deadlock, "mbarrier.try.wait"},
      {product, dropCall("NoBarrierAfterInit", "barrier.cta.sync"),
       Fault::sharedRace, "mbarrier", "races with its initialisation"},
      {product, dropCall("NoWarpBarrier", "bar.warp.sync"), Fault::sharedRace,
       "shared"},
      {conv, dropCall("NoProxyFence", "fence.proxy.async"), Fault::missingFence,
       "cp.async"},
      {conv,
       changeOperand("CopiesNotWaitedFor", "cp.async.wait.group", 0, oneMore),
       Fault::missingWait, "cp.async"},
  };
}

class PlantedInWgmma : public testing::TestWithParam<Row> {};

TEST_P(PlantedInWgmma, IsCaught) {
  const Row &row = GetParam();
  ShippedKernel kernel(row.kernel, "sm_90a", useTile({64, 64, 64}));
  ASSERT_TRUE(kernel.isReady());
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(kernel.code());
  llvm::Function &function = *copy->getFunction("k_k");
  auto sites = row.plant.sites(function);
  ASSERT_FALSE(sites.empty()) << "the kernel has no site for this fault";
  for (llvm::Instruction *site : sites) {
    row.plant.apply(*site);
  }
  ASSERT_FALSE(llvm::verifyModule(*copy));
  ShippedKernel::Run run = kernel.run(*copy);
  ASSERT_TRUE(run.device) << run.program->error();
  EXPECT_TRUE(found(run.device->report, row.fault, row.site, row.words))
      << run.device->report.text().c_str();
}

std::string nameOf(const testing::TestParamInfo<Row> &info) {
  return info.param.plant.name;
}

INSTANTIATE_TEST_SUITE_P(All, PlantedInWgmma, testing::ValuesIn(rows()),
                         nameOf);

} // namespace
} // namespace ampc::test
