//===- ContractionTest.cpp - Contractions in the simulator ----------------===//
// Matrix products and convolutions of every element type, in shapes that are
// not friendly to tiles, against the reference evaluator.
#include "test/unit/Cuda/KernelRun.h"
#include "llvm/Support/FormatVariadic.h"

namespace ampc::test {
namespace {

struct Case {
  std::string name;
  std::string kernel; ///< arguments and body, with one result
  double tolerance;
  bool needsAmpere = false; ///< bf16, tf32
};

void PrintTo(const Case &test, std::ostream *os) { *os << test.name; }

/// A product of tensors of `a` and `b`, such as "4x8xf16".
std::string matmul(const char *a, const char *b, const char *y,
                   const char *attributes = "") {
  return llvm::formatv(
             "(%a: tensor<{0}>, %b: tensor<{1}>) -> tensor<{2}> {{\n"
             "  %0 = amp.matmul %a, %b {{{3}} : (tensor<{0}>, tensor<{1}>) -> "
             "tensor<{2}>\n"
             "  amp.yield %0 : tensor<{2}>\n}",
             a, b, y, attributes)
      .str();
}

/// A convolution with a bias, of channels-last tensors. The weight is read
/// through `permutation` where that is not empty, as transposed weights are.
std::string conv(const char *op, const char *x, const char *w, const char *b,
                 const char *y, const char *attributes, const char *stored = "",
                 const char *permutation = "") {
  std::string back;
  if (*stored) {
    back = llvm::formatv("  %w = amp.transpose %s {{permutation = array<i64: "
                         "{0}>} : (tensor<{1}>) -> tensor<{2}>\n",
                         permutation, stored, w);
  }
  return llvm::formatv(
             "(%x: tensor<{0}>, %{1}: tensor<{2}>, %b: tensor<{3}>) -> "
             "tensor<{4}> {{\n{5}"
             "  %0 = amp.{6} %x, %w, %b {{{7}, layout = "
             "#amp.layout<channels_last>} : (tensor<{0}>, tensor<{8}>, "
             "tensor<{3}>) -> tensor<{4}>\n"
             "  amp.yield %0 : tensor<{4}>\n}",
             x, *stored ? "s" : "w", *stored ? stored : w, b, y, back, op,
             attributes, w)
      .str();
}

const char plain[] = "strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, "
                     "1>, dilations = array<i64: 1, 1>, group = 1 : i64";

std::vector<Case> makeCases() {
  const char *tf32 = "amp.fp32_contractions = \"tf32\"";
  const char *tf32Transposed =
      "transpose_lhs, transpose_rhs, amp.fp32_contractions = \"tf32\"";
  const char *transposed = "transpose_lhs, transpose_rhs";
  return {
      {"f16_one_step", matmul("16x8xf16", "8x8xf16", "16x8xf32"), 1e-5},
      {"f16_k_of_one", matmul("20x1xf16", "1x24xf16", "20x24xf32"), 1e-5},
      {"f16_one_element", matmul("1x1xf16", "1x1xf16", "1x1xf32"), 1e-5},
      {"f16_one_row", matmul("1x200xf16", "200x72xf16", "1x72xf32"), 1e-5},
      {"f16_one_column", matmul("70x72xf16", "72x1xf16", "70x1xf32"), 1e-5},
      {"f16_many_steps", matmul("24x1000xf16", "1000x40xf16", "24x40xf32"),
       1e-5},
      {"f16_pairs", matmul("34x70xf16", "70x46xf16", "34x46xf32"), 1e-5},
      {"f16_fours", matmul("36x76xf16", "76x44xf16", "36x44xf32"), 1e-5},
      {"f16_odd", matmul("35x71xf16", "71x45xf16", "35x45xf32"), 1e-5},
      {"f16_odd_transposed",
       matmul("71x35xf16", "45x71xf16", "35x45xf32", transposed), 1e-5},
      {"f16_batches_of_one_matrix",
       matmul("3x5x40xf16", "1x40x24xf16", "3x5x24xf32"), 1e-5},
      {"f16_no_rows", matmul("0x8xf16", "8x8xf16", "0x8xf32"), 0},
      {"f16_no_depth", matmul("4x0xf16", "0x8xf16", "4x8xf32"), 0},
      {"bf16_odd", matmul("35x71xbf16", "71x45xbf16", "35x45xf32"), 1e-5, true},
      {"tf32", matmul("40x72xf32", "72x48xf32", "40x48xf32", tf32), 2e-3, true},
      {"tf32_transposed",
       matmul("72x40xf32", "48x72xf32", "40x48xf32", tf32Transposed), 2e-3,
       true},
      {"tf32_odd", matmul("35x71xf32", "71x45xf32", "35x45xf32", tf32), 2e-3,
       true},
      {"tf32_odd_transposed",
       matmul("71x35xf32", "45x71xf32", "35x45xf32", tf32Transposed), 2e-3,
       true},
      {"tf32_tiles", matmul("264x40xf32", "40x136xf32", "264x136xf32", tf32),
       2e-3, true},
      {"f32_odd", matmul("35x71xf32", "71x45xf32", "35x45xf32"), 1e-6},
      {"f32_transposed",
       matmul("72x40xf32", "48x72xf32", "40x48xf32", transposed), 1e-6},
      {"f32_odd_transposed",
       matmul("71x35xf32", "45x71xf32", "35x45xf32", transposed), 1e-6},
      {"f32_one_row", matmul("1x200xf32", "200x72xf32", "1x72xf32"), 1e-6},
      {"f32_batches", matmul("2x3x20x32xf32", "3x32x24xf32", "2x3x20x24xf32"),
       1e-6},
      {"f32_tiles", matmul("1160x24xf32", "24x1032xf32", "1160x1032xf32"),
       1e-6},
      {"f64", matmul("40x72xf64", "72x48xf64", "40x48xf64"), 1e-14},
      {"f64_odd_transposed",
       matmul("71x35xf64", "45x71xf64", "35x45xf64", transposed), 1e-14},
      {"conv_transposed_weight",
       conv("conv", "2x9x9x32xf16", "24x32x3x3xf16", "24xf16", "2x9x9x24xf32",
            plain, "24x3x3x32xf16", "0, 3, 1, 2"),
       1e-5},
      {"conv_dilated",
       conv("conv", "1x11x9x24xf16", "16x24x3x2xf16", "16xf16", "1x3x4x16xf32",
            "strides = array<i64: 3, 2>, pads = array<i64: 0, 2, 1, 0>, "
            "dilations = array<i64: 2, 3>, group = 1 : i64",
            "16x3x2x24xf16", "0, 3, 1, 2"),
       1e-5},
      {"conv_of_three_channels_f32",
       conv("conv", "1x8x9x3xf32", "10x3x3x3xf32", "10xf32", "1x8x9x10xf32",
            plain, "10x3x3x3xf32", "0, 3, 1, 2"),
       1e-6},
      {"conv_f32",
       conv("conv", "1x7x7x36xf32", "20x36x3x3xf32", "20xf32", "1x7x7x20xf32",
            plain, "20x3x3x36xf32", "0, 3, 1, 2"),
       1e-6},
      {"conv_grouped",
       conv("conv", "1x6x6x32xf16", "48x8x3x3xf16", "48xf16", "1x6x6x48xf32",
            "strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, "
            "dilations = array<i64: 1, 1>, group = 4 : i64",
            "48x3x3x8xf16", "0, 3, 1, 2"),
       1e-5},
      {"conv_grouped_f32",
       conv("conv", "1x6x6x12xf32", "9x4x3x3xf32", "9xf32", "1x4x4x9xf32",
            "strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, "
            "dilations = array<i64: 1, 1>, group = 3 : i64"),
       1e-6},
      {"conv_of_one_dimension",
       conv("conv", "2x21x16xf16", "8x16x5xf16", "8xf16", "2x11x8xf32",
            "strides = array<i64: 2>, pads = array<i64: 2, 2>, dilations = "
            "array<i64: 1>, group = 1 : i64",
            "8x5x16xf16", "0, 2, 1"),
       1e-5},
      {"conv_transpose",
       conv("conv_transpose", "1x4x5x16xf16", "16x24x3x3xf16", "24xf16",
            "1x8x10x24xf32",
            "strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, "
            "output_padding = array<i64: 0, 0>, dilations = array<i64: 1, 1>, "
            "group = 1 : i64",
            "24x3x3x16xf16", "3, 0, 1, 2"),
       1e-5},
      {"depthwise",
       conv("conv", "2x9x11x16xf16", "16x1x3x3xf16", "16xf16", "2x9x11x16xf32",
            "strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, "
            "dilations = array<i64: 1, 1>, group = 16 : i64",
            "3x3x16x1xf16", "2, 3, 0, 1"),
       1e-5},
      {"depthwise_strided_f32",
       conv("conv", "1x9x12x6xf32", "6x1x5x3xf32", "6xf32", "1x4x5x6xf32",
            "strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 2>, "
            "dilations = array<i64: 1, 2>, group = 6 : i64"),
       1e-6},
      {"prologue_and_residual",
       R"((%a: tensor<40x72xf32>, %b: tensor<72x48xf16>, %r: tensor<40x48xf16>) -> tensor<40x48xf16> {
         %0 = amp.cast %a : (tensor<40x72xf32>) -> tensor<40x72xf16>
         %1 = amp.matmul %0, %b : (tensor<40x72xf16>, tensor<72x48xf16>) -> tensor<40x48xf32>
         %2 = amp.cast %r : (tensor<40x48xf16>) -> tensor<40x48xf32>
         %3 = amp.add %1, %2 : (tensor<40x48xf32>, tensor<40x48xf32>) -> tensor<40x48xf32>
         %4 = amp.cast %3 : (tensor<40x48xf32>) -> tensor<40x48xf16>
         amp.yield %4 : tensor<40x48xf16>
       })",
       1e-3},
      {"view_of_an_operand",
       R"((%a: tensor<4x40x16xf16>, %b: tensor<64x48xf16>) -> tensor<40x48xf32> {
         %0 = amp.transpose %a {permutation = array<i64: 1, 0, 2>} : (tensor<4x40x16xf16>) -> tensor<40x4x16xf16>
         %1 = amp.reshape %0 : (tensor<40x4x16xf16>) -> tensor<40x64xf16>
         %2 = amp.matmul %1, %b : (tensor<40x64xf16>, tensor<64x48xf16>) -> tensor<40x48xf32>
         amp.yield %2 : tensor<40x48xf32>
       })",
       1e-5},
  };
}

void run(const Case &test, const char *architecture) {
  ShippedKernel kernel(test.kernel, architecture);
  ASSERT_TRUE(kernel.isReady());
  ShippedKernel::Run run = kernel.run(kernel.code());
  ASSERT_EQ(run.program->error(), "");
  EXPECT_EQ(run.program->assemble(), "");
  EXPECT_TRUE(run.device->report.clean()) << run.device->report.text().c_str();
  EXPECT_LE(run.error, test.tolerance);
}

std::vector<Case> casesForTuring() {
  std::vector<Case> all = makeCases(), chosen;
  llvm::copy_if(all, std::back_inserter(chosen),
                [](const Case &test) { return !test.needsAmpere; });
  return chosen;
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

class Contraction : public testing::TestWithParam<Case> {};
class TuringContraction : public Contraction {};

TEST_P(TuringContraction, OnTuring) { run(GetParam(), "sm_75"); }
TEST_P(Contraction, OnAmpere) { run(GetParam(), "sm_80"); }
TEST_P(Contraction, OnHopper) { run(GetParam(), "sm_90a"); }

INSTANTIATE_TEST_SUITE_P(All, Contraction, testing::ValuesIn(makeCases()),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(All, TuringContraction,
                         testing::ValuesIn(casesForTuring()), nameOf);

} // namespace
} // namespace ampc::test
