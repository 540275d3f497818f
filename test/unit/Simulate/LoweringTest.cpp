//===- LoweringTest.cpp - What is not known is an error that names it -----===//
#include "test/unit/Simulate/Harness.h"

using namespace ampc::test;

namespace {

/// The error of a kernel with this body.
std::string errorOf(const std::string &body, const std::string &rest = "") {
  auto program = Program::fromLlvm(
      "target triple = \"nvptx64-nvidia-cuda\"\n"
      "define ptx_kernel void @k(ptr addrspace(1) %x, float %f) #0 {\n" +
          body + "  ret void\n}\n" + rest +
          (rest.find("attributes") == std::string::npos
               ? "attributes #0 = { nounwind }\n"
               : ""),
      90);
  return program->error();
}

TEST(SimulateLowering, UnknownIntrinsic) {
  EXPECT_EQ(errorOf("  %r = call i32 @llvm.nvvm.read.ptx.sreg.pm0()\n"
                    "  store volatile i32 %r, ptr addrspace(1) %x\n",
                    "declare i32 @llvm.nvvm.read.ptx.sreg.pm0()\n"),
            "kernel code of k: the intrinsic llvm.nvvm.read.ptx.sreg.pm0 is "
            "not supported");
}

TEST(SimulateLowering, UnknownAssembly) {
  EXPECT_EQ(errorOf("  call void asm sideeffect \"brkpt;\", \"\"()\n"),
            "kernel code of k: the inline assembly brkpt is not supported");
  EXPECT_EQ(
      errorOf("  call void asm sideeffect \"@$1 st.global.u32 [$0], 5;\", "
              "\"l,b\"(ptr addrspace(1) %x, i1 true)\n"),
      "kernel code of k: the inline assembly st.global.u32 is not "
      "supported");
}

TEST(SimulateLowering, AllProblemsAtOnce) {
  std::string error =
      errorOf("  call void asm sideeffect \"brkpt;\", \"\"()\n"
              "  call void @llvm.nvvm.barrier.cluster.arrive()\n",
              "declare void @llvm.nvvm.barrier.cluster.arrive()\n");
  EXPECT_NE(error.find("brkpt"), std::string::npos);
  EXPECT_NE(error.find("barrier.cluster.arrive"), std::string::npos);
}

TEST(SimulateLowering, FunctionsWithoutABody) {
  EXPECT_EQ(errorOf("  call void @helper()\n", "declare void @helper()\n"),
            "kernel code of k: the function helper has no body");
}

TEST(SimulateLowering, MathFunctionsOfTheHost) {
  EXPECT_EQ(errorOf("  %r = call float @llvm.exp.f32(float %f)\n"
                    "  store volatile float %r, ptr addrspace(1) %x\n",
                    "declare float @llvm.exp.f32(float)\n"),
            "kernel code of k: the intrinsic llvm.exp.f32 is not supported");
}

TEST(SimulateLowering, Clusters) {
  EXPECT_EQ(errorOf("", "attributes #0 = { \"nvvm.cluster_dim\"=\"2,1,1\" }\n"),
            "k: expected clusters of one block, got 2,1,1");
}

TEST(SimulateLowering, Subnormals) {
  EXPECT_EQ(errorOf("", "attributes #0 = { \"denormal-fp-math-f32\"="
                        "\"preserve-sign,preserve-sign\" }\n"),
            "k: flushing of subnormals is not supported");
}

TEST(SimulateLowering, SharedVariableOfNoSize) {
  EXPECT_EQ(errorOf("  store volatile i8 0, ptr addrspace(3) @s\n",
                    "@s = internal addrspace(3) global [0 x i8] undef\n"),
            "shared variable s of no size is not external: NVPTX makes one "
            "byte of it");
}

TEST(SimulateLowering, VariablesWithoutAValue) {
  EXPECT_EQ(errorOf("  store volatile i8 0, ptr addrspace(1) @g\n",
                    "@g = external addrspace(1) global i8\n"),
            "the variable g has no value");
}

/// Each kernel has the shared memory that it uses, itself or by a function.
TEST(SimulateLowering, SharedMemoryOfKernels) {
  auto program = Program::fromLlvm(R"(
target triple = "nvptx64-nvidia-cuda"
@a = internal addrspace(3) global [1000 x i32] undef, align 4
@b = internal addrspace(3) global [9000 x i32] undef, align 4
define void @put(i32 %i) noinline {
  %p = getelementptr i32, ptr addrspace(3) @b, i32 %i
  store volatile i32 %i, ptr addrspace(3) %p, align 4
  ret void
}
define ptx_kernel void @small() {
  store volatile i32 1, ptr addrspace(3) @a, align 4
  ret void
}
define ptx_kernel void @large(i32 %i) {
  call void @put(i32 %i)
  ret void
}
)",
                                   80);
  ASSERT_EQ(program->error(), "");
  const ampc_sim_kernel &small = program->kernel("small");
  const ampc_sim_kernel &large = program->kernel("large");
  ASSERT_EQ(small.num_variables, 1u);
  EXPECT_STREQ(small.variables[0].name, "a");
  ASSERT_EQ(large.num_variables, 1u);
  EXPECT_STREQ(large.variables[0].name, "b");
  EXPECT_LT(large.static_shared, 36100u);
  Device device(*program);
  device.param(8999);
  device.launch("large", {1, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(device.report.clean()) << device.report.text().c_str();
  device.param(9000);
  device.launch("large", {1, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(found(device.report, sim::Fault::outOfBounds, "put: store i32",
                    "b + 36000 (it has 36000 bytes)"));
}

/// Tables of a module are readable, and not beyond their ends.
TEST(SimulateLowering, ConstantTables) {
  auto program = Program::fromLlvm(R"(
target triple = "nvptx64-nvidia-cuda"
@table = internal addrspace(4) constant [4 x i32] [i32 5, i32 6, i32 7, i32 8], align 4
define ptx_kernel void @k(ptr addrspace(1) %out, i32 %i) {
  %p = getelementptr i32, ptr addrspace(4) @table, i32 %i
  %v = load i32, ptr addrspace(4) %p, align 4
  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
}
)",
                                   80);
  ASSERT_EQ(program->error(), "");
  EXPECT_EQ(program->assemble(), "");
  Device device(*program);
  auto *out = static_cast<int *>(device.allocate(4, "out"));
  device.param(out).param(2);
  device.launch("k", {1, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(device.report.clean()) << device.report.text().c_str();
  EXPECT_EQ(*out, 7);
  device.param(out).param(4);
  device.launch("k", {1, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(found(device.report, sim::Fault::outOfBounds,
                    "load i32, constant memory", "reaches table + 16"));
}

TEST(SimulateLowering, NoKernel) {
  auto program = Program::fromLlvm("target triple = \"nvptx64-nvidia-cuda\"\n"
                                   "define void @f() {\n  ret void\n}\n",
                                   80);
  EXPECT_EQ(program->error(), "the module has no kernel");
}

/// Arithmetic of 16-bit floats, fused and rounded as the GPU does.
TEST(SimulateLowering, NarrowFloats) {
  auto program = Program::fromLlvm(R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %out) {
  %f = load float, ptr addrspace(1) %x, align 4
  %p1 = getelementptr float, ptr addrspace(1) %x, i32 1
  %g = load float, ptr addrspace(1) %p1, align 4
  %b = fptrunc float %f to bfloat
  %c = fptrunc float %g to bfloat
  %s = fadd bfloat %b, %c
  store bfloat %s, ptr addrspace(1) %out, align 2
  %h = fptrunc float %f to half
  %i = fptrunc float %g to half
  %m = call half @llvm.fma.f16(half %h, half %h, half %i)
  %hv0 = insertelement <2 x bfloat> poison, bfloat %b, i32 0
  %hv = insertelement <2 x bfloat> %hv0, bfloat %c, i32 1
  %fv = call <2 x bfloat> @llvm.fma.v2bf16(<2 x bfloat> %hv, <2 x bfloat> %hv, <2 x bfloat> %hv)
  %ov = getelementptr half, ptr addrspace(1) %out, i32 8
  store <2 x bfloat> %fv, ptr addrspace(1) %ov, align 4
  %o1 = getelementptr half, ptr addrspace(1) %out, i32 1
  store half %m, ptr addrspace(1) %o1, align 2
  %t = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %f, float %g)
  %o2 = getelementptr half, ptr addrspace(1) %out, i32 2
  store <2 x bfloat> %t, ptr addrspace(1) %o2, align 4
  %e = call float @llvm.nvvm.ex2.approx.f(float %g)
  %o4 = getelementptr float, ptr addrspace(1) %out, i32 2
  store float %e, ptr addrspace(1) %o4, align 4
  %th = call float asm "tanh.approx.f32 $0, $1;", "=f,f"(float %g)
  %o6 = getelementptr float, ptr addrspace(1) %out, i32 3
  store float %th, ptr addrspace(1) %o6, align 4
  ret void
}
declare half @llvm.fma.f16(half, half, half)
declare <2 x bfloat> @llvm.fma.v2bf16(<2 x bfloat>, <2 x bfloat>, <2 x bfloat>)
declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)
declare float @llvm.nvvm.ex2.approx.f(float)
)",
                                   80);
  ASSERT_EQ(program->error(), "");
  EXPECT_EQ(program->assemble(), "");
  Device device(*program);
  auto *x = device.upload(std::vector<float>{1.0f + 0x1p-8f, 3}, "x");
  auto *out = static_cast<uint16_t *>(device.allocate(20, "out"));
  device.param(x).param(out);
  device.launch("k", {1, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(device.report.clean()) << device.report.text().c_str();
  EXPECT_EQ(out[0], 0x4080); // 1 + 3: the tie went to even
  EXPECT_EQ(out[1], 0x4402); // (1 + 2^-8)^2 + 3 = 4.0078
  EXPECT_EQ(out[2], 0x4040); // the second operand is the lower half
  EXPECT_EQ(out[3], 0x3f80);
  EXPECT_EQ(out[8], 0x4000); // 1 * 1 + 1
  EXPECT_EQ(out[9], 0x4140); // 3 * 3 + 3
  float eight, tanh3;
  memcpy(&eight, out + 4, 4);
  memcpy(&tanh3, out + 6, 4);
  EXPECT_EQ(eight, 8);
  EXPECT_FLOAT_EQ(tanh3, 0.99505475f);
}

/// Parameters by value are the launch's; reading beyond one is out of bounds.
TEST(SimulateLowering, ParametersByValue) {
  auto program = Program::fromLlvm(R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr byval([4 x i32]) align 16 %p, i32 %i, ptr addrspace(1) %out) {
  %q = getelementptr i32, ptr %p, i32 %i
  %v = load i32, ptr %q, align 4
  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
}
)",
                                   80);
  ASSERT_EQ(program->error(), "");
  Device device(*program);
  auto *out = static_cast<int *>(device.allocate(4, "out"));
  std::array<int, 4> values = {10, 20, 30, 40};
  device.param(values).param(2).param(out);
  device.launch("k", {1, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(device.report.clean()) << device.report.text().c_str();
  EXPECT_EQ(*out, 30);
  device.param(values).param(-100).param(out);
  device.launch("k", {1, 1, 1}, {1, 1, 1});
  EXPECT_TRUE(found(device.report, sim::Fault::outOfBounds, "load i32", ""));
}

} // namespace
