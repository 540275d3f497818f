//===- RowTest.cpp - Reductions, softmax and norms over rows --------------===//
// Rows of every length class: part of a warp, a warp, a block, and longer than
// its registers; and rows that lie across memory.
#include "test/unit/Cuda/KernelRun.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ampc::test {
namespace {

std::string typeOf(ArrayRef<int64_t> sizes, StringRef element) {
  std::string text = "tensor<";
  for (int64_t size : sizes) {
    text += std::to_string(size) + "x";
  }
  return text + element.str() + ">";
}

using Arguments = MutableArrayRef<ref::Tensor>;

struct Case {
  std::string name;
  std::string op; ///< with its attributes; {0} is the axis
  SmallVector<int64_t> shape;
  std::string element = "f32";
  double tolerance = 1e-6;
  std::string result = {}; ///< its type, if not that of the argument

  std::string kernel() const {
    std::string type = typeOf(shape, element);
    std::string made = result.empty() ? type : result;
    return llvm::formatv(R"((%a: {0}) -> {1} {{
         %0 = {2} : ({0}) -> {1}
         amp.yield %0 : {1}
       })",
                         type, made, op)
        .str();
  }
};

void PrintTo(const Case &test, std::ostream *os) { *os << test.name; }

std::vector<Case> makeCases() {
  std::vector<Case> cases;
  auto softmax = [](int64_t axis) {
    return "amp.softmax %a {axis = " + std::to_string(axis) + " : i64}";
  };
  auto reduce = [](StringRef op, StringRef axes, bool keep = false) {
    return ("amp.reduce_" + op + " %a {axes = array<i64: " + axes +
            ">, keepdims = " + (keep ? "true" : "false") + "}")
        .str();
  };
  for (int64_t length : {1, 2, 3, 5, 8, 17, 32, 36, 64, 100, 128, 131, 256, 768,
                         1000, 1024, 1027, 2048, 4096}) {
    // An odd number of rows leaves groups of threads without one.
    cases.push_back({"softmax_" + std::to_string(length),
                     softmax(1),
                     {length < 200 ? 1061 : 7, length}});
    cases.push_back({"log_softmax_in_f16_" + std::to_string(length),
                     "amp.log_softmax %a {axis = 1 : i64}",
                     {5, length},
                     "f16",
                     1e-3});
  }
  cases.push_back({"softmax_of_a_block", softmax(1), {3, 16384}});
  cases.push_back({"softmax_beyond_a_block", softmax(1), {2, 20001}});
  cases.push_back({"softmax_across", softmax(1), {3, 50, 36}});
  cases.push_back({"softmax_across_odd_rows", softmax(0), {50, 37}});
  cases.push_back({"softmax_across_few", softmax(0), {400, 4}, "f32", 1e-6});
  cases.push_back({"softmax_in_f64", softmax(1), {9, 77}, "f64", 1e-12});
  cases.push_back({"softmax_in_bf16", softmax(1), {9, 80}, "bf16", 1e-2});
  for (const char *op : {"sum", "mean", "max", "min", "prod"}) {
    std::string name = op;
    cases.push_back({name + "_of_rows",
                     reduce(op, "1"),
                     {301, 40},
                     "f32",
                     2e-6,

                     "tensor<301xf32>"});
    cases.push_back({name + "_of_columns",
                     reduce(op, "0"),
                     {333, 44},
                     "f32",
                     2e-6,

                     "tensor<44xf32>"});
    cases.push_back({name + "_of_all",
                     reduce(op, "0, 1"),
                     {33, 45},
                     "f32",
                     2e-5,

                     "tensor<f32>"});
    cases.push_back({name + "_of_space",
                     reduce(op, "0, 2, 3", true),
                     {3, 5, 4, 8},
                     "f32",
                     2e-6,

                     "tensor<1x5x1x1xf32>"});
    cases.push_back({name + "_of_the_middle",
                     reduce(op, "1"),
                     {9, 70, 24},
                     "f16",
                     1e-3,

                     "tensor<9x24xf16>"});
    cases.push_back({name + "_of_i32",
                     reduce(op, "1"),
                     {300, 7},
                     "i32",
                     0,
                     "tensor<300xi32>"});
  }
  cases.push_back({"sum_of_many_columns",
                   reduce("sum", "0"),
                   {64, 2052},
                   "f32",
                   2e-6,

                   "tensor<2052xf32>"});
  return cases;
}

const std::vector<Case> cases = makeCases();

void check(const ShippedKernel &kernel, double tolerance) {
  ASSERT_TRUE(kernel.isReady());
  ShippedKernel::Run run = kernel.run(kernel.code());
  ASSERT_EQ(run.program->error(), "");
  EXPECT_EQ(kernel.assemble(), "");
  EXPECT_TRUE(run.device->report.clean()) << run.device->report.text().c_str();
  EXPECT_LE(run.error, tolerance);
  // Neighbouring threads take neighbours in memory: rows that begin within a
  // sector cost part of one more, and nothing costs several times as much.
  // (Threads that loop without meeting are not counted side by side.)
  for (const sim::SiteTraffic &row : run.device->report.traffic()) {
    EXPECT_LE(row.passes, row.leastPasses * 2 + 1)
        << sim::describeSite(row.site).c_str();
  }
}

class Rows : public testing::TestWithParam<Case> {};

TEST_P(Rows, InTheSimulator) {
  const Case &test = GetParam();
  check(ShippedKernel(test.kernel(), "sm_80"), test.tolerance);
}

INSTANTIATE_TEST_SUITE_P(All, Rows, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return info.param.name;
                         });

/// Norms, with what is fused around them.
struct Norm {
  const char *name, *kernel;
  double tolerance = 2e-6;
};

void PrintTo(const Norm &test, std::ostream *os) { *os << test.name; }

const Norm norms[] = {
    {"layer_norm",
     R"((%a: tensor<261x768xf16>, %r: tensor<261x768xf16>, %s: tensor<768xf32>, %b: tensor<768xf32>) -> tensor<261x768xf16> {
       %0 = amp.add %a, %r : (tensor<261x768xf16>, tensor<261x768xf16>) -> tensor<261x768xf16>
       %1 = amp.cast %0 : (tensor<261x768xf16>) -> tensor<261x768xf32>
       %2 = amp.layer_norm %1 scale %s bias %b {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<261x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<261x768xf32>
       %3 = amp.cast %2 : (tensor<261x768xf32>) -> tensor<261x768xf16>
       amp.yield %3 : tensor<261x768xf16>
     })",
     1e-3},
    {"layer_norm_over_two_axes",
     R"((%a: tensor<6x5x36xf32>, %s: tensor<5x36xf32>) -> tensor<6x5x36xf32> {
       %0 = amp.layer_norm %a scale %s {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<6x5x36xf32>, tensor<5x36xf32>) -> tensor<6x5x36xf32>
       amp.yield %0 : tensor<6x5x36xf32>
     })"},
    {"rms_norm_of_short_rows",
     R"((%a: tensor<777x64xf32>, %s: tensor<64xf32>) -> tensor<777x64xf32> {
       %0 = amp.rms_norm %a, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<777x64xf32>, tensor<64xf32>) -> tensor<777x64xf32>
       amp.yield %0 : tensor<777x64xf32>
     })"},
};

class Norms : public testing::TestWithParam<Norm> {};

TEST_P(Norms, InTheSimulator) {
  for (const char *architecture : {"sm_75", "sm_90a"}) {
    check(ShippedKernel(GetParam().kernel, architecture), GetParam().tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Norms, testing::ValuesIn(norms),
                         [](const testing::TestParamInfo<Norm> &info) {
                           return info.param.name;
                         });

/// Infinities and NaN go through a softmax as the reference has them.
TEST(SoftmaxRow, OfSpecialNumbers) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double special[] = {infinity, -infinity, NAN};
  ShippedKernel kernel(R"((%a: tensor<12x40xf32>) -> tensor<12x40xf32> {
       %0 = amp.softmax %a {axis = 1 : i64} : (tensor<12x40xf32>) -> tensor<12x40xf32>
       amp.yield %0 : tensor<12x40xf32>
     })",
                       "sm_80", [&](Arguments all) {
                         overwrite(all[0], [&](int64_t i) {
                           int64_t row = i / 40, column = i % 40;
                           bool isHere = column == 7 * row % 40 || row == 10;
                           return isHere ? std::optional(special[row % 3])
                                         : std::nullopt;
                         });
                       });
  check(kernel, 1e-6);
}

} // namespace
} // namespace ampc::test
