//===- WarpTest.cpp - Warps, barriers, atomics and blocks that wait -------===//
#include "test/unit/Simulate/WarpFixture.h"

using namespace ampc::test;
using sim::Fault;

namespace {

TEST_F(Warps, Shuffles) {
  runValue("  %r = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %v, i32 "
           "3, i32 0)\n");
  EXPECT_EQ(out[2], 2);
  EXPECT_EQ(out[33], 33);
  EXPECT_EQ(out[40], 37);
  runValue("  %r = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %v, i32 "
           "3, i32 31)\n");
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[30], 30);
  runValue("  %r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 "
           "5, i32 31)\n");
  EXPECT_EQ(out[6], 3);
  // Segments of eight lanes: c is (32 - 8) << 8 | 31.
  runValue("  %s = call {i32, i1} @llvm.nvvm.shfl.sync.idx.i32p(i32 -1, i32 "
           "%v, i32 10, i32 6175)\n  %a = extractvalue {i32, i1} %s, 0\n"
           "  %p = extractvalue {i32, i1} %s, 1\n  %q = zext i1 %p to i32\n"
           "  %h = shl i32 %q, 16\n  %r = or i32 %a, %h\n");
  EXPECT_EQ(out[17], 65536 | 18);
}

TEST_F(Warps, Votes) {
  const std::string odd = "  %l = and i32 %v, 1\n  %c = icmp eq i32 %l, 1\n";
  runValue(odd +
           "  %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %c)\n");
  EXPECT_EQ(static_cast<uint32_t>(out[9]), 0xaaaaaaaau);
  runValue(odd + "  %y = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %c)\n"
                 "  %z = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %c)\n"
                 "  %e = zext i1 %y to i32\n  %f = zext i1 %z to i32\n"
                 "  %g = shl i32 %f, 1\n  %r = or i32 %e, %g\n");
  EXPECT_EQ(out[0], 2);
  runValue("  %w = lshr i32 %v, 2\n"
           "  %r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %w)\n");
  EXPECT_EQ(out[6], 0xf0);
  runValue("  %s = call {i32, i1} @llvm.nvvm.match.all.sync.i32p(i32 -1, i32 "
           "7)\n  %r = extractvalue {i32, i1} %s, 0\n");
  EXPECT_EQ(out[6], -1);
}

TEST_F(Warps, Reductions) {
  runValue("  %r = call i32 @llvm.nvvm.redux.sync.add(i32 %v, i32 -1)\n");
  EXPECT_EQ(out[0], 496);
  EXPECT_EQ(out[63], 496 + 1024);
  runValue("  %n = sub i32 0, %v\n"
           "  %r = call i32 @llvm.nvvm.redux.sync.max(i32 %n, i32 -1)\n");
  EXPECT_EQ(out[40], -32);
}

TEST_F(Warps, Election) {
  run(kernel("  %s = call {i32, i1} @llvm.nvvm.elect.sync(i32 -1)\n"
             "  %p = extractvalue {i32, i1} %s, 1\n"
             "  br i1 %p, label %one, label %end\none:\n"
             "  store i32 1, ptr addrspace(1) %ot, align 4\n"
             "  br label %end\nend:"),
      64, 1, 0, 90);
  EXPECT_TRUE(clean());
  EXPECT_EQ(out[0] + out[32], 2);
  EXPECT_EQ(out[1], 0);
}

/// Registers of thread (3, 2, 1) of blocks of 8 x 4 x 2, block (1, 2, 0).
TEST(Registers, AreThoseOfTheThread) {
  const std::pair<const char *, int> all[] = {{"tid.x", 3},
                                              {"tid.y", 2},
                                              {"tid.z", 1},
                                              {"ctaid.x", 1},
                                              {"ctaid.y", 2},
                                              {"ctaid.z", 0},
                                              {"ntid.x", 8},
                                              {"ntid.y", 4},
                                              {"ntid.z", 2},
                                              {"nctaid.x", 2},
                                              {"nctaid.y", 3},
                                              {"nctaid.z", 1},
                                              {"laneid", 19},
                                              {"warpid", 1},
                                              {"nwarpid", 2},
                                              {"warpsize", 32},
                                              {"lanemask.eq", 1 << 19},
                                              {"lanemask.lt", (1 << 19) - 1},
                                              {"lanemask.le", (1 << 20) - 1},
                                              {"lanemask.gt", -(1 << 20)},
                                              {"lanemask.ge", -(1 << 19)}};
  std::string body, declared;
  int index = 0;
  for (auto [name, value] : all) {
    std::string i = std::to_string(index++);
    std::string call =
        std::string("i32 @llvm.nvvm.read.ptx.sreg.") + name + "()";
    body += "  %r" + i + " = call " + call + "\n  %p" + i +
            " = getelementptr i32, ptr addrspace(1) %mine, i32 " + i +
            "\n  store i32 %r" + i + ", ptr addrspace(1) %p" + i +
            ", align 4\n";
    declared += "declare " + call + "\n";
  }
  auto program = Program::fromLlvm(
      "target triple = \"nvptx64-nvidia-cuda\"\n"
      "define ptx_kernel void @k(ptr addrspace(1) %out) {\n"
      "  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()\n"
      "  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()\n"
      "  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
      "  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\n"
      "  %b2 = mul i32 %by, 2\n  %b = add i32 %b2, %bx\n"
      "  %b64 = mul i32 %b, 64\n  %z32 = mul i32 %z, 32\n"
      "  %y8 = mul i32 %y, 8\n  %s0 = add i32 %b64, %z32\n"
      "  %s1 = add i32 %s0, %y8\n  %s2 = add i32 %s1, %x\n"
      "  %o = mul i32 %s2, 21\n"
      "  %mine = getelementptr i32, ptr addrspace(1) %out, i32 %o\n" +
          body + "  ret void\n}\n" + declared,
      80);
  ASSERT_EQ(program->error(), "");
  EXPECT_EQ(program->assemble(), "");
  Device device(*program);
  auto *out = static_cast<int *>(device.allocate(6 * 64 * 21 * 4, "out"));
  device.param(out);
  device.launch("k", {2, 3, 1}, {8, 4, 2});
  EXPECT_TRUE(device.report.clean()) << device.report.text().c_str();
  const int *mine = out + ((2 * 2 + 1) * 64 + 32 + 16 + 3) * 21;
  index = 0;
  for (auto [name, value] : all) {
    EXPECT_EQ(mine[index++], value) << name;
  }
}

TEST_F(Warps, HalvesMayMeetApart) {
  run(kernel("  %l = and i32 %t, 16\n  %low = icmp eq i32 %l, 0\n"
             "  br i1 %low, label %a, label %c\na:\n"
             "  %va = call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 65535)\n"
             "  br label %end\nc:\n"
             "  %vc = call i32 @llvm.nvvm.redux.sync.add(i32 2, i32 -65536)\n"
             "  br label %end\nend:\n"
             "  %r = phi i32 [%va, %a], [%vc, %c]\n"
             "  store i32 %r, ptr addrspace(1) %ot, align 4"),
      32);
  EXPECT_TRUE(clean()) << device->report.text().c_str();
  EXPECT_EQ(out[3], 16);
  EXPECT_EQ(out[19], 32);
}

TEST_F(Warps, DivergentShuffleIsFound) {
  run(kernel("  %low = icmp ult i32 %t, 16\n"
             "  br i1 %low, label %a, label %c\na:\n"
             "  %va = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %t, "
             "i32 1, i32 31)\n  br label %end\nc:\n"
             "  %vc = call i32 @llvm.nvvm.redux.sync.add(i32 2, i32 -1)\n"
             "  br label %end\nend:\n"
             "  %r = phi i32 [%va, %a], [%vc, %c]\n"
             "  store i32 %r, ptr addrspace(1) %ot, align 4"),
      32);
  EXPECT_TRUE(found(device->report, Fault::divergence, "shfl.sync.down.i32",
                    "which waits for this lane"));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// A block's sum by shuffles and shared memory; `barrier` may be left out.
std::string blockSum(const std::string &barrier) {
  std::string body = "  %v = load i32, ptr addrspace(1) %xt, align 4\n";
  std::string last = "%v";
  for (int step : {16, 8, 4, 2, 1}) {
    std::string n = std::to_string(step);
    body += "  %s" + n +
            " = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, "
            "i32 " +
            last + ", i32 " + n + ", i32 31)\n  %a" + n + " = add i32 " + last +
            ", %s" + n + "\n";
    last = "%a" + n;
  }
  return kernel(
      body +
          "  %w = lshr i32 %t, 5\n  %l = and i32 %t, 31\n"
          "  %p = getelementptr i32, ptr addrspace(3) @sums, i32 %w\n"
          "  %first = icmp eq i32 %l, 0\n"
          "  br i1 %first, label %put, label %meet\nput:\n"
          "  store i32 " +
          last + ", ptr addrspace(3) %p, align 4\n  br label %meet\nmeet:\n" +
          barrier +
          "  %a = load i32, ptr addrspace(3) @sums, align 4\n"
          "  %c = load i32, ptr addrspace(3) getelementptr (i32, ptr "
          "addrspace(3) @sums, i32 1), align 4\n"
          "  %r = add i32 %a, %c\n"
          "  store i32 %r, ptr addrspace(1) %ot, align 4",
      "@sums = internal addrspace(3) global [2 x i32] undef, align "
      "4\n");
}

TEST_F(Warps, BlockReduction) {
  const char *barrier =
      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  for (uint64_t seed : {0, 1, 2}) {
    run(blockSum(barrier), 64, 1, seed);
    EXPECT_TRUE(clean()) << device->report.text().c_str();
    EXPECT_EQ(out[0], 2016);
    EXPECT_EQ(out[63], 2016);
  }
}

TEST_F(Warps, MissingBarrierIsFoundInAnyOrder) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    run(blockSum(""), 64, 1, seed);
    const sim::Report &report = device->report;
    EXPECT_TRUE(report.has(Fault::sharedRace) ||
                report.has(Fault::uninitialized))
        << "seed " << seed;
  }
}

TEST_F(Warps, WarpSyncOrdersAWarpOnly) {
  const std::string body = R"(
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %t
  store i32 %t, ptr addrspace(3) %p, align 4
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %n = xor i32 %t, NEIGHBOUR
  %q = getelementptr i32, ptr addrspace(3) @s, i32 %n
  %r = load i32, ptr addrspace(3) %q, align 4
  store i32 %r, ptr addrspace(1) %ot, align 4)";
  const std::string memory =
      "@s = internal addrspace(3) global [64 x i32] undef, align 4\n";
  auto with = [&](const char *neighbour) {
    std::string text = body;
    text.replace(text.find("NEIGHBOUR"), 9, neighbour);
    return kernel(text, memory);
  };
  run(with("1"), 64);
  EXPECT_TRUE(clean()) << device->report.text().c_str();
  EXPECT_EQ(out[5], 4);
  run(with("32"), 64);
  EXPECT_FALSE(clean());
}

/// Threads below 32 write and arrive, the others wait and read.
TEST_F(Warps, NamedBarriers) {
  const std::string body = R"(
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %t
  %w = icmp ult i32 %t, 32
  br i1 %w, label %produce, label %consume
produce:
  store i32 %t, ptr addrspace(3) %p, align 4
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 3, i32 64)
  br label %end
consume:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 BARRIER, i32 64)
  %n = sub i32 %t, 32
  %q = getelementptr i32, ptr addrspace(3) @s, i32 %n
  %r = load i32, ptr addrspace(3) %q, align 4
  store i32 %r, ptr addrspace(1) %ot, align 4
  br label %end
end:)";
  auto with = [&](const char *barrier) {
    std::string text = body;
    text.replace(text.find("BARRIER"), 7, barrier);
    return kernel(text, "@s = internal addrspace(3) global [64 x i32] undef, "
                        "align 4\n");
  };
  run(with("3"), 64);
  EXPECT_TRUE(clean()) << device->report.text().c_str();
  EXPECT_EQ(out[40], 8);
  run(with("4"), 64);
  EXPECT_TRUE(found(device->report, Fault::deadlock,
                    "barrier.cta.sync.aligned.count",
                    "at barrier 4, where 32 of 64 have arrived"));
}

TEST_F(Warps, BarrierInABranchIsFound) {
  run(kernel("  %l = and i32 %t, 31\n  %half = icmp ult i32 %l, 16\n"
             "  br i1 %half, label %a, label %c\na:\n"
             "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
             "  store i32 1, ptr addrspace(1) %ot, align 4\n"
             "  br label %end\nc:\n"
             "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
             "  store i32 2, ptr addrspace(1) %ot, align 4\n"
             "  br label %end\nend:"),
      64);
  EXPECT_TRUE(found(device->report, Fault::divergence,
                    "barrier.cta.sync.aligned.all",
                    "another lane of the warp reached barrier 0 elsewhere"));
}

} // namespace
