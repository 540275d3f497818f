//===- WgmmaTest.cpp - Contractions with wgmma ----------------------------===//
#include "compiler/Targets/CUDA/Contraction/WgmmaTile.h"
#include "test/unit/Cuda/KernelRun.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace ampc::test {
namespace {

std::string number(int64_t value) { return std::to_string(value); }

/// A product and what else a kernel of it has.
struct Product {
  int64_t m, n, k;
  std::string batch = "", rightBatch = ""; ///< "2x3x"
  bool transposeLeft = false, transposeRight = false;
  std::string type = "f16";
  bool bias = false, relu = false, gelu = false, residual = false;
  std::string result = "f32";

  std::string left() const {
    return "tensor<" + batch +
           (transposeLeft ? number(k) + "x" + number(m)
                          : number(m) + "x" + number(k)) +
           "x" + type + ">";
  }
  std::string right() const {
    return "tensor<" + rightBatch +
           (transposeRight ? number(n) + "x" + number(k)
                           : number(k) + "x" + number(n)) +
           "x" + type + ">";
  }
  std::string out(const std::string &element) const {
    return "tensor<" + batch + number(m) + "x" + number(n) + "x" + element +
           ">";
  }
  std::string text() const {
    std::string columns = "tensor<" + number(n) + "x" + type + ">";
    std::string f32 = out("f32");
    std::string body = "(%a: " + left() + ", %b: " + right() +
                       (bias ? ", %c: " + columns : "") +
                       (residual ? ", %r: " + f32 : "") + ") -> " +
                       out(result) + " {\n  %0 = amp.matmul %a, %b" +
                       (bias ? ", %c" : "");
    std::string flags = std::string(transposeLeft ? "transpose_lhs" : "") +
                        (transposeLeft && transposeRight ? ", " : "") +
                        (transposeRight ? "transpose_rhs" : "");
    body += (flags.empty() ? "" : " {" + flags + "}") + " : (" + left() + ", " +
            right() + (bias ? ", " + columns : "") + ") -> " + f32 + "\n";
    std::string last = "%0";
    if (residual) {
      body +=
          "  %1 = amp.add %0, %r : (" + f32 + ", " + f32 + ") -> " + f32 + "\n";
      last = "%1";
    }
    if (relu) {
      body += "  %2 = amp.relu " + last + " : (" + f32 + ") -> " + f32 + "\n";
      last = "%2";
    }
    if (gelu) {
      body += "  %4 = amp.gelu " + last + " {form = #amp.gelu_form<erf>} : (" +
              f32 + ") -> " + f32 + "\n";
      last = "%4";
    }
    if (result != "f32") {
      body += "  %3 = amp.cast " + last + " : (" + f32 + ") -> " + out(result) +
              "\n";
      last = "%3";
    }
    return body + "  amp.yield " + last + " : " + out(result) + "\n}";
  }
};

/// The PTX of a kernel for sm_90a, which is not run.
struct ShippedPtx {
  ShippedPtx(const std::string &kernel, llvm::ArrayRef<ContractionRule> rules) {
    auto source = parseKernel(kernel);
    auto made = cuda::KernelModule::create(
        *source, **findCudaArchitecture("sm_90a"), 3, rules);
    EXPECT_TRUE(succeeded(made));
    ptx = made->writePtx();
  }
  std::string ptx;
};

/// What ptxas tells of the registers, spills and pipelines of PTX for sm_90a;
/// "" where there is none.
std::string assembleVerbosely(const std::string &ptx) {
  auto ptxas = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  if (!ptxas) {
    return "";
  }
  llvm::SmallString<128> source, log;
  int file;
  llvm::sys::fs::createTemporaryFile("kernel", "ptx", file, source);
  llvm::sys::fs::createTemporaryFile("kernel", "log", log);
  {
    llvm::raw_fd_ostream os(file, true);
    os << ptx;
  }
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, log.str(),
                                                log.str()};
  int code = llvm::sys::ExecuteAndWait(
      *ptxas, {*ptxas, "-arch=sm_90a", "-v", source, "-o", "/dev/null"},
      std::nullopt, redirects);
  EXPECT_EQ(code, 0);
  std::string said;
  if (auto text = llvm::MemoryBuffer::getFile(log)) {
    said = (*text)->getBuffer().str();
  }
  llvm::sys::fs::remove(source);
  llvm::sys::fs::remove(log);
  return said;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

struct Case {
  std::string name, kernel;
  double tolerance;
  std::vector<ContractionRule> rules;
  uint64_t seed; ///< of the order in which threads run
};

void PrintTo(const Case &test, std::ostream *os) { *os << test.name; }

Case caseOf(const std::string &name, const Product &product,
            std::vector<ContractionRule> rules, uint64_t seed = 0) {
  double tolerance = product.result == "f32"   ? 1e-5
                     : product.result == "f16" ? 2e-3
                                               : 1e-2;
  return {name, product.text(), tolerance, std::move(rules), seed};
}

std::vector<Case> products() {
  std::vector<Case> cases;
  auto add = [&](const std::string &name, const Product &product) {
    cases.push_back(caseOf(name, product, useTile({64, 64, 64}, product.type)));
  };
  add("odd_sizes", {.m = 65, .n = 67, .k = 72, .transposeRight = true});
  add("one_step_of_8", {.m = 65, .n = 72, .k = 8});
  add("k_of_1", {.m = 64, .n = 64, .k = 1});
  add("k_beyond_a_stage", {.m = 100, .n = 136, .k = 200});
  add("k_of_many_stages", {.m = 40, .n = 40, .k = 1032});
  for (bool left : {false, true}) {
    for (bool right : {false, true}) {
      add("transposed" + number(left) + number(right),
          {.m = 136,
           .n = 72,
           .k = 80,
           .transposeLeft = left,
           .transposeRight = right});
    }
  }
  add("bf16", {.m = 70, .n = 88, .k = 136, .type = "bf16", .result = "bf16"});
  add("batches", {.m = 48, .n = 56, .k = 40, .batch = "2x3x", .result = "f16"});
  add("broadcast_right",
      {.m = 48, .n = 56, .k = 40, .batch = "2x3x", .rightBatch = "3x"});
  add("broadcast_middle",
      {.m = 48, .n = 56, .k = 40, .batch = "2x3x", .rightBatch = "2x1x"});
  add("bias_relu",
      {.m = 65, .n = 72, .k = 64, .bias = true, .relu = true, .result = "f16"});
  add("residual",
      {.m = 65, .n = 72, .k = 64, .residual = true, .result = "f16"});
  add("residual_of_odd_size", {.m = 65,
                               .n = 67,
                               .k = 64,
                               .transposeRight = true,
                               .bias = true,
                               .residual = true,
                               .result = "f16"});
  // More tiles than blocks run at once.
  add("tiles_in_turn", {.m = 64 * 20 - 3, .n = 64 * 14, .k = 24});
  cases.push_back(caseOf("columns_of_tiles",
                         {.m = 64 * 2, .n = 64 * 140, .k = 24},
                         useTile({64, 64, 64})));
  return cases;
}

/// All tiles, each with whole and partial ones along both dimensions.
std::vector<Case> tiles() {
  std::vector<Case> cases;
  for (const cuda::WgmmaTile &tile : cuda::getWgmmaTiles()) {
    std::string name = number(tile.m) + "x" + number(tile.n);
    Product product{.m = tile.m + 24, .n = tile.n + 40, .k = 648};
    product.result = "f16";
    product.relu = true;
    cases.push_back(
        caseOf(name, product, useTile({tile.m, tile.n, tile.k}), 1));
    product.k = 136;
    product.transposeLeft = product.transposeRight = true;
    cases.push_back(caseOf(name + "_transposed", product,
                           useTile({tile.m, tile.n, tile.k})));
  }
  return cases;
}

/// A convolution in two spatial dimensions, its weight stored with the channels
/// of a tap side by side.
struct Conv {
  int64_t batch, size, channels, outputs, kernel;
  int64_t stride = 1, pad = 0, dilation = 1;
  bool transposed = false, bias = false;
  std::string result = "f16";

  std::string text() const {
    int64_t reach = dilation * (kernel - 1) + 1;
    int64_t out = transposed ? stride * (size - 1) + reach - 2 * pad
                             : (size + 2 * pad - reach) / stride + 1;
    auto shape = [](std::vector<int64_t> sizes, const std::string &element) {
      std::string text = "tensor<";
      for (int64_t size : sizes) {
        text += number(size) + "x";
      }
      return text + element + ">";
    };
    std::string input = shape({batch, size, size, channels}, "f16");
    std::string stored = shape({outputs, kernel, kernel, channels}, "f16");
    std::string weight =
        transposed ? shape({channels, outputs, kernel, kernel}, "f16")
                   : shape({outputs, channels, kernel, kernel}, "f16");
    std::string columns = shape({outputs}, "f16");
    std::string wide = shape({batch, out, out, outputs}, "f32");
    std::string narrow = shape({batch, out, out, outputs}, result);
    auto twice = [](int64_t value) {
      return "array<i64: " + number(value) + ", " + number(value) + ">";
    };
    std::string p = number(pad);
    return "(%x: " + input + ", %s: " + stored +
           (bias ? ", %b: " + columns : "") + ") -> " + narrow +
           " {\n  %w = amp.transpose %s {permutation = array<i64: " +
           (transposed ? "3, 0, 1, 2" : "0, 3, 1, 2") + ">} : (" + stored +
           ") -> " + weight + "\n  %0 = amp.conv" +
           (transposed ? "_transpose" : "") + " %x, %w" + (bias ? ", %b" : "") +
           " {strides = " + twice(stride) + ", pads = array<i64: " + p + ", " +
           p + ", " + p + ", " + p + ">, dilations = " + twice(dilation) +
           (transposed ? ", output_padding = array<i64: 0, 0>" : "") +
           ", group = 1 : i64, layout = #amp.layout<channels_last>} : (" +
           input + ", " + weight + (bias ? ", " + columns : "") + ") -> " +
           wide + "\n  %1 = amp.relu %0 : (" + wide + ") -> " + wide +
           "\n  %2 = amp.cast %1 : (" + wide + ") -> " + narrow +
           "\n  amp.yield %2 : " + narrow + "\n}";
  }
};

std::vector<Case> convolutions() {
  std::vector<Case> cases;
  auto add = [&](const std::string &name, const Conv &conv, uint64_t seed = 0) {
    cases.push_back({name, conv.text(), 2e-3, useTile({64, 64, 64}), seed});
  };
  add("of_one_pixel",
      {.batch = 2, .size = 9, .channels = 72, .outputs = 40, .kernel = 1});
  add("of_one_pixel_and_stride", {.batch = 2,
                                  .size = 11,
                                  .channels = 40,
                                  .outputs = 40,
                                  .kernel = 1,
                                  .stride = 2});
  add("of_3_pixels", {.batch = 1,
                      .size = 9,
                      .channels = 16,
                      .outputs = 40,
                      .kernel = 3,
                      .pad = 1,
                      .bias = true});
  add("without_padding",
      {.batch = 2, .size = 9, .channels = 64, .outputs = 64, .kernel = 3}, 1);
  add("stride_2", {.batch = 2,
                   .size = 13,
                   .channels = 24,
                   .outputs = 72,
                   .kernel = 3,
                   .stride = 2,
                   .pad = 1});
  add("dilation", {.batch = 1,
                   .size = 13,
                   .channels = 8,
                   .outputs = 40,
                   .kernel = 3,
                   .pad = 2,
                   .dilation = 2,
                   .bias = true});
  add("of_7_pixels", {.batch = 1,
                      .size = 19,
                      .channels = 8,
                      .outputs = 64,
                      .kernel = 7,
                      .stride = 2,
                      .pad = 3});
  add("transposed", {.batch = 1,
                     .size = 6,
                     .channels = 16,
                     .outputs = 40,
                     .kernel = 3,
                     .stride = 2,
                     .pad = 1,
                     .transposed = true});
  add("channels_beyond_a_stage", {.batch = 1,
                                  .size = 7,
                                  .channels = 136,
                                  .outputs = 40,
                                  .kernel = 3,
                                  .pad = 1});
  add("tiles_in_turn",
      {.batch = 3,
       .size = 76,
       .channels = 8,
       .outputs = 40,
       .kernel = 3,
       .pad = 1},
      2);
  for (const cuda::WgmmaTile &tile : cuda::getWgmmaTiles()) {
    Conv conv{.batch = 1,
              .size = 18,
              .channels = 24,
              .outputs = tile.n + 8,
              .kernel = 3,
              .pad = 1};
    cases.push_back({"tile" + number(tile.m) + "x" + number(tile.n),
                     conv.text(), 2e-3, useTile({tile.m, tile.n, tile.k}), 3});
  }
  return cases;
}

class WgmmaProduct : public testing::TestWithParam<Case> {};

TEST_P(WgmmaProduct, OnHopper) {
  const Case &test = GetParam();
  ShippedKernel kernel(test.kernel, "sm_90a", test.rules);
  ASSERT_TRUE(kernel.isReady());
  EXPECT_FALSE(kernel.launch().tensorMaps.empty());
  ShippedKernel::Run run = kernel.run(kernel.code(), test.seed);
  ASSERT_EQ(run.program->error(), "");
  EXPECT_TRUE(run.device->report.clean()) << run.device->report.text().c_str();
  EXPECT_LE(run.error, test.tolerance);
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Shapes, WgmmaProduct, testing::ValuesIn(products()),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Convs, WgmmaProduct, testing::ValuesIn(convolutions()),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Tiles, WgmmaProduct, testing::ValuesIn(tiles()),
                         nameOf);

//===----------------------------------------------------------------------===//
// Which kernel
//===----------------------------------------------------------------------===//

bool usesWgmma(const Product &product,
               llvm::ArrayRef<ContractionRule> rules = {}) {
  ShippedPtx kernel(product.text(), rules);
  return kernel.ptx.find("wgmma.mma_async") != std::string::npos;
}

TEST(WgmmaChoice, BySize) {
  EXPECT_TRUE(usesWgmma({.m = 4096, .n = 4096, .k = 4096}));
  EXPECT_TRUE(usesWgmma({.m = 1024, .n = 768, .k = 3072}));
  EXPECT_TRUE(usesWgmma({.m = 512, .n = 768, .k = 768, .batch = "12x"}));
  // Mostly empty tiles; few deep ones.
  EXPECT_FALSE(usesWgmma({.m = 16, .n = 4096, .k = 4096}));
  EXPECT_FALSE(usesWgmma({.m = 128, .n = 128, .k = 65536}));
}

TEST(WgmmaChoice, ByOperands) {
  // Rows of a number of bytes that is no multiple of 16.
  Product product{.m = 2048, .n = 2048, .k = 1020};
  EXPECT_FALSE(usesWgmma(product));
  product.transposeLeft = true;
  EXPECT_TRUE(usesWgmma(product));
  product.type = "f32";
  EXPECT_FALSE(usesWgmma(product));
}

TEST(WgmmaChoice, ByRule) {
  Product product{.m = 4096, .n = 4096, .k = 4096};
  auto rules = useTile({64, 128, 64});
  EXPECT_NE(ShippedPtx(product.text(), rules).ptx.find("m64n128k16"),
            std::string::npos);
  rules.front().tile = {64, 64, 32}; // of mma.sync
  EXPECT_FALSE(usesWgmma(product, rules));
}

//===----------------------------------------------------------------------===//
// What ptxas makes of it
//===----------------------------------------------------------------------===//

class WgmmaTileTest : public testing::TestWithParam<cuda::WgmmaTile> {};

TEST_P(WgmmaTileTest, HasNoSpills) {
  const cuda::WgmmaTile &tile = GetParam();
  EXPECT_LE(tile.sharedBytes(), 227 << 10);
  // 228 KB of a multiprocessor, of which each block takes 1 KB more.
  EXPECT_LE(tile.blocks * (tile.sharedBytes() + 1024), 228 << 10);
  Product plain{.m = 4096, .n = 4096, .k = 4096, .result = "f16"};
  Product fused = plain, transposed = plain;
  fused.bias = fused.relu = fused.residual = true;
  fused.m = fused.n = 4104;
  transposed.transposeLeft = transposed.transposeRight = true;
  transposed.bias = true;
  Conv conv{.batch = 8,
            .size = 57,
            .channels = 64,
            .outputs = 264,
            .kernel = 3,
            .stride = 2,
            .pad = 1,
            .bias = true};
  for (const std::string &text :
       {plain.text(), fused.text(), transposed.text(), conv.text()}) {
    ShippedPtx kernel(text, useTile({tile.m, tile.n, tile.k}));
    std::string said = assembleVerbosely(kernel.ptx);
    if (said.empty()) {
      GTEST_SKIP() << "no ptxas";
    }
    // A residual is read by vectors of a row.
    EXPECT_EQ(kernel.ptx.find("stmatrix") == std::string::npos,
              text == fused.text());
    EXPECT_EQ(kernel.ptx.find("setmaxnreg") != std::string::npos,
              tile.movesRegisters());
    EXPECT_NE(said.find(" 0 bytes spill stores, 0 bytes spill loads"),
              std::string::npos)
        << said;
    // "wgmma.mma_async instructions are serialized", C7510 and its like; and
    // setmaxnreg that was ignored.
    EXPECT_EQ(said.find("serialized"), std::string::npos) << said;
    EXPECT_EQ(said.find("Performance Loss"), std::string::npos) << said;
    EXPECT_EQ(said.find("warning"), std::string::npos) << said;
  }
}

std::string nameOfTile(const testing::TestParamInfo<cuda::WgmmaTile> &info) {
  return number(info.param.m) + "x" + number(info.param.n);
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaTileTest,
                         testing::ValuesIn(cuda::getWgmmaTiles().begin(),
                                           cuda::getWgmmaTiles().end()),
                         nameOfTile);

} // namespace
} // namespace ampc::test
