//===- ContractionPlanTest.cpp - The forms of contractions' kernels -------===//
// Every tile of the table computes the right thing, in one part and in several,
// and ptxas keeps it in registers; and the model chooses what it should.
#include "compiler/Targets/CUDA/Contraction/ContractionPlan.h"
#include "compiler/Targets/CUDA/Assembler.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/Cuda/KernelRun.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ampc::test {
namespace {

using cuda::ProductKind;
using cuda::TileShape;

const CudaArchitecture &find(const char *name) {
  return **findCudaArchitecture(name);
}

/// What a rule and a tensor call the operands of a product.
struct TypeNames {
  const char *rule, *tensor, *sum, *mode;
};
TypeNames namesOf(ProductKind kind) {
  switch (kind) {
  case ProductKind::Mma16:
    return {"f16", "f16", "f32", "ieee"};
  case ProductKind::Tf32:
    return {"tf32", "f32", "f32", "tf32"};
  case ProductKind::Fma32:
    return {"f32", "f32", "f32", "ieee"};
  case ProductKind::Fma64:
    return {"f64", "f64", "f64", "ieee"};
  }
  llvm_unreachable("a kind of product");
}

struct TileCase {
  ProductKind kind;
  TileShape tile;

  std::string name() const {
    return llvm::formatv("{0}_{1}x{2}x{3}", namesOf(kind).rule, tile.m, tile.n,
                         tile.k);
  }
};

void PrintTo(const TileCase &test, std::ostream *os) { *os << test.name(); }

ContractionRule ruleOf(const TileCase &test, int64_t split) {
  ContractionRule rule;
  rule.type = namesOf(test.kind).rule;
  rule.tile = {test.tile.m, test.tile.n, test.tile.k};
  rule.split = split;
  return rule;
}

/// m x k by k x n, and an activation, so that there is an epilogue.
std::string kernelOf(ProductKind kind, int64_t m, int64_t n, int64_t k,
                     bool transposed) {
  TypeNames names = namesOf(kind);
  std::string a = llvm::formatv("tensor<{0}x{1}x{2}>", transposed ? k : m,
                                transposed ? m : k, names.tensor);
  std::string b = llvm::formatv("tensor<{0}x{1}x{2}>", transposed ? n : k,
                                transposed ? k : n, names.tensor);
  std::string y = llvm::formatv("tensor<{0}x{1}x{2}>", m, n, names.sum);
  return llvm::formatv(
      "(%a: {0}, %b: {1}) -> {2} {{\n"
      "  %0 = amp.matmul %a, %b {{{3}amp.fp32_contractions = \"{4}\"} : ({0}, "
      "{1}) -> {2}\n"
      "  %1 = amp.relu %0 : ({2}) -> {2}\n"
      "  amp.yield %1 : {2}\n}",
      a, b, y, transposed ? "transpose_lhs, transpose_rhs, " : "", names.mode);
}

std::vector<TileCase> allTiles() {
  std::vector<TileCase> all;
  for (ProductKind kind : {ProductKind::Mma16, ProductKind::Tf32,
                           ProductKind::Fma32, ProductKind::Fma64}) {
    for (const TileShape &tile : cuda::getTiles(kind)) {
      all.push_back({kind, tile});
    }
  }
  return all;
}

class ContractionTile : public testing::TestWithParam<TileCase> {};

/// Two tiles each way, the second of them an edge; parts of unequal depth.
TEST_P(ContractionTile, Computes) {
  const TileCase &test = GetParam();
  double tolerance = test.kind == ProductKind::Tf32    ? 2e-3
                     : test.kind == ProductKind::Fma64 ? 1e-14
                                                       : 1e-5;
  for (auto [split, transposed] : {std::pair(1, false), std::pair(3, true)}) {
    const TileShape &tile = test.tile;
    ShippedKernel kernel(
        kernelOf(test.kind, tile.m + 8, tile.n + 8, tile.k * 4 + 8, transposed),
        "sm_80", ruleOf(test, split));
    ASSERT_TRUE(kernel.isReady());
    EXPECT_EQ(kernel.launch().grid[0], 4u * split);
    EXPECT_EQ(kernel.launch().workspaceBytes != 0, split > 1);
    ShippedKernel::Run run = kernel.run(kernel.code());
    ASSERT_EQ(run.program->error(), "");
    EXPECT_TRUE(run.device->report.clean())
        << run.device->report.text().c_str();
    EXPECT_LE(run.error, tolerance);
  }
}

/// ptxas says so, where there is one.
TEST_P(ContractionTile, DoesNotSpill) {
  const TileCase &test = GetParam();
  for (const char *name : {"sm_75", "sm_80", "sm_86", "sm_90"}) {
    const CudaArchitecture &architecture = find(name);
    int64_t stages = architecture.hasAsyncCopy() ? 3 : 2;
    bool exists = (test.kind != ProductKind::Tf32 || architecture.hasTf32) &&
                  test.tile.sharedBytes(stages, test.kind) <=
                      architecture.getSharedBytes();
    if (!exists || !cuda::canAssemble()) {
      continue;
    }
    ShippedKernel kernel(
        kernelOf(test.kind, 4 * test.tile.m, 4 * test.tile.n, 1024, false),
        name, ruleOf(test, 1));
    ASSERT_TRUE(kernel.isReady());
    EXPECT_EQ(kernel.launch().grid[0], 16u);
    std::string error;
    auto assembly = cuda::assemble(kernel.writePtx(), architecture, error);
    ASSERT_TRUE(succeeded(assembly)) << error;
    EXPECT_EQ(assembly->spillStoreBytes, 0u) << name;
    EXPECT_EQ(assembly->spillLoadBytes, 0u) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ContractionTile, testing::ValuesIn(allTiles()),
                         [](const auto &info) { return info.param.name(); });

cuda::ContractionPlan plan(cuda::GemmSize size, const char *architecture,
                           ProductKind kind = ProductKind::Mma16) {
  const CudaArchitecture &found = find(architecture);
  return cuda::planContraction(size, kind, namesOf(kind).rule, found,
                               found.hasAsyncCopy(), {});
}

TEST(ContractionPlan, LargeProductsTakeLargeTiles) {
  for (const char *name : {"sm_75", "sm_80", "sm_86", "sm_90a"}) {
    auto chosen = plan({1, 4096, 4096, 4096}, name);
    EXPECT_GE(chosen.tile.m * chosen.tile.n, 128 * 128) << name;
    EXPECT_EQ(chosen.split, 1) << name;
    EXPECT_EQ(chosen.stages > 2, find(name).hasAsyncCopy()) << name;
  }
}

TEST(ContractionPlan, DeepProductsOfFewTilesAreSplit) {
  for (const char *name : {"sm_75", "sm_80", "sm_90a"}) {
    auto chosen = plan({1, 128, 128, 65536}, name);
    EXPECT_GE(chosen.split, 4) << name;
    EXPECT_EQ(plan({1, 128, 128, 64}, name).split, 1) << name;
  }
}

TEST(ContractionPlan, FewRowsTakeLowTiles) {
  EXPECT_LE(plan({1, 1, 4096, 4096}, "sm_80").tile.m, 32);
  EXPECT_LE(plan({1, 4096, 8, 4096}, "sm_80").tile.n, 32);
}

TEST(ContractionPlan, EveryPlanFits) {
  for (const CudaArchitecture &architecture : getCudaArchitectures()) {
    if (architecture.major * 10 + architecture.minor < oldestCudaCapability) {
      continue;
    }
    for (ProductKind kind : {ProductKind::Mma16, ProductKind::Tf32,
                             ProductKind::Fma32, ProductKind::Fma64}) {
      if (kind == ProductKind::Tf32 && !architecture.hasTf32) {
        continue;
      }
      for (int64_t size : {1, 7, 64, 1000, 5000}) {
        auto chosen =
            plan({1, size, size, size}, architecture.name.data(), kind);
        EXPECT_LE(chosen.tile.sharedBytes(chosen.stages, kind),
                  architecture.getSharedBytes());
        EXPECT_LE(chosen.split, chosen.steps({1, size, size, size}));
      }
    }
  }
}

TEST(ContractionPlan, ARuleGoesFirst) {
  ContractionRule rule;
  rule.type = "f16";
  rule.n = 512;
  rule.tile = {64, 64, 64};
  rule.stages = 4;
  rule.split = 2;
  auto planned = [&](int64_t n) {
    return cuda::planContraction({1, 512, n, 512}, ProductKind::Mma16, "f16",
                                 find("sm_80"), true, rule);
  };
  auto chosen = planned(512);
  EXPECT_EQ(chosen.tile.k, 64);
  EXPECT_EQ(chosen.stages, 4);
  EXPECT_EQ(chosen.split, 2);
  EXPECT_NE(planned(1024).split, 2);
}

} // namespace
} // namespace ampc::test
