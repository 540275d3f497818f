//===- KernelReportTest.cpp - What is told of a kernel without running it -===//
#include "compiler/Targets/CUDA/Assembler.h"
#include "compiler/Targets/CUDA/CubinReader.h"
#include "compiler/Targets/CUDA/Gpus.h"
#include "compiler/Targets/CUDA/InstructionMix.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

namespace ampc::test {
namespace {
using namespace cuda;

const CudaArchitecture &arch(llvm::StringRef name) {
  return *llvm::cantFail(findCudaArchitecture(name));
}

/// Rows of NVIDIA's occupancy calculator.
TEST(Occupancy, asTheCalculatorHasIt) {
  struct {
    const char *arch;
    unsigned threads, registers, shared, blocks;
    const char *limiter;
  } cases[] = {
      {"sm_75", 256, 32, 0, 4, "warps"},
      {"sm_75", 256, 128, 0, 2, "registers"},
      {"sm_75", 128, 32, 32768, 2, "shared memory"},
      {"sm_80", 256, 32, 0, 8, "warps"},
      {"sm_80", 32, 16, 0, 32, "blocks"},
      {"sm_80", 128, 255, 0, 2, "registers"},
      {"sm_80", 128, 168, 0, 3, "registers"},
      {"sm_80", 128, 96, 49152, 3, "shared memory"},
      {"sm_86", 128, 40, 0, 12, "warps"},
      {"sm_89", 32, 16, 0, 24, "blocks"},
      {"sm_90a", 384, 168, 0, 1, "registers"},
      {"sm_90a", 128, 64, 232448, 1, "shared memory"},
      {"sm_90a", 128, 64, 233472, 0, "shared memory"},
      {"sm_80", 1024, 255, 0, 0, "registers"},
  };
  for (const auto &test : cases) {
    Occupancy got = computeOccupancy(arch(test.arch), test.threads,
                                     test.registers, test.shared);
    EXPECT_EQ(got.blocks, test.blocks)
        << test.arch << " " << test.threads << " " << test.registers;
    EXPECT_EQ(got.limiter, llvm::StringRef(test.limiter));
    EXPECT_EQ(got.warps, test.blocks * ((test.threads + 31) / 32));
  }
}

/// Rates follow from units and clock: a slip of a digit would show.
TEST(Gpus, ratesFitTheClock) {
  for (const Gpu &gpu : getGpus()) {
    SCOPED_TRACE(gpu.name.str());
    const CudaArchitecture &architecture = arch(gpu.architecture);
    unsigned capability = architecture.major * 10 + architecture.minor;
    double lanes = capability == 75 || capability == 80 ? 64 : 128;
    double rate = gpu.multiprocessors * lanes * 2 * gpu.clock;
    EXPECT_NEAR(gpu.rateFp32 / rate, 1, 0.01);
    EXPECT_TRUE(gpu.rateTf32 == 0 ||
                std::abs(gpu.rate16 / gpu.rateTf32 - 2) < 0.05);
    EXPECT_EQ(gpu.rateTf32 != 0, architecture.hasTf32);
    EXPECT_EQ(llvm::cantFail(findGpu(gpu.name)), &gpu);
    // The name means the same to --cuda-arch.
    EXPECT_EQ(arch(gpu.name).name, gpu.architecture);
  }
  EXPECT_EQ(llvm::cantFail(findGpu("RTX 4090"))->name, "rtx4090");
  EXPECT_TRUE(llvm::StringRef(llvm::toString(findGpu("voodoo2").takeError()))
                  .contains("h200"));
}

const char *const loops = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry first(.param .u64 first_param_0)
.maxntid 32
{
	.reg .pred %p<3>;
	.reg .b32 %r<30>;
	.reg .b64 %rd<3>;
	.shared .align 16 .b8 room[512];
	ld.param.u64 	%rd1, [first_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r1, 0;
	mov.u32 	%r20, %tid.x;
	shl.b32 	%r21, %r20, 2;
	mov.u32 	%r22, room;
	add.s32 	%r23, %r22, %r21;
$L__BB0_1:                              // the outer loop
	mov.u32 	%r2, 0;
$L__BB0_2:
	ld.shared.b32 	%r3, [%r23];
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 	{%r4, %r5, %r6, %r7}, {%r3, %r3, %r3, %r3}, {%r3, %r3}, {%r4, %r5, %r6, %r7};
	add.s32 	%r2, %r2, 1;
	setp.lt.s32 	%p1, %r2, 8;
	@%p1 bra 	$L__BB0_2;
	add.s32 	%r1, %r1, 1;
	setp.lt.s32 	%p2, %r1, 8;
	@%p2 bra 	$L__BB0_1;
$L__BB0_3:
	add.s32 	%r8, %r8, %r4;
	add.s32 	%r8, %r8, %r5;
	st.global.b32 	[%rd2], %r8;
	ret;
}
.visible .entry second(.param .u64 second_param_0)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 	%rd1, [second_param_0];
	cvta.to.global.u64 	%rd2, %rd1;
	ld.global.b32 	%r1, [%rd2];
	fma.rn.f32 	%r2, %r1, %r1, %r1;
	st.global.b32 	[%rd2], %r2;
	ret;
}
)";

TEST(InstructionMix, innermostLoopWithProducts) {
  InstructionMix mix = readPtxMix(loops, "first");
  EXPECT_TRUE(mix.isLoop);
  EXPECT_EQ(mix.total, 5u);
  EXPECT_EQ(mix.counts["mma"], 1u);
  EXPECT_EQ(mix.counts["ld.shared"], 1u);
  EXPECT_EQ(mix.counts["integer"], 1u);
  EXPECT_EQ(mix.counts["compare"], 1u);
  EXPECT_EQ(mix.counts["branch"], 1u);
  EXPECT_EQ(findProductRate(loops, "first"), ProductRate::Half);

  mix = readPtxMix(loops, "second");
  EXPECT_FALSE(mix.isLoop);
  EXPECT_EQ(mix.total, 6u);
  EXPECT_EQ(mix.counts["fma"], 1u);
  EXPECT_EQ(findProductRate(loops, "second"), ProductRate::Fp32);
  EXPECT_EQ(readPtxMix(loops, "third").total, 0u);
  EXPECT_EQ(readPtxMix("", "first").total, 0u);
}

/// As nvdisasm -c prints it, and cuobjdump -sass.
TEST(InstructionMix, machineCode) {
  const char *nvdisasm = R"(
//--------------------- .text.first              --------------------------
	.section	.text.first,"ax",@progbits
.text.first:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   LDSM.16.M88.4 R4, [R2] ;
        /*0020*/                   HMMA.16816.F32 R8, R4, R6, R8 ;
        /*0030*/              @!P0 BRA `(.L_x_0) ;
        /*0040*/                   STG.E [R2.64], R8 ;
        /*0050*/                   EXIT ;
.L_x_1:
        /*0060*/                   BRA `(.L_x_1);
        /*0070*/                   NOP;
)";
  InstructionMix mix = readSassMix(nvdisasm, "first");
  EXPECT_TRUE(mix.isLoop);
  EXPECT_EQ(mix.total, 3u);
  EXPECT_EQ(mix.counts["mma"], 1u);
  EXPECT_EQ(mix.counts["ldmatrix"], 1u);
  const char *cuobjdump = R"(
		Function : first
	.headerflags	@"EF_CUDA_SM80"
        /*0000*/                   MOV R1, c[0x0][0x28] ;      /* 0x00000a0000017a02 */
                                                               /* 0x000fe40000000f00 */
        /*0010*/                   FFMA R2, R3, R4, R2 ;       /* 0x0000000403027223 */
        /*0020*/               @P0 BRA 0x10 ;                  /* 0xfffffff000000947 */
        /*0030*/                   EXIT ;                      /* 0x000000000000794d */
)";
  mix = readSassMix(cuobjdump, "first");
  EXPECT_TRUE(mix.isLoop);
  EXPECT_EQ(mix.total, 2u);
  EXPECT_EQ(mix.counts["fma"], 1u);
}

/// What the reader finds in a cubin is what ptxas says of it.
TEST(CubinReader, asPtxasSays) {
  if (!canAssemble()) {
    GTEST_SKIP() << "no ptxas";
  }
  for (const char *name : {"sm_80", "sm_89", "sm_90a", "sm_120"}) {
    std::string error;
    auto assembly = assemble(loops, arch(name), error);
    ASSERT_TRUE(mlir::succeeded(assembly)) << error;
    auto kernels = readCubin(assembly->cubin);
    ASSERT_TRUE(static_cast<bool>(kernels))
        << llvm::toString(kernels.takeError());
    ASSERT_EQ(kernels->size(), 2u);
    for (const KernelResources &kernel : *kernels) {
      EXPECT_EQ(kernel.stackBytes, 0u);
      EXPECT_GT(kernel.codeBytes, 0u);
      EXPECT_EQ(kernel.sharedBytes, kernel.symbol == "first" ? 512u : 0u)
          << name << " " << kernel.symbol;
      llvm::StringRef log = assembly->log;
      log = log.drop_front(log.find("'" + kernel.symbol + "'"));
      log = log.drop_front(log.find("Used ") + 5);
      unsigned registers = 0;
      ASSERT_FALSE(log.consumeInteger(10, registers)) << assembly->log;
      EXPECT_EQ(kernel.registers, registers) << name << " " << kernel.symbol;
    }
    EXPECT_EQ(assembly->spillStoreBytes, 0u);
  }
}

/// Any byte may be wrong; that must not matter to the reader.
TEST(CubinReader, brokenFiles) {
  auto refuses = [](llvm::StringRef bytes) {
    auto kernels = readCubin(bytes);
    bool failed = !kernels;
    llvm::consumeError(kernels.takeError());
    return failed;
  };
  EXPECT_TRUE(refuses(""));
  EXPECT_TRUE(refuses("no ELF file at all, and long enough to hold a header, so"
                      " that nothing but its content is at fault"));
  if (!canAssemble()) {
    return;
  }
  std::string error;
  auto assembly = assemble(loops, arch("sm_80"), error);
  ASSERT_TRUE(mlir::succeeded(assembly)) << error;
  const std::string whole = assembly->cubin;
  for (size_t i = 0; i < whole.size(); i += 3) {
    std::string broken = whole;
    broken[i] = static_cast<char>(broken[i] ^ 0xff);
    (void)refuses(broken);
    (void)refuses(llvm::StringRef(whole).take_front(i));
  }
}

} // namespace
} // namespace ampc::test
