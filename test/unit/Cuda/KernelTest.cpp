//===- KernelTest.cpp - Generated kernels in the simulator ----------------===//
// Each kernel is emitted and optimised for an architecture, lowered for the
// simulator and run there with its detectors on; results are compared with
// those of the reference evaluator, which computes in float64.
#include "test/unit/Cuda/KernelRun.h"

namespace ampc::test {
namespace {

struct Case {
  const char *name;
  const char *kernel; ///< arguments and body, with one result
  double tolerance = 2e-3;
  bool needsAmpere = false; ///< bf16
};

void PrintTo(const Case &test, std::ostream *os) { *os << test.name; }

void run(const Case &test, const char *architecture) {
  ShippedKernel kernel(test.kernel, architecture);
  ASSERT_TRUE(kernel.isReady());
  ShippedKernel::Run run = kernel.run(kernel.code());
  ASSERT_EQ(run.program->error(), "");
  EXPECT_EQ(kernel.assemble(), "");
  EXPECT_TRUE(run.device->report.clean()) << run.device->report.text().c_str();
  EXPECT_LE(run.error, test.tolerance);
}

const Case cases[] = {
    {"map_of_odd_size",
     R"((%a: tensor<5x37xf32>, %b: tensor<37xf32>) -> tensor<5x37xf32> {
       %0 = amp.mul %a, %b : (tensor<5x37xf32>, tensor<37xf32>) -> tensor<5x37xf32>
       %1 = amp.exp %0 : (tensor<5x37xf32>) -> tensor<5x37xf32>
       amp.yield %1 : tensor<5x37xf32>
     })",
     1e-6},
    {"map_in_f16",
     R"((%a: tensor<64x48xf16>) -> tensor<64x48xf16> {
       %0 = amp.cast %a : (tensor<64x48xf16>) -> tensor<64x48xf32>
       %1 = amp.tanh %0 : (tensor<64x48xf32>) -> tensor<64x48xf32>
       %2 = amp.cast %1 : (tensor<64x48xf32>) -> tensor<64x48xf16>
       amp.yield %2 : tensor<64x48xf16>
     })",
     1e-3},
    {"transpose",
     R"((%a: tensor<33x20xf32>) -> tensor<20x33xf32> {
       %0 = amp.transpose %a {permutation = array<i64: 1, 0>} : (tensor<33x20xf32>) -> tensor<20x33xf32>
       amp.yield %0 : tensor<20x33xf32>
     })",
     0},
    {"softmax",
     R"((%a: tensor<7x1003xf32>) -> tensor<7x1003xf32> {
       %0 = amp.softmax %a {axis = 1 : i64} : (tensor<7x1003xf32>) -> tensor<7x1003xf32>
       amp.yield %0 : tensor<7x1003xf32>
     })",
     1e-6},
    {"sum_of_columns",
     R"((%a: tensor<70x45xf32>) -> tensor<45xf32> {
       %0 = amp.reduce_sum %a {axes = array<i64: 0>, keepdims = false} : (tensor<70x45xf32>) -> tensor<45xf32>
       amp.yield %0 : tensor<45xf32>
     })",
     1e-5},
    {"layer_norm",
     R"((%a: tensor<5x768xf32>, %s: tensor<768xf32>, %b: tensor<768xf32>) -> tensor<5x768xf32> {
       %0 = amp.layer_norm %a scale %s bias %b {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<5x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<5x768xf32>
       amp.yield %0 : tensor<5x768xf32>
     })",
     1e-5},
    {"matmul_f16",
     R"((%a: tensor<64x96xf16>, %b: tensor<96x80xf16>) -> tensor<64x80xf32> {
       %0 = amp.matmul %a, %b : (tensor<64x96xf16>, tensor<96x80xf16>) -> tensor<64x80xf32>
       amp.yield %0 : tensor<64x80xf32>
     })",
     1e-5},
    {"matmul_of_odd_size",
     R"((%a: tensor<33x50xf16>, %b: tensor<50x17xf16>, %c: tensor<17xf16>) -> tensor<33x17xf16> {
       %0 = amp.matmul %a, %b, %c : (tensor<33x50xf16>, tensor<50x17xf16>, tensor<17xf16>) -> tensor<33x17xf32>
       %1 = amp.relu %0 : (tensor<33x17xf32>) -> tensor<33x17xf32>
       %2 = amp.cast %1 : (tensor<33x17xf32>) -> tensor<33x17xf16>
       amp.yield %2 : tensor<33x17xf16>
     })"},
    {"matmul_transposed",
     R"((%a: tensor<72x40xf16>, %b: tensor<56x72xf16>) -> tensor<40x56xf32> {
       %0 = amp.matmul %a, %b {transpose_lhs, transpose_rhs} : (tensor<72x40xf16>, tensor<56x72xf16>) -> tensor<40x56xf32>
       amp.yield %0 : tensor<40x56xf32>
     })",
     1e-5},
    {"matmul_in_batches",
     R"((%a: tensor<2x3x20x32xf16>, %b: tensor<3x32x24xf16>) -> tensor<2x3x20x24xf32> {
       %0 = amp.matmul %a, %b : (tensor<2x3x20x32xf16>, tensor<3x32x24xf16>) -> tensor<2x3x20x24xf32>
       amp.yield %0 : tensor<2x3x20x24xf32>
     })",
     1e-5},
    {"matmul_of_many_tiles",
     R"((%a: tensor<520x72xf16>, %b: tensor<72x264xf16>) -> tensor<520x264xf16> {
       %0 = amp.matmul %a, %b : (tensor<520x72xf16>, tensor<72x264xf16>) -> tensor<520x264xf32>
       %1 = amp.cast %0 : (tensor<520x264xf32>) -> tensor<520x264xf16>
       amp.yield %1 : tensor<520x264xf16>
     })"},
    {"matmul_of_the_largest_tiles",
     R"((%a: tensor<1536x64xf16>, %b: tensor<64x1024xf16>) -> tensor<1536x1024xf16> {
       %0 = amp.matmul %a, %b : (tensor<1536x64xf16>, tensor<64x1024xf16>) -> tensor<1536x1024xf32>
       %1 = amp.cast %0 : (tensor<1536x1024xf32>) -> tensor<1536x1024xf16>
       amp.yield %1 : tensor<1536x1024xf16>
     })"},
    {"matmul_bf16",
     R"((%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xf32> {
       %0 = amp.matmul %a, %b {transpose_rhs} : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
       amp.yield %0 : tensor<64x64xf32>
     })",
     1e-5, true},
    {"matmul_f32",
     R"((%a: tensor<9x33xf32>, %b: tensor<33x12xf32>) -> tensor<9x12xf32> {
       %0 = amp.matmul %a, %b : (tensor<9x33xf32>, tensor<33x12xf32>) -> tensor<9x12xf32>
       amp.yield %0 : tensor<9x12xf32>
     })",
     1e-6},
    {"conv",
     R"((%a: tensor<2x9x9x16xf16>, %w: tensor<24x16x3x3xf16>, %b: tensor<24xf16>) -> tensor<2x5x5x24xf32> {
       %0 = amp.conv %a, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>} : (tensor<2x9x9x16xf16>, tensor<24x16x3x3xf16>, tensor<24xf16>) -> tensor<2x5x5x24xf32>
       amp.yield %0 : tensor<2x5x5x24xf32>
     })",
     1e-5},
    {"conv_of_three_channels",
     R"((%a: tensor<1x8x8x3xf16>, %w: tensor<16x3x3x3xf16>) -> tensor<1x8x8x16xf32> {
       %0 = amp.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>} : (tensor<1x8x8x3xf16>, tensor<16x3x3x3xf16>) -> tensor<1x8x8x16xf32>
       amp.yield %0 : tensor<1x8x8x16xf32>
     })",
     1e-5},
    {"attention",
     R"((%q: tensor<1x4x9x16xf16>, %k: tensor<1x2x13x16xf16>, %v: tensor<1x2x13x24xf16>, %m: tensor<9x13xi1>) -> tensor<1x4x9x24xf32> {
       %0 = amp.attention %q, %k, %v, %m {scale = 0.25 : f64, causal = true} : (tensor<1x4x9x16xf16>, tensor<1x2x13x16xf16>, tensor<1x2x13x24xf16>, tensor<9x13xi1>) -> tensor<1x4x9x24xf32>
       amp.yield %0 : tensor<1x4x9x24xf32>
     })"},
    {"arg_max",
     R"((%a: tensor<6x50xf32>) -> tensor<6xi64> {
       %0 = amp.arg_max %a {axis = 1 : i64, keepdims = false, select_last = false} : (tensor<6x50xf32>) -> tensor<6xi64>
       amp.yield %0 : tensor<6xi64>
     })",
     0},
};

class CudaKernel : public testing::TestWithParam<Case> {};
class TuringKernel : public CudaKernel {};

TEST_P(TuringKernel, OnTuring) { run(GetParam(), "sm_75"); }
TEST_P(CudaKernel, OnAmpere) { run(GetParam(), "sm_80"); }
TEST_P(CudaKernel, OnHopper) { run(GetParam(), "sm_90a"); }

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

std::vector<Case> casesForTuring() {
  std::vector<Case> chosen;
  llvm::copy_if(cases, std::back_inserter(chosen),
                [](const Case &test) { return !test.needsAmpere; });
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(All, CudaKernel, testing::ValuesIn(cases), nameOf);
INSTANTIATE_TEST_SUITE_P(All, TuringKernel, testing::ValuesIn(casesForTuring()),
                         nameOf);

} // namespace
} // namespace ampc::test
