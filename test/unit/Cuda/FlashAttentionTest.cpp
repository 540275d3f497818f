//===- FlashAttentionTest.cpp - Attention on tensor cores -----------------===//
// Each case runs as on Turing (loads through registers), Ampere (cp.async) and
// Hopper, with all detectors on, against the reference evaluator in float64.
#include "test/unit/Cuda/KernelRun.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ampc::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Arguments = MutableArrayRef<ref::Tensor>;

struct Case {
  std::string name;
  int64_t batch, heads, keyHeads, queries, keys, depth, width;
  std::string attributes = "scale = 0.25 : f64, causal = false";
  std::string mask = {}; ///< its tensor type, if there is one
  std::string element = "f16";
  std::function<void(Arguments)> prepare = {};
  double tolerance = 2e-3;

  std::string kernel() const;
};

std::string shapeOf(ArrayRef<int64_t> sizes, StringRef element) {
  std::string text = "tensor<";
  for (int64_t size : sizes) {
    text += std::to_string(size) + "x";
  }
  return text + element.str() + ">";
}

std::string Case::kernel() const {
  std::string q = shapeOf({batch, heads, queries, depth}, element);
  std::string k = shapeOf({batch, keyHeads, keys, depth}, element);
  std::string v = shapeOf({batch, keyHeads, keys, width}, element);
  std::string y = shapeOf({batch, heads, queries, width}, "f32");
  std::string argument = mask.empty() ? "" : ", %m: " + mask;
  return llvm::formatv(R"((%q: {0}, %k: {1}, %v: {2}{3}) -> {4} {{
       %0 = amp.attention %q, %k, %v{5} {{{6}} : ({0}, {1}, {2}{7}) -> {4}
       amp.yield %0 : {4}
     })",
                       q, k, v, argument, y, mask.empty() ? "" : ", %m",
                       attributes, mask.empty() ? "" : ", " + mask)
      .str();
}

void PrintTo(const Case &test, std::ostream *os) { *os << test.name; }

const char uncut[] = "scale = 0.25 : f64, causal = false";
const char causal[] = "scale = 0.25 : f64, causal = true";
const char causalToEnd[] =
    "scale = 0.25 : f64, causal = true, causal_align_end = true";
const char capped[] = "scale = 0.5 : f64, causal = false, softcap = 1.5 : f64";

/// Element `n` of argument `number` becomes `value`.
std::function<void(Arguments)> poke(unsigned number, int64_t n, double value) {
  return [=](Arguments arguments) {
    overwrite(arguments[number], [&](int64_t i) {
      return i == n ? std::optional(value) : std::nullopt;
    });
  };
}

/// A float mask of zeros and, where `hides`, the lowest number.
std::function<void(Arguments)> hide(double value,
                                    std::function<bool(int64_t)> hides) {
  return [=](Arguments arguments) {
    overwrite(arguments[3], [&](int64_t i) -> std::optional<double> {
      return hides(i) ? value : 0;
    });
  };
}

std::vector<Case> makeCases() {
  std::vector<Case> cases = {
      {"one_tile", 1, 1, 1, 64, 64, 64, 64},
      {"many_blocks", 2, 48, 48, 128, 128, 64, 64},
      {"one_query", 1, 2, 2, 1, 77, 64, 64},
      {"few_queries", 1, 2, 2, 17, 200, 32, 32},
      {"one_key", 1, 1, 1, 5, 1, 16, 16},
      {"odd_sizes", 2, 3, 3, 33, 67, 64, 64},
      {"depth_not_of_16", 1, 2, 2, 20, 40, 40, 56},
      {"depth_of_20", 1, 2, 2, 20, 40, 20, 12},
      {"depth_of_7", 1, 2, 2, 20, 19, 7, 5},
      {"depth_1", 1, 1, 1, 3, 9, 1, 1, uncut, "", "f16", {}, 5e-3},
      {"depth_80", 1, 2, 2, 70, 70, 80, 80},
      {"depth_96", 1, 2, 2, 20, 70, 96, 96},
      {"depth_128", 1, 2, 2, 70, 130, 128, 128},
      {"depth_128_in_many_blocks", 1, 96, 96, 72, 64, 128, 128},
      {"depth_160", 1, 1, 1, 70, 40, 160, 160},
      {"depth_256", 1, 2, 2, 70, 70, 256, 256},
      {"depth_256_in_many_blocks", 1, 96, 96, 72, 32, 256, 256},
      {"width_above_depth", 1, 2, 2, 40, 70, 32, 128},
      {"width_below_depth", 1, 2, 2, 40, 70, 128, 24},
      {"grouped_heads", 2, 6, 2, 40, 70, 32, 32},
      {"causal", 1, 2, 2, 200, 200, 64, 64, causal},
      {"causal_in_many_blocks", 2, 48, 48, 200, 200, 16, 16, causal},
      {"causal_with_more_keys", 1, 2, 2, 70, 150, 32, 32, causal},
      {"causal_to_the_end", 1, 2, 2, 70, 150, 32, 32, causalToEnd},
      // The first queries see no key.
      {"causal_with_more_queries", 1, 2, 2, 150, 70, 32, 32, causalToEnd},
      {"negative_scale", 1, 1, 1, 20, 70, 32, 32,
       "scale = -0.7 : f64, causal = false"},
      {"large_scale", 1, 1, 1, 20, 70, 32, 32,
       "scale = 30.0 : f64, causal = false"},
      {"softcap", 1, 2, 2, 40, 70, 32, 32, capped},
      {"boolean_mask", 1, 2, 2, 40, 70, 32, 32, causal, "tensor<40x70xi1>"},
      {"boolean_mask_of_odd_size", 1, 2, 2, 40, 71, 32, 32, causal,
       "tensor<1x2x40x71xi1>"},
      {"float_mask", 2, 2, 2, 40, 70, 32, 32, capped, "tensor<2x1x40x70xf32>"},
      {"float_mask_of_keys", 2, 2, 2, 70, 72, 64, 64, uncut,
       "tensor<2x1x1x72xf32>", "f16",
       hide(-3.4028234663852886e38, [](int64_t i) { return i % 72 > 50; })},
      {"float_mask_of_queries", 1, 2, 2, 40, 70, 32, 32, capped,
       "tensor<40x1xf32>"},
      {"half_mask", 1, 2, 2, 40, 71, 32, 32, capped, "tensor<40x71xf16>"},
      // Nothing is left of some rows: of all by the lowest number, which leaves
      // what was; by minus infinity, which leaves zeros.
      {"lowest_everywhere", 1, 1, 1, 40, 70, 32, 32,
       "scale = 0.0 : f64, causal = false", "tensor<1x1x40x70xf32>", "f16",
       hide(-3.4028234663852886e38, [](int64_t) { return true; })},
      {"rows_of_nothing", 1, 1, 1, 40, 140, 32, 32, causal,
       "tensor<40x140xf32>", "f16",
       hide(-infinity, [](int64_t i) { return i / 140 % 3 == 0; })},
      {"first_keys_hidden", 1, 1, 1, 40, 140, 32, 32, uncut,
       "tensor<40x140xf32>", "f16",
       hide(-infinity, [](int64_t i) { return i % 140 < 100; })},
      {"nan_in_a_query", 1, 1, 1, 40, 70, 32, 32, causal, "", "f16",
       poke(0, 32 * 7 + 5, NAN)},
      {"nan_in_a_key", 1, 1, 1, 40, 70, 32, 32, uncut, "", "f16",
       poke(1, 32 * 69 + 5, NAN)},
      {"nan_in_a_later_value", 1, 1, 1, 40, 70, 32, 32, uncut, "", "f16",
       poke(2, 32 * 69 + 5, NAN)},
      {"infinite_key", 1, 1, 1, 40, 70, 32, 32, uncut, "", "f16",
       poke(1, 32 * 69 + 5, infinity)},
      {"infinite_value", 1, 1, 1, 40, 70, 32, 32, uncut, "", "f16",
       poke(2, 32 * 3 + 5, -infinity)},
  };
  Case brain{"bf16", 1, 2, 2, 40, 70, 64, 64, causal};
  brain.element = "bf16";
  brain.tolerance = 1e-2;
  cases.push_back(brain);
  brain.name = "bf16_of_odd_size";
  brain.depth = brain.width = 36;
  brain.mask = "tensor<40x70xf32>";
  cases.push_back(brain);
  return cases;
}

const std::vector<Case> cases = makeCases();

class FlashAttention : public testing::TestWithParam<Case> {};
class TuringFlashAttention : public FlashAttention {};

/// Whether the kernel has an instruction whose intrinsic begins with `name`.
bool uses(const ShippedKernel &kernel, StringRef name) {
  return llvm::any_of(kernel.code(), [&](const llvm::Function &function) {
    return function.getName().starts_with(name);
  });
}

void check(const ShippedKernel &kernel, double tolerance) {
  ASSERT_TRUE(kernel.isReady());
  ShippedKernel::Run run = kernel.run(kernel.code());
  ASSERT_EQ(run.program->error(), "");
  EXPECT_EQ(kernel.assemble(), "");
  EXPECT_TRUE(run.device->report.clean()) << run.device->report.text().c_str();
  EXPECT_LE(run.error, tolerance);
  EXPECT_TRUE(uses(kernel, "llvm.nvvm.mma."));
  // Every row of the tiles is read without a conflict of banks.
  EXPECT_EQ(run.device->report.counters().bankConflicts, 0u);
}

void run(const Case &test, const char *architecture) {
  auto prepare = [&](Arguments arguments) {
    if (test.prepare) {
      test.prepare(arguments);
    }
  };
  check(ShippedKernel(test.kernel(), architecture, {}, prepare),
        test.tolerance);
}

TEST_P(TuringFlashAttention, OnTuring) { run(GetParam(), "sm_75"); }
TEST_P(FlashAttention, OnAmpere) { run(GetParam(), "sm_80"); }
TEST_P(FlashAttention, OnHopper) { run(GetParam(), "sm_90a"); }

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

std::vector<Case> casesForTuring() {
  std::vector<Case> chosen;
  llvm::copy_if(cases, std::back_inserter(chosen),
                [](const Case &test) { return test.element == "f16"; });
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(All, FlashAttention, testing::ValuesIn(cases), nameOf);
INSTANTIATE_TEST_SUITE_P(All, TuringFlashAttention,
                         testing::ValuesIn(casesForTuring()), nameOf);

/// Kernels around the op: what is fused before and behind it.
struct Fused {
  const char *name, *kernel;
  bool copies; ///< whether cp.async brings the keys and values
  double tolerance = 2e-3;
};

void PrintTo(const Fused &test, std::ostream *os) { *os << test.name; }

const Fused fused[] = {
    {"packed",
     R"((%a: tensor<2x40x192xf16>) -> tensor<2x40x64xf16> {
       %0 = amp.slice %a {sizes = array<i64: 2, 40, 64>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x40x192xf16>) -> tensor<2x40x64xf16>
       %1 = amp.slice %a {sizes = array<i64: 2, 40, 64>, starts = array<i64: 0, 0, 64>, strides = array<i64: 1, 1, 1>} : (tensor<2x40x192xf16>) -> tensor<2x40x64xf16>
       %2 = amp.slice %a {sizes = array<i64: 2, 40, 64>, starts = array<i64: 0, 0, 128>, strides = array<i64: 1, 1, 1>} : (tensor<2x40x192xf16>) -> tensor<2x40x64xf16>
       %3 = amp.reshape %0 : (tensor<2x40x64xf16>) -> tensor<2x40x2x32xf16>
       %4 = amp.reshape %1 : (tensor<2x40x64xf16>) -> tensor<2x40x2x32xf16>
       %5 = amp.reshape %2 : (tensor<2x40x64xf16>) -> tensor<2x40x2x32xf16>
       %q = amp.transpose %3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x40x2x32xf16>) -> tensor<2x2x40x32xf16>
       %k = amp.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x40x2x32xf16>) -> tensor<2x2x40x32xf16>
       %v = amp.transpose %5 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x40x2x32xf16>) -> tensor<2x2x40x32xf16>
       %6 = amp.attention %q, %k, %v {scale = 0.25 : f64, causal = true} : (tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>, tensor<2x2x40x32xf16>) -> tensor<2x2x40x32xf32>
       %7 = amp.transpose %6 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x40x32xf32>) -> tensor<2x40x2x32xf32>
       %8 = amp.reshape %7 : (tensor<2x40x2x32xf32>) -> tensor<2x40x64xf32>
       %9 = amp.cast %8 : (tensor<2x40x64xf32>) -> tensor<2x40x64xf16>
       amp.yield %9 : tensor<2x40x64xf16>
     })",
     true},
    // The keys come transposed, element by element.
    {"transposed_keys",
     R"((%q: tensor<1x2x40x32xf16>, %a: tensor<1x2x32x50xf16>, %v: tensor<1x2x50x32xf16>) -> tensor<1x2x40x32xf32> {
       %k = amp.transpose %a {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x2x32x50xf16>) -> tensor<1x2x50x32xf16>
       %0 = amp.attention %q, %k, %v {scale = 0.25 : f64, causal = false} : (tensor<1x2x40x32xf16>, tensor<1x2x50x32xf16>, tensor<1x2x50x32xf16>) -> tensor<1x2x40x32xf32>
       amp.yield %0 : tensor<1x2x40x32xf32>
     })",
     true},
    // Nothing can be copied as it is.
    {"computed_operands",
     R"((%a: tensor<1x2x40x32xf32>, %b: tensor<1x2x50x32xf32>, %c: tensor<1x2x50x32xf16>, %m: tensor<50xi1>) -> tensor<1x2x40x32xf16> {
       %q = amp.cast %a : (tensor<1x2x40x32xf32>) -> tensor<1x2x40x32xf16>
       %k = amp.cast %b : (tensor<1x2x50x32xf32>) -> tensor<1x2x50x32xf16>
       %v = amp.relu %c : (tensor<1x2x50x32xf16>) -> tensor<1x2x50x32xf16>
       %0 = amp.attention %q, %k, %v, %m {scale = 0.25 : f64, causal = false} : (tensor<1x2x40x32xf16>, tensor<1x2x50x32xf16>, tensor<1x2x50x32xf16>, tensor<50xi1>) -> tensor<1x2x40x32xf32>
       %1 = amp.relu %0 : (tensor<1x2x40x32xf32>) -> tensor<1x2x40x32xf32>
       %2 = amp.cast %1 : (tensor<1x2x40x32xf32>) -> tensor<1x2x40x32xf16>
       amp.yield %2 : tensor<1x2x40x32xf16>
     })",
     false},
};

class FusedFlashAttention : public testing::TestWithParam<Fused> {};

TEST_P(FusedFlashAttention, InTheSimulator) {
  for (const char *architecture : {"sm_75", "sm_80"}) {
    ShippedKernel kernel(GetParam().kernel, architecture);
    check(kernel, GetParam().tolerance);
    EXPECT_EQ(uses(kernel, "llvm.nvvm.cp.async.cg.shared.global.16"),
              GetParam().copies && StringRef(architecture) != "sm_75");
  }
}

INSTANTIATE_TEST_SUITE_P(All, FusedFlashAttention, testing::ValuesIn(fused),
                         [](const testing::TestParamInfo<Fused> &info) {
                           return info.param.name;
                         });

} // namespace
} // namespace ampc::test
