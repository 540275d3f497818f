//===- VectorAddTest.cpp - The plainest kernel, and its faults ------------===//
#include "test/unit/Simulate/Harness.h"

using namespace ampc::test;
using sim::Fault;

namespace {

/// c[i] = a[i] + b[i] for i below n, or below a wrong bound.
std::string vectorAdd(const std::string &compare) {
  return R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @vadd(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, i32 %n) !dbg !4 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b0 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %bs = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %base = mul i32 %b0, %bs
  %i = add i32 %base, %t
  %in = icmp )" +
         compare + R"( i32 %i, %n
  br i1 %in, label %body, label %end
body:
  %pa = getelementptr float, ptr addrspace(1) %a, i32 %i
  %pb = getelementptr float, ptr addrspace(1) %b, i32 %i
  %pc = getelementptr float, ptr addrspace(1) %c, i32 %i
  %x = load float, ptr addrspace(1) %pa, align 4, !dbg !5
  %y = load float, ptr addrspace(1) %pb, align 4, !dbg !6
  %z = fadd float %x, %y
  store float %z, ptr addrspace(1) %pc, align 4, !dbg !7
  br label %end
end:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "model.onnx/Add_3", directory: "")
!2 = !DISubroutineType(types: !{})
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "vadd", file: !1, line: 1, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DILocation(line: 11, column: 3, scope: !4)
!6 = !DILocation(line: 12, column: 3, scope: !4)
!7 = !DILocation(line: 13, column: 3, scope: !4)
)";
}

class VectorAdd : public testing::Test {
protected:
  static constexpr int n = 1000;
  /// Runs 4 blocks of 256 threads on `n` elements.
  void run(const std::string &compare, bool initialize = true, int offset = 0) {
    program = Program::fromLlvm(vectorAdd(compare), 80);
    ASSERT_EQ(program->error(), "");
    EXPECT_EQ(program->assemble(), "");
    device = std::make_unique<Device>(*program);
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) {
      x[i] = static_cast<float>(i);
      y[i] = static_cast<float>(2 * i);
    }
    auto *a = reinterpret_cast<char *>(device->upload(x, "a")) + offset;
    void *b =
        initialize ? device->upload(y, "b") : device->allocate(4 * n, "b");
    c = static_cast<float *>(device->allocate(4 * n, "c"));
    device->param(a).param(b).param(c).param(n);
    device->launch("vadd", {4, 1, 1}, {256, 1, 1});
  }
  std::unique_ptr<Program> program;
  std::unique_ptr<Device> device;
  float *c = nullptr;
};

TEST_F(VectorAdd, Computes) {
  ASSERT_NO_FATAL_FAILURE(run("slt"));
  EXPECT_TRUE(device->report.clean()) << device->report.text().c_str();
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(c[i], static_cast<float>(3 * i));
  }
  EXPECT_EQ(device->report.counters().blocks, 4u);
}

TEST_F(VectorAdd, OffByOneIsOutOfBounds) {
  ASSERT_NO_FATAL_FAILURE(run("sle"));
  EXPECT_TRUE(found(device->report, Fault::outOfBounds,
                    "load float, global memory, align 4 at "
                    "model.onnx/Add_3:11:3",
                    "read of 4 bytes reaches"));
  EXPECT_TRUE(found(device->report, Fault::outOfBounds, "",
                    "reaches a + 4000 (it has 4000 bytes)"));
}

TEST_F(VectorAdd, UnwrittenInput) {
  ASSERT_NO_FATAL_FAILURE(run("slt", false));
  EXPECT_TRUE(found(device->report, Fault::uninitialized,
                    "model.onnx/Add_3:12:3", "read of b + 0, which nothing"));
}

TEST_F(VectorAdd, MisalignedPointer) {
  ASSERT_NO_FATAL_FAILURE(run("slt", true, 2));
  EXPECT_TRUE(found(device->report, Fault::misaligned, "model.onnx/Add_3:11:3",
                    "which is not aligned to 4"));
}

} // namespace
