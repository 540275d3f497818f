//===- WarpFixture.h - Small kernels over two arrays of integers --------===//
#ifndef AMPC_TEST_UNIT_SIMULATE_WARPFIXTURE_H
#define AMPC_TEST_UNIT_SIMULATE_WARPFIXTURE_H

#include "test/unit/Simulate/Harness.h"

namespace ampc::test {

inline const char *const declarations = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare {i32, i1} @llvm.nvvm.shfl.sync.idx.i32p(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare {i32, i1} @llvm.nvvm.match.all.sync.i32p(i32, i32)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.redux.sync.max(i32, i32)
declare {i32, i1} @llvm.nvvm.elect.sync(i32)
declare void @llvm.nvvm.membar.gl()
)";

/// A kernel @k(ptr addrspace(1) %x, ptr addrspace(1) %out) with %t, the thread,
/// %b, the block, and %xt, %ot, its elements of i32; the body ends in `ret`.
inline std::string kernel(const std::string &body,
                          const std::string &globals = "") {
  return "target triple = \"nvptx64-nvidia-cuda\"\n" + globals +
         "define ptx_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) "
         "%out) {\n"
         "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
         "  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
         "  %xt = getelementptr i32, ptr addrspace(1) %x, i32 %t\n"
         "  %ot = getelementptr i32, ptr addrspace(1) %out, i32 %t\n" +
         body + "\n  ret void\n}\n" + declarations;
}

class Warps : public testing::Test {
protected:
  /// Runs with x[i] = i, and `out` of as many elements, zeros.
  void run(const std::string &text, uint32_t threads, uint32_t blocks = 1,
           uint64_t seed = 0, unsigned arch = 80) {
    device.reset();
    program = Program::fromLlvm(text, arch);
    ASSERT_EQ(program->error(), "");
    EXPECT_EQ(program->assemble(), "");
    device = std::make_unique<Device>(*program);
    device->options.seed = seed;
    std::vector<int32_t> values(1024);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int32_t>(i);
    }
    x = device->upload(values, "x");
    out = device->upload(std::vector<int32_t>(1024), "out");
    device->param(x).param(out);
    device->launch("k", {blocks, 1, 1}, {threads, 1, 1});
  }
  /// For a value computed in each thread.
  void runValue(const std::string &body, uint32_t threads = 64) {
    run(kernel("  %v = load i32, ptr addrspace(1) %xt, align 4\n" + body +
               "  store i32 %r, ptr addrspace(1) %ot, align 4"),
        threads);
    EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
  }
  bool clean() { return device->report.clean(); }

  std::unique_ptr<Program> program;
  std::unique_ptr<Device> device;
  int32_t *x = nullptr, *out = nullptr;
};

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_SIMULATE_WARPFIXTURE_H
