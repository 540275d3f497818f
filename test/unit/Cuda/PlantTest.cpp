//===- PlantTest.cpp - Faults planted into shipped kernels are found ------===//
//
// Each row plants one kind of fault into the code of a kernel, at one site
// after the other. A detector of the simulator must find it and name the place,
// or the result must differ from the reference. The same kernel without the
// fault runs clean. A row whose plant finds no site fails, so that it cannot
// rot.
//
//===----------------------------------------------------------------------===//
#include "test/unit/Cuda/KernelRun.h"
#include "test/unit/Cuda/PlantedKernels.h"
#include "test/unit/Cuda/Plants.h"

#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <optional>

namespace ampc::test {
namespace {

using sim::Fault;
using namespace planted;

constexpr double tolerance = 2e-3;

/// How a planted fault must show.
struct Caught {
  /// Of these, one must be found; empty: the result differs.
  std::vector<Fault> faults;
  /// A part of the text of the site that is named.
  std::string site = "";
};
const Caught numerics = {};

/// Where a row plants its fault.
enum class Sites {
  some, ///< at three that are spread over all, one after the other
  each, ///< at all, one after the other
  all,  ///< at all at once: one alone does no harm where a later step, or the
        ///< other operand, makes up for it
};

struct Row {
  PlantedKernel kernel;
  const char *architecture;
  Plant plant;
  Caught caught;
  Sites sites = Sites::some;
};

void PrintTo(const Row &row, std::ostream *os) { *os << row.plant.name; }

std::string textOf(const llvm::Instruction &instruction) {
  std::string text;
  llvm::raw_string_ostream os(text);
  instruction.print(os);
  return text;
}

/// Whether what `run` found is what the row asks for.
testing::AssertionResult isCaught(const Row &row,
                                  const ShippedKernel::Run &run) {
  if (!run.device) {
    return testing::AssertionFailure() << run.program->error();
  }
  const sim::Report &report = run.device->report;
  if (row.caught.faults.empty()) {
    return run.error > tolerance || !report.clean()
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "the result is right";
  }
  for (Fault fault : row.caught.faults) {
    if (auto result = found(report, fault, row.caught.site, "kernel k_k")) {
      return result;
    }
  }
  return testing::AssertionFailure()
         << "not among the findings:\n"
         << report.text().c_str() << "error of the result " << run.error;
}

class Planted : public testing::TestWithParam<Row> {};

TEST_P(Planted, IsCaught) {
  const Row &row = GetParam();
  ShippedKernel kernel(row.kernel.text, row.architecture, row.kernel.rules());
  ASSERT_TRUE(kernel.isReady());
  ShippedKernel::Run right = kernel.run(kernel.code());
  ASSERT_TRUE(right.device) << right.program->error();
  EXPECT_TRUE(right.device->report.clean())
      << right.device->report.text().c_str();
  EXPECT_LE(right.error, tolerance);

  size_t count = 1;
  for (size_t i = 0; i < count; ++i) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(kernel.code());
    auto sites = row.plant.sites(*copy->getFunction("k_k"));
    ASSERT_FALSE(sites.empty()) << "the kernel has no site for this fault";
    count = row.sites == Sites::each   ? sites.size()
            : row.sites == Sites::some ? std::min<size_t>(sites.size(), 3)
                                       : 1;
    size_t first = i * sites.size() / count;
    std::string before = textOf(*sites[first]);
    for (llvm::Instruction *site : llvm::ArrayRef(sites).slice(
             first, row.sites == Sites::all ? sites.size() : size_t(1))) {
      row.plant.apply(*site);
    }
    std::string broken;
    llvm::raw_string_ostream os(broken);
    ASSERT_FALSE(llvm::verifyModule(*copy, &os)) << broken;
    EXPECT_TRUE(isCaught(row, kernel.run(*copy)))
        << "planted at site " << first << " of " << sites.size() << ":"
        << before;
  }
}

std::string nameOf(const testing::TestParamInfo<Row> &info) {
  std::string arch = info.param.architecture;
  return info.param.plant.name + "_" + info.param.kernel.name + "_" +
         arch.substr(3);
}

const std::string mma = "mma.m16n8k";
const std::string ldmatrix = "ldmatrix.sync.aligned.m8n8.x4";
const std::string barrier = "barrier.cta.sync.aligned.all";
const std::vector<Fault> race = {Fault::sharedRace, Fault::uninitialized,
                                 Fault::missingWait, Fault::globalRace};
const std::vector<Fault> bounds = {Fault::outOfBounds};

/// Of every kernel that multiplies 16-bit tiles with mma.sync.
std::vector<Row> mmaRows(const char *arch) {
  return {
      {stages, arch, dropCall("NoBarrier", barrier), {race}, Sites::each},
      {stages,
       arch,
       divergentBarrier(),
       {{Fault::divergence}, "barrier"},
       Sites::each},
      {stages, arch, swapOperands("SwappedRowsOfA", mma, 0, 1), numerics},
      {stages, arch, swapResults("SwappedRegisters", ldmatrix, 1, 2), numerics},
      {stages, arch, flipTransposition(), numerics},
      {stages, arch, uninitializedSums(), numerics},
      {stages, arch,
       changeAddress(AddressFault::unswizzled, Accesses::ldmatrix), numerics},
      {stages,
       arch,
       changeAddress(AddressFault::nextStage, Accesses::ldmatrix),
       {{Fault::sharedRace, Fault::missingWait, Fault::uninitialized},
        "ldmatrix"}},
      {stages,
       arch,
       changeAddress(AddressFault::misaligned, Accesses::ldmatrix),
       {{Fault::misaligned}, "ldmatrix"}},
      {edges, arch, looseEdge("LooseEdgeOfM", 35), {bounds}, Sites::all},
      {edges, arch, looseEdge("LooseEdgeOfN", 19), {bounds}, Sites::all},
      {edges, arch, looseEdge("LooseEdgeOfK", 50), {bounds}, Sites::all},
      {edges, arch, lostOperand("LostBias", 2), numerics},
      {batches, arch, wrongStride("WrongBatchOfA", 21 * 33), numerics},
      {batches, arch, wrongStride("WrongBatchOfB", 33 * 23), numerics},
      // The last stage lies beyond what the sums overwrite.
      {conv, arch, dropCall("NoBarrier", barrier), {race}, Sites::all},
      {conv, arch, lostOperand("LostBias", 2), numerics},
      {conv, arch, looseEdge("LooseEdgeOfM", 2 * 5 * 5), {bounds}, Sites::all},
  };
}

/// Where slices pass through registers.
std::vector<Row> registerRows(const char *arch) {
  return {
      {edges, arch, noZeroFill(), numerics, Sites::all},
      {stages,
       arch,
       changeAddress(AddressFault::unswizzled, Accesses::sharedStores),
       {race}},
      {stages,
       arch,
       changeAddress(AddressFault::nextStage, Accesses::sharedStores),
       {race, "store"}},
  };
}

/// Where cp.async copies slices.
std::vector<Row> asyncRows(const char *arch) {
  const std::vector<Fault> unwaited = {Fault::missingWait};
  auto more = [](int64_t groups) { return groups + 1; };
  std::vector<Row> rows = {
      {stages, arch, swapOperands("SwappedColumnsOfA", mma, 1, 2), numerics},
      {stages, arch, swapOperands("SwappedHalvesOfB", mma, 4, 5), numerics},
      {stages,
       arch,
       changeAddress(AddressFault::unswizzled, Accesses::asyncCopies),
       {{Fault::sharedRace, Fault::missingWait, Fault::uninitialized}}},
      {stages,
       arch,
       changeAddress(AddressFault::nextStage, Accesses::asyncCopies),
       {{Fault::sharedRace, Fault::missingWait}, "cp.async"}},
      {stages,
       arch,
       changeAddress(AddressFault::misaligned, Accesses::asyncCopies),
       {{Fault::misaligned}, "cp.async"}},
      {edges, arch, fullCopies(), {bounds, "cp.async"}, Sites::all},
      {tf32, arch, fullCopies(), {bounds, "cp.async"}, Sites::all},
      {tf32, arch, swapOperands("SwappedRowsOfA", mma, 0, 1), numerics},
      {tf32, arch, uninitializedSums(), numerics, Sites::all},
      {f32, arch, dropCall("NoBarrier", barrier), {race}, Sites::each},
      {f32, arch, fullCopies(), {bounds, "cp.async"}, Sites::all},
      {f32, arch, lostOperand("LostBias", 2), numerics},
  };
  for (const PlantedKernel &kernel : {stages, conv, tf32, f32}) {
    std::vector<Row> some = {
        {kernel, arch, dropCall("NoWait", "cp.async.wait"), {unwaited}},
        {kernel,
         arch,
         changeOperand("LateWait", "cp.async.wait.group", 0, more),
         {unwaited}},
        {kernel,
         arch,
         dropCall("NoCommit", "cp.async.commit"),
         {unwaited},
         Sites::all},
    };
    llvm::append_range(rows, some);
  }
  return rows;
}

/// Where bulk copies fill a ring of stages for wgmma.
std::vector<Row> wgmmaRows(const char *arch) {
  return {
      {ring,
       arch,
       flippedPhase(),
       {{Fault::deadlock, Fault::sharedRace, Fault::missingWait,
         Fault::uninitialized, Fault::barrierMisuse}},
       Sites::each},
      {ring,
       arch,
       noMbarrierWait(),
       {{Fault::sharedRace, Fault::missingWait, Fault::uninitialized,
         Fault::barrierMisuse}},
       Sites::each},
      {ring, arch, wrongSwizzle(), numerics},
      {ring, arch, swappedDescriptors(), numerics},
      {ring,
       arch,
       changeAddress(AddressFault::nextStage, Accesses::tensorCopies),
       {{Fault::sharedRace, Fault::missingWait, Fault::uninitialized,
         Fault::barrierMisuse}}},
      {ring,
       arch,
       changeAddress(AddressFault::misaligned, Accesses::tensorCopies),
       {{Fault::misaligned}, "g2s.tile.2d"}},
      {ring,
       arch,
       dropCall("NoArrival", "mbarrier.arrive.shared"),
       {{Fault::deadlock}, "mbarrier.try.wait"},
       Sites::all}, // the last one has nobody to tell
      {ring,
       arch,
       dropCall("NoWgmmaWait", "wgmma.wait_group"),
       {{Fault::missingWait}, "wgmma"},
       Sites::each},
      {ring,
       arch,
       dropCall("NoWgmmaCommit", "wgmma.commit_group"),
       {{Fault::missingWait}, "wgmma"}},
      {ring, arch, lostOperand("LostBias", 2), numerics},
  };
}

/// Where blocks add to the sums of others in order.
std::vector<Row> splitRows(const char *arch) {
  return {
      {deep, arch, unreadFlag(), {{Fault::globalRace}, "float"}, Sites::each},
      {deep,
       arch,
       relaxedAtomic(),
       {{Fault::globalRace}, "float"},
       Sites::each},
      // Two neighbours stand in for each other.
      {deep, arch, dropCall("NoBarrier", barrier), {race}, Sites::all},
  };
}

std::vector<Row> contractionRows() {
  std::vector<Row> rows;
  for (const auto &some :
       {mmaRows("sm_75"), registerRows("sm_75"), mmaRows("sm_80"),
        asyncRows("sm_80"), splitRows("sm_75"), splitRows("sm_80"),
        wgmmaRows("sm_90a")}) {
    llvm::append_range(rows, some);
  }
  return rows;
}

std::vector<Row> otherRows() {
  const char *arch = "sm_80";
  auto half = [](int64_t mask) { return mask / 2; };
  auto without31 = [](int64_t) { return int64_t(0x7fffffff); };
  const std::string shuffle = "shfl.sync.bfly";
  std::vector<Row> rows;
  for (const PlantedKernel &kernel : {longRows, attention}) {
    std::vector<Row> some = {
        {kernel, arch, dropCall("NoBarrier", barrier), {race}, Sites::each},
        {kernel,
         arch,
         divergentBarrier(),
         {{Fault::divergence}, "barrier"},
         Sites::each},
    };
    llvm::append_range(rows, some);
  }
  for (const PlantedKernel &kernel : {softmax, layerNorm, attention}) {
    std::vector<Row> some = {
        {kernel, arch, dropCall("NoShuffle", shuffle), numerics, Sites::each},
        {kernel, arch, changeOperand("WrongShuffle", shuffle, 2, half),
         numerics, Sites::each},
        {kernel,
         arch,
         changeOperand("WrongMembers", shuffle, 0, without31),
         {{Fault::invalidOperand}, "shfl"}},
    };
    llvm::append_range(rows, some);
  }
  std::vector<Row> some = {
      {softmax, arch, looseEdge("LooseEdgeOfRow", 2004), {bounds}, Sites::each},
      {layerNorm,
       arch,
       changeAddress(AddressFault::misaligned, Accesses::globalVectors),
       {{Fault::misaligned, Fault::outOfBounds}}},
      {map, arch, looseEdge("LooseEdgeOfMap", 5 * 37), {bounds}, Sites::each},
      {map, arch, lostOperand("LostFactor", 1), numerics},
  };
  llvm::append_range(rows, some);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Contractions, Planted,
                         testing::ValuesIn(contractionRows()), nameOf);
INSTANTIATE_TEST_SUITE_P(Others, Planted, testing::ValuesIn(otherRows()),
                         nameOf);

} // namespace
} // namespace ampc::test
