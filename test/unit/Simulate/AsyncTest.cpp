//===- AsyncTest.cpp - Copies that run beside the threads -----------------===//
#include "test/unit/Simulate/Harness.h"

#include "ampc/numerics.h"

using namespace ampc::test;
using sim::Fault;

namespace {

const char *const declarations = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare void @llvm.nvvm.mbarrier.inval.shared(ptr addrspace(3))
declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
declare i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3), i64)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.ca.shared.global.8.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare void @llvm.nvvm.cp.async.wait.all()
declare void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3))
declare void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3), ptr addrspace(3), ptr addrspace(1), i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1), ptr addrspace(3), i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.wait.group.read(i32)
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32)
declare void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32)
declare {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3))
declare void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3), i32, i32)
)";

class Async : public testing::Test {
protected:
  void build(const std::string &body, const std::string &globals,
             unsigned arch) {
    device.reset();
    program = Program::fromLlvm(
        "target triple = \"nvptx64-nvidia-cuda\"\n" + globals +
            "define ptx_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) "
            "%out) {\n  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
            "  %xt = getelementptr i32, ptr addrspace(1) %x, i32 %t\n"
            "  %ot = getelementptr i32, ptr addrspace(1) %out, i32 %t\n"
            "  %st = getelementptr i32, ptr addrspace(3) @s, i32 %t\n"
            "  %first = icmp eq i32 %t, 0\n" +
            body + "\n  ret void\n}\n" + declarations,
        arch);
    ASSERT_EQ(program->error(), "");
    EXPECT_EQ(program->assemble(), "");
  }
  /// Runs with x[i] = i and out of zeros, 4096 of each.
  void run(const std::string &body, const std::string &globals, unsigned arch,
           uint32_t threads, uint64_t seed = 0) {
    ASSERT_NO_FATAL_FAILURE(build(body, globals, arch));
    device = std::make_unique<Device>(*program);
    device->options.seed = seed;
    std::vector<int32_t> values(4096);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int32_t>(i);
    }
    void *x = device->upload(values, "x");
    out = device->upload(std::vector<int32_t>(4096), "out");
    device->param(x).param(out);
    device->launch("k", {1, 1, 1}, {threads, 1, 1});
  }
  bool clean() { return device->report.clean(); }

  std::unique_ptr<Program> program;
  std::unique_ptr<Device> device;
  int32_t *out = nullptr;
};

const char *const oneArray =
    "@s = internal addrspace(3) global [2048 x i32] undef, align 128\n"
    "@bar = internal addrspace(3) global [8 x i64] undef, align 8\n";

/// The whole, a half and nothing of eight bytes; the rest becomes zero.
TEST_F(Async, SmallCopiesFillWithZeros) {
  ASSERT_NO_FATAL_FAILURE(run(R"(
  %i = shl i32 %t, 1
  %from = getelementptr i32, ptr addrspace(1) %x, i32 %i
  %to = getelementptr i32, ptr addrspace(3) @s, i32 %i
  %m = urem i32 %t, 3
  %bytes = mul i32 %m, 4
  call void @llvm.nvvm.cp.async.ca.shared.global.8.s(ptr addrspace(3) %to, ptr addrspace(1) %from, i32 %bytes)
  call void @llvm.nvvm.cp.async.wait.all()
  %v = load <2 x i32>, ptr addrspace(3) %to, align 8
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store <2 x i32> %v, ptr addrspace(1) %o, align 8)",
                              oneArray, 80, 32));
  EXPECT_TRUE(clean()) << device->report.text().c_str();
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[2], 2);
  EXPECT_EQ(out[3], 0);
  EXPECT_EQ(out[4], 4);
  EXPECT_EQ(out[5], 5);
}

/// What a thread reads before it waits is what was there before: nothing.
TEST_F(Async, ReadBeforeTheWait) {
  ASSERT_NO_FATAL_FAILURE(run(R"(
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %st, ptr addrspace(1) %xt)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 1)
  %v = load i32, ptr addrspace(3) %st, align 4
  store i32 %v, ptr addrspace(1) %ot, align 4)",
                              oneArray, 80, 32));
  EXPECT_TRUE(found(device->report, Fault::missingWait, "load i32",
                    "no cp.async.wait_group before"));
  EXPECT_EQ(out[3], -1);
}

/// cp.async that arrives on an mbarrier, read by another warp.
std::string copyAndArrive(const std::string &wait) {
  return R"(
  br i1 %first, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 64)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %st, ptr addrspace(1) %xt)
  call void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3) @bar)
  br label %wait
wait:
)" + wait +
         R"(
  br i1 %done, label %go, label %wait
go:
  %n = xor i32 %t, 32
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %n
  %v = load i32, ptr addrspace(3) %p, align 4
  store i32 %v, ptr addrspace(1) %ot, align 4)";
}

TEST_F(Async, CopiesArriveOnAnMbarrier) {
  const char *wait = "  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity."
                     "scope.cta.space.cta(ptr addrspace(3) @bar, i32 0)\n";
  for (uint64_t seed : {0, 5}) {
    ASSERT_NO_FATAL_FAILURE(run(copyAndArrive(wait), oneArray, 90, 64, seed));
    EXPECT_TRUE(clean()) << device->report.text().c_str();
    EXPECT_EQ(out[3], 35);
  }
  // The parity of the phase before is true at once.
  ASSERT_NO_FATAL_FAILURE(
      run(copyAndArrive("  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity."
                        "scope.cta.space.cta(ptr addrspace(3) @bar, i32 1)\n"),
          oneArray, 90, 64));
  EXPECT_FALSE(clean());
}

TEST_F(Async, TokensOfAnMbarrier) {
  ASSERT_NO_FATAL_FAILURE(run(R"(
  br i1 %first, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 64)
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %t, ptr addrspace(3) %st, align 4
  %token = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) @bar, i64 %token)
  br i1 %done, label %go, label %wait
go:
  %n = xor i32 %t, 33
  %p = getelementptr i32, ptr addrspace(3) @s, i32 %n
  %v = load i32, ptr addrspace(3) %p, align 4
  store i32 %v, ptr addrspace(1) %ot, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %end, label %quit
end:
  call void @llvm.nvvm.mbarrier.inval.shared(ptr addrspace(3) @bar)
  br label %quit
quit:)",
                              oneArray, 80, 64));
  EXPECT_TRUE(clean()) << device->report.text().c_str();
  EXPECT_EQ(out[0], 33);
}

TEST_F(Async, MatricesStoredAndLoaded) {
  // Each lane's row of two 8x8 matrices; stored transposed, read as they lie.
  ASSERT_NO_FATAL_FAILURE(run(R"(
  %r = and i32 %t, 15
  %row = getelementptr <8 x i16>, ptr addrspace(3) @s, i32 %r
  %b = shl i32 %t, 16
  %lo = shl i32 %t, 1
  %hi0 = or i32 %lo, 1
  %hi = shl i32 %hi0, 16
  %w = or i32 %hi, %lo
  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %row, i32 %w, i32 %b)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %m = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) %row)
  %v = extractvalue {i32, i32} %m, 0
  store i32 %v, ptr addrspace(1) %ot, align 4)",
                              oneArray, 90, 32));
  EXPECT_TRUE(clean()) << device->report.text().c_str();
  // Before: row g, columns 2p and 2p + 1 hold 8g + 2p and 8g + 2p + 1.
  for (int lane = 0; lane < 32; ++lane) {
    int row = lane / 4, column = 2 * (lane % 4);
    EXPECT_EQ(out[lane], (8 * (column + 1) + row) << 16 | (8 * column + row));
  }
}

//===----------------------------------------------------------------------===//
// A producer and consumers
//===----------------------------------------------------------------------===//

/// Four stages go through two buffers: thread 128 brings them by bulk copies,
/// threads 0 to 127 add them up. Barriers 0 and 1 are full, 2 and 3 empty.
std::string pipeline(const std::string &emptyCount,
                     const std::string &emptyWait) {
  return R"(
  br i1 %first, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr (i64, ptr addrspace(3) @bar, i32 1), i32 1)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr (i64, ptr addrspace(3) @bar, i32 2), i32 )" +
         emptyCount + R"()
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) getelementptr (i64, ptr addrspace(3) @bar, i32 3), i32 )" +
         emptyCount + R"()
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %produces = icmp uge i32 %t, 128
  br i1 %produces, label %producer, label %consumer
producer:
  call void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32 40)
  %leads = icmp eq i32 %t, 128
  br i1 %leads, label %ploop, label %end
ploop:
  %pi = phi i32 [0, %producer], [%pn, %pcopy]
  %pb = and i32 %pi, 1
  %ph = lshr i32 %pi, 1
  %pe = add i32 %pb, 2
  %pempty = getelementptr i64, ptr addrspace(3) @bar, i32 %pe
  %pfull = getelementptr i64, ptr addrspace(3) @bar, i32 %pb
  %pparity0 = add i32 %ph, 1
  %pparity = and i32 %pparity0, 1
  br label %pwait
pwait:
)" + emptyWait +
         R"(
  br i1 %pfree, label %pcopy, label %pwait
pcopy:
  %po = mul i32 %pb, 512
  %pto = getelementptr i8, ptr addrspace(3) @s, i32 %po
  %pf = mul i32 %pi, 512
  %pfrom = getelementptr i8, ptr addrspace(1) %x, i32 %pf
  %ptoken = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) %pfull, i32 512)
  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cta(ptr addrspace(3) %pto, ptr addrspace(3) %pfull, ptr addrspace(1) %pfrom, i32 512, i64 0, i1 false)
  %pn = add i32 %pi, 1
  %pmore = icmp ult i32 %pn, 4
  br i1 %pmore, label %ploop, label %end
consumer:
  call void @llvm.nvvm.setmaxnreg.inc.sync.aligned.u32(i32 232)
  br label %cloop
cloop:
  %ci = phi i32 [0, %consumer], [%cn, %cuse]
  %sum = phi i32 [0, %consumer], [%sum1, %cuse]
  %cb = and i32 %ci, 1
  %ch = lshr i32 %ci, 1
  %ce = add i32 %cb, 2
  %cempty = getelementptr i64, ptr addrspace(3) @bar, i32 %ce
  %cfull = getelementptr i64, ptr addrspace(3) @bar, i32 %cb
  %cparity = and i32 %ch, 1
  br label %cwait
cwait:
  %cgo = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) %cfull, i32 %cparity)
  br i1 %cgo, label %cuse, label %cwait
cuse:
  %co = mul i32 %cb, 128
  %cx = add i32 %co, %t
  %cp = getelementptr i32, ptr addrspace(3) @s, i32 %cx
  %v = load i32, ptr addrspace(3) %cp, align 4
  %sum1 = add i32 %sum, %v
  %ctoken = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %cempty)
  %cn = add i32 %ci, 1
  %cmore = icmp ult i32 %cn, 4
  br i1 %cmore, label %cloop, label %cstore
cstore:
  store i32 %sum1, ptr addrspace(3) %st, align 4
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 128)
  br i1 %first, label %put, label %end
put:
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %out, ptr addrspace(3) @s, i32 512, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)
  br label %end
end:)";
}

const char *const waitForEmpty =
    "  %pfree = call i1 "
    "@llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta("
    "ptr addrspace(3) %pempty, i32 %pparity)\n";

TEST_F(Async, ProducerAndConsumers) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    ASSERT_NO_FATAL_FAILURE(
        run(pipeline("128", waitForEmpty), oneArray, 90, 160, seed));
    EXPECT_TRUE(clean()) << device->report.text().c_str();
    EXPECT_EQ(out[5], 5 * 4 + 128 * (1 + 2 + 3));
  }
}

TEST_F(Async, ProducerThatDoesNotWait) {
  ASSERT_NO_FATAL_FAILURE(run(
      pipeline("128", "  %pfree = icmp ult i32 %pi, 5\n"), oneArray, 90, 160));
  // It arrives twice in a phase that the consumers have not seen.
  EXPECT_TRUE(found(device->report, Fault::barrierMisuse,
                    "mbarrier.arrive.expect.tx", "which waits for 0 more"));
}

/// The empty barrier counts half of the readers: the copy may come early.
TEST_F(Async, EmptyBarrierOfTooSmallACount) {
  ASSERT_NO_FATAL_FAILURE(run(pipeline("64", waitForEmpty), oneArray, 90, 160));
  EXPECT_FALSE(clean());
}

} // namespace
