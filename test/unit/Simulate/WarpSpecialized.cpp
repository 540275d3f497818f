//===- WarpSpecialized.cpp - A producer and a warpgroup of wgmma ----------===//
#include "test/unit/Simulate/HopperText.h"

using namespace ampc::test;

namespace {

constexpr int stages = 3, stageBytes = 16384; // A and B of 64 x 64, f16

/// Stages, and `index` as an address of its mbarrier: full ones first.
std::string ring(const std::string &name, const std::string &step) {
  return "  %" + name + "s = urem i32 " + step + ", " + number(stages) +
         "\n  %" + name + "h = udiv i32 " + step + ", " + number(stages) +
         "\n  %" + name +
         "full = getelementptr i64, ptr addrspace(3) @bar, i32 "
         "%" +
         name + "s\n  %" + name + "e = add i32 %" + name + "s, " +
         number(stages) + "\n  %" + name +
         "empty = getelementptr i64, ptr addrspace(3) @bar, i32 %" + name +
         "e\n  %" + name + "offset = mul i32 %" + name + "s, " +
         number(stageBytes) + "\n";
}

std::string waitFor(const std::string &label, const std::string &barrier,
                    const std::string &parity, const std::string &next) {
  return "  br label %" + label + "\n" + label + ":\n  %" + label +
         "done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space."
         "cta(ptr addrspace(3) " +
         barrier + ", i32 " + parity + ")\n  br i1 %" + label +
         "done, label %" + next + ", label %" + label + "\n" + next + ":\n";
}

std::string load(const std::string &map, const std::string &to,
                 const std::string &x, const std::string &y) {
  return "  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr "
         "addrspace(7) " +
         to + ", ptr addrspace(3) %pfull, ptr " + map + ", i32 " + x +
         ", i32 " + y + ", i16 0, i64 0, i1 false, i1 false, i32 0)\n";
}

} // namespace

std::string ampc::test::warpSpecializedGemm(HopperBug bug) {
  WgmmaShape shape; // n = 64, both K-major
  WgmmaText wgmma(shape);
  Tile a = layOut(shape, 64, false, 0);
  Tile b = layOut(shape, 64, false, stageBytes / 2);
  std::string text = R"(
target triple = "nvptx64-nvidia-cuda"
@smem = external addrspace(3) global [0 x i8], align 1024
@bar = internal addrspace(3) global [6 x i64] undef, align 8
define ptx_kernel void @product(ptr byval([128 x i8]) align 128 "nvvm.grid_constant" %mapA, ptr byval([128 x i8]) align 128 "nvvm.grid_constant" %mapB, ptr addrspace(1) %D, i32 %steps) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %init, label %ready
init:
)";
  for (int i = 0; i < 2 * stages; ++i) {
    text += "  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) "
            "getelementptr (i64, ptr addrspace(3) @bar, i32 " +
            number(i) + "), i32 1)\n";
  }
  text +=
      R"(  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %produces = icmp uge i32 %t, 128
  br i1 %produces, label %producer, label %consumer
producer:
  %leads = icmp eq i32 %t, 128
  br i1 %leads, label %ploop, label %end
ploop:
  %p = phi i32 [0, %producer], [%p1, %pcopy]
)" + ring("p", "%p") +
      "  %pp0 = add i32 %ph, 1\n  %pp = and i32 %pp0, 1\n" +
      waitFor("pwait", "%pempty", "%pp", "pcopy") +
      "  %token = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta."
      "space.cta(ptr addrspace(3) %pfull, i32 " +
      number(stageBytes) +
      ")\n  %pto3 = getelementptr i8, ptr addrspace(3) @smem, i32 %poffset\n"
      "  %pto = addrspacecast ptr addrspace(3) %pto3 to ptr addrspace(7)\n"
      "  %ptob = getelementptr i8, ptr addrspace(7) %pto, i32 " +
      number(b.start) + "\n  %pk = shl i32 %p, 6\n" +
      load("%mapA", "%pto", "%pk", "0") + load("%mapB", "%ptob", "%pk", "0") +
      R"(  %p1 = add i32 %p, 1
  %pmore = icmp ult i32 %p1, %steps
  br i1 %pmore, label %ploop, label %end
consumer:
  %base = ptrtoint ptr addrspace(3) @smem to i64
  br label %cloop
cloop:
  %c = phi i32 [0, %consumer], [%c1, %cnext]
)";
  int steps = shape.depth() / shape.k();
  std::string last = "sum" + number(steps - 1);
  std::vector<std::string> sums;
  for (int i = 0; i < wgmma.registers; ++i) {
    std::string n = number(i);
    text += "  %acc" + n + " = phi float [0.0, %consumer], [%" + last + "_" +
            n + ", %cnext]\n";
    sums.push_back("%acc" + n);
  }
  text += ring("c", "%c") + "  %cp = and i32 %ch, 1\n" +
          waitFor("cwait", "%cfull", "%cp", "cuse") +
          "  %coffset64 = zext i32 %coffset to i64\n"
          "  %cbase = add i64 %base, %coffset64\n"
          "  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n";
  for (int step = 0; step < steps; ++step) {
    for (bool isA : {true, false}) {
      const Tile &tile = isA ? a : b;
      std::string name = (isA ? "da" : "db") + number(step);
      text += "  %" + name + "a = add i64 %cbase, " +
              number(tile.start + step * tile.step) + "\n  %" + name +
              "m = and i64 %" + name + "a, 262143\n  %" + name +
              "s = lshr i64 %" + name + "m, 4\n  %" + name + " = or i64 %" +
              name + "s, " +
              number(static_cast<int64_t>(descriptorBits(shape, tile))) + "\n";
    }
    std::string name = "sum" + number(step);
    text +=
        wgmma.call(name, sums, {"%da" + number(step)}, "%db" + number(step));
    for (int i = 0; i < wgmma.registers; ++i) {
      text += wgmma.extract(name, i);
      sums[static_cast<size_t>(i)] = "%" + name + "_" + number(i);
    }
  }
  // With one group in flight, the stage before this one is free.
  std::string freed = bug == HopperBug::earlyRelease ? "%c" : "%cminus1";
  text +=
      R"(  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()
  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 1)
  %cminus1 = sub i32 %c, 1
  %later = icmp ne i32 %c, )" +
      std::string(bug == HopperBug::earlyRelease ? "-1" : "0") +
      R"(
  %frees = and i1 %later, %first
  br i1 %frees, label %release, label %cnext
release:
)" + ring("r", freed) +
      R"(  %rtoken = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %rempty)
  br label %cnext
cnext:
  %c1 = add i32 %c, 1
  %cmore = icmp ult i32 %c1, %steps
  br i1 %cmore, label %cloop, label %cdone
cdone:
)";
  if (bug != HopperBug::noWgmmaWait) {
    text += "  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)\n";
  }
  text += "  %o = mul i32 %t, " + number(wgmma.registers) +
          "\n  %to = getelementptr float, ptr addrspace(1) %D, i32 %o\n";
  for (int i = 0; i < wgmma.registers; ++i) {
    std::string n = number(i);
    text += "  %q" + n + " = getelementptr float, ptr addrspace(1) %to, i32 " +
            n + "\n  store float %" + last + "_" + n + ", ptr addrspace(1) %q" +
            n + ", align 4\n";
  }
  return text + "  br label %end\nend:\n  ret void\n}\n" + hopperDeclarations +
         "declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))\n";
}
