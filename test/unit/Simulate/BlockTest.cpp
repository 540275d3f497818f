//===- BlockTest.cpp - Blocks that share global memory ------------------===//
#include "test/unit/Simulate/WarpFixture.h"

using namespace ampc::test;
using sim::Fault;

namespace {

using Blocks = Warps;

TEST_F(Blocks, BlocksThatWriteTheSameRace) {
  run(kernel("  store i32 %b, ptr addrspace(1) %ot, align 4"), 32, 2);
  EXPECT_TRUE(found(device->report, Fault::globalRace,
                    "store i32, global memory",
                    "no release and acquire between the blocks"));
}

TEST_F(Blocks, ThreadsOfABlockRaceInGlobalMemoryToo) {
  run(kernel("  store i32 %t, ptr addrspace(1) %ot, align 4\n"
             "  %n = xor i32 %t, 32\n"
             "  %p = getelementptr i32, ptr addrspace(1) %out, i32 %n\n"
             "  %v = load i32, ptr addrspace(1) %p, align 4\n"
             "  store i32 %v, ptr addrspace(1) %xt, align 4"),
      64);
  EXPECT_TRUE(found(device->report, Fault::globalRace, "load i32",
                    "of the same block: no barrier between"));
}

TEST_F(Blocks, AtomicsDoNotRace) {
  run(kernel("  %old = atomicrmw add ptr addrspace(1) %out, i32 1 monotonic, "
             "align 4"),
      64, 4);
  EXPECT_TRUE(clean()) << device->report.text().c_str();
  EXPECT_EQ(out[0], 256);
}

/// Each block writes its part and takes a ticket; the last one adds them up.
std::string lastBlockSum(const std::string &fence) {
  return kernel(R"(
  %n = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %put, label %end
put:
  %part = getelementptr i32, ptr addrspace(1) %out, i32 %b
  %value = add i32 %b, 1
  store i32 %value, ptr addrspace(1) %part, align 4
)" + fence + R"(
  %counter = getelementptr i32, ptr addrspace(1) %out, i32 100
  %ticket = atomicrmw add ptr addrspace(1) %counter, i32 1 monotonic, align 4
)" + fence + R"(
  %m = sub i32 %n, 1
  %last = icmp eq i32 %ticket, %m
  br i1 %last, label %loop, label %end
loop:
  %i = phi i32 [0, %put], [%i1, %loop]
  %sum = phi i32 [0, %put], [%sum1, %loop]
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %i
  %v = load i32, ptr addrspace(1) %q, align 4
  %sum1 = add i32 %sum, %v
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = getelementptr i32, ptr addrspace(1) %out, i32 200
  store i32 %sum1, ptr addrspace(1) %r, align 4
  br label %end
end:)");
}

TEST_F(Blocks, TicketsOrderBlocks) {
  run(lastBlockSum("  call void @llvm.nvvm.membar.gl()\n"), 32, 8);
  EXPECT_TRUE(clean()) << device->report.text().c_str();
  EXPECT_EQ(out[200], 36);
}

TEST_F(Blocks, TicketsWithoutFencesDoNot) {
  run(lastBlockSum(""), 32, 8);
  EXPECT_TRUE(found(device->report, Fault::globalRace, "load i32",
                    "no release and acquire between the blocks"));
}

/// Block b waits for block b - 1: with release and acquire, on two host
/// threads.
TEST_F(Blocks, ChainsOfBlocks) {
  const std::string text = kernel(R"(
  %flags = getelementptr i32, ptr addrspace(1) %out, i32 500
  %first = icmp eq i32 %b, 0
  %before = sub i32 %b, 1
  %fp = getelementptr i32, ptr addrspace(1) %flags, i32 %before
  br i1 %first, label %work, label %wait
wait:
  %f = load atomic i32, ptr addrspace(1) %fp syncscope("device") acquire, align 4
  %go = icmp eq i32 %f, 1
  br i1 %go, label %work, label %wait
work:
  %old = load i32, ptr addrspace(1) %ot, align 4
  %new = add i32 %old, 1
  store i32 %new, ptr addrspace(1) %ot, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %lead = icmp eq i32 %t, 0
  br i1 %lead, label %signal, label %end
signal:
  %mine = getelementptr i32, ptr addrspace(1) %flags, i32 %b
  store atomic i32 1, ptr addrspace(1) %mine syncscope("device") release, align 4
  br label %end
end:)");
  for (uint32_t threads : {1u, 2u}) {
    device.reset();
    program = Program::fromLlvm(text, 80);
    ASSERT_EQ(program->error(), "");
    device = std::make_unique<Device>(*program);
    out = device->upload(std::vector<int32_t>(1024), "out");
    device->options.hostThreads = threads;
    device->param(out).param(out);
    device->launch("k", {16, 1, 1}, {64, 1, 1});
    EXPECT_TRUE(clean()) << device->report.text().c_str();
    EXPECT_EQ(out[5], 16);
  }
}

TEST_F(Blocks, WaitingForNobodyIsALivelock) {
  device.reset();
  run(kernel(
          "  br label %wait\nwait:\n"
          "  %f = load atomic i32, ptr addrspace(1) %out monotonic, align 4\n"
          "  %go = icmp eq i32 %f, 1\n"
          "  br i1 %go, label %end, label %wait\nend:"),
      32);
  EXPECT_TRUE(
      found(device->report, Fault::livelock, "load i32", "nobody does"));
}

/// Columns of a 32 x 32 tile: all lanes in one bank, unless rows are padded.
TEST_F(Blocks, BankConflictsAreCounted) {
  for (int pitch : {32, 33}) {
    device.reset();
    std::string size = std::to_string(32 * pitch);
    program = Program::fromLlvm(
        kernel("  %i = mul i32 %t, " + std::to_string(pitch) +
                   "\n  %p = getelementptr i32, ptr addrspace(3) @s, i32 %i\n"
                   "  store volatile i32 %t, ptr addrspace(3) %p, align 4",
               "@s = internal addrspace(3) global [" + size +
                   " x i32] undef, align 4\n"),
        80);
    ASSERT_EQ(program->error(), "");
    device = std::make_unique<Device>(*program);
    device->options.traffic = true;
    out = device->upload(std::vector<int32_t>(64), "out");
    device->param(out).param(out);
    device->launch("k", {1, 1, 1}, {32, 1, 1});
    ASSERT_EQ(device->report.traffic().size(), 1u);
    EXPECT_EQ(device->report.traffic()[0].requests, 1u);
    EXPECT_EQ(device->report.traffic()[0].passes, pitch == 32 ? 32u : 1u);
    EXPECT_EQ(device->report.traffic()[0].leastPasses, 1u);
    std::string text = device->report.trafficText().c_str();
    std::string line = "shared            1           32            1  32.00  "
                       "k: store i32, shared memory, align 4\n";
    EXPECT_EQ(text.find(line) != std::string::npos, pitch == 32) << text;
  }
}

} // namespace
