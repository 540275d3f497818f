//===- Hopper.cpp - Kernels of TMA, mbarriers and wgmma -------------------===//
#include "test/unit/Simulate/HopperText.h"

using namespace ampc::test;

std::string ampc::test::wgmmaKernel(const WgmmaShape &shape, HopperBug bug) {
  Tile a = layOut(shape, 64, shape.aTransposed, 0);
  Tile b =
      layOut(shape, shape.n, shape.bTransposed, (a.bytes + 1023) / 1024 * 1024);
  WgmmaText wgmma(shape);
  std::string text = R"(
target triple = "nvptx64-nvidia-cuda"
@smem = external addrspace(3) global [0 x i8], align 1024
@bar = internal addrspace(3) global i64 undef, align 8
define ptx_kernel void @product(ptr byval([128 x i8]) align 128 "nvvm.grid_constant" %mapA, ptr byval([128 x i8]) align 128 "nvvm.grid_constant" %mapB, ptr addrspace(1) %A, ptr addrspace(1) %D) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %init, label %ready
init:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 1)
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  br label %ready
ready:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %copy, label %loop
copy:
)";
  text += "  %token = call i64 "
          "@llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr "
          "addrspace(3) @bar, i32 " +
          number(a.bytes + b.bytes) + ")\n";
  for (bool isA : {true, false}) {
    const Tile &tile = isA ? a : b;
    for (size_t i = 0; i < tile.boxes.size(); ++i) {
      auto offset = tile.start + static_cast<int64_t>(i) * tile.boxBytes;
      text += "  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr "
              "addrspace(7) addrspacecast (ptr addrspace(3) getelementptr "
              "(i8, ptr addrspace(3) @smem, i64 " +
              number(offset) +
              ") to ptr addrspace(7)), ptr addrspace(3) "
              "@bar, ptr " +
              (isA ? "%mapA" : "%mapB") + ", i32 " +
              number(tile.boxes[i].first) + ", i32 " +
              number(tile.boxes[i].second) +
              ", i16 0, i64 0, i1 false, i1 false, i32 0)\n";
    }
  }
  text += R"(  br label %loop
loop:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @bar, i32 0)
  br i1 %done, label %work, label %loop
work:
  %base = ptrtoint ptr addrspace(3) @smem to i64
  %warp = lshr i32 %t, 5
  %lane = and i32 %t, 31
  %group = lshr i32 %lane, 2
  %pair = and i32 %lane, 3
  %row0 = shl i32 %warp, 4
  %row = add i32 %row0, %group
)";
  int perRegister = 4 / shape.elementBytes();
  if (shape.aInRegisters) {
    // Registers of A from global memory, 32 bits each; A is K-major there.
    for (int step = 0; step < shape.depth() / shape.k(); ++step) {
      for (int r = 0; r < 4; ++r) {
        std::string id = number(step) + "_" + number(r);
        int extraRow = 8 * (r % 2);
        int extraColumn = step * shape.k() + r / 2 * 4 * perRegister;
        text += "  %ar" + id + " = add i32 %row, " + number(extraRow) +
                "\n  %ao" + id + " = mul i32 %ar" + id + ", " +
                number(shape.depth()) + "\n  %ap" + id + " = mul i32 %pair, " +
                number(perRegister) + "\n  %aq" + id + " = add i32 %ap" + id +
                ", " + number(extraColumn) + "\n  %ai" + id + " = add i32 %ao" +
                id + ", %aq" + id + "\n  %ax" + id + " = mul i32 %ai" + id +
                ", " + number(shape.elementBytes()) + "\n  %aa" + id +
                " = getelementptr i8, ptr addrspace(1) %A, i32 %ax" + id +
                "\n  %a" + id + " = load i32, ptr addrspace(1) %aa" + id +
                ", align 4\n";
      }
    }
  }
  auto descriptor = [&](const std::string &name, const Tile &tile, int step) {
    text += "  %" + name + "a = add i64 %base, " +
            number(tile.start + step * tile.step) + "\n  %" + name +
            "m = and i64 %" + name + "a, 262143\n  %" + name +
            "s = lshr i64 %" + name + "m, 4\n  %" + name + " = or i64 %" +
            name + "s, " +
            number(static_cast<int64_t>(descriptorBits(shape, tile))) + "\n";
  };
  if (bug != HopperBug::noWgmmaFence) {
    text += "  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n";
  }
  std::vector<std::string> sums(static_cast<size_t>(wgmma.registers),
                                shape.halfAccumulators ? "0" : "0.0");
  std::string name;
  for (int step = 0; step < shape.depth() / shape.k(); ++step) {
    std::vector<std::string> operandsA;
    if (shape.aInRegisters) {
      for (int r = 0; r < 4; ++r) {
        operandsA.push_back("%a" + number(step) + "_" + number(r));
      }
    } else {
      descriptor("da" + number(step), a, step);
      operandsA.push_back("%da" + number(step));
    }
    descriptor("db" + number(step), b, step);
    name = "sum" + number(step);
    text += wgmma.call(name, sums, operandsA, "%db" + number(step));
    for (int i = 0; i < wgmma.registers; ++i) {
      text += wgmma.extract(name, i);
      sums[static_cast<size_t>(i)] = "%" + name + "_" + number(i);
    }
  }
  text += "  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()\n";
  if (bug != HopperBug::noWgmmaWait) {
    text += "  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)\n";
  }
  // Register i: row 0 or 8 further, columns of the lane's pair.
  int perStore = shape.halfAccumulators ? 2 : 1;
  for (int i = 0; i < wgmma.registers; ++i) {
    int element = i * perStore;
    int extraRow = 8 * (element / 2 % 2),
        column = element / 4 * 8 + element % 2;
    std::string id = number(i);
    int bytes = shape.halfAccumulators ? 2 : 4;
    text += "  %r" + id + " = add i32 %row, " + number(extraRow) + "\n  %o" +
            id + " = mul i32 %r" + id + ", " + number(shape.n) + "\n  %p" + id +
            " = mul i32 %pair, 2\n  %c" + id + " = add i32 %p" + id + ", " +
            number(column) + "\n  %x" + id + " = add i32 %o" + id + ", %c" +
            id + "\n  %y" + id + " = mul i32 %x" + id + ", " + number(bytes) +
            "\n  %q" + id + " = getelementptr i8, ptr addrspace(1) %D, i32 %y" +
            id + "\n  store " + wgmma.type + " " +
            sums[static_cast<size_t>(i)] + ", ptr addrspace(1) %q" + id +
            ", align 4\n";
  }
  return text + "  ret void\n}\n" + hopperDeclarations;
}

std::string ampc::test::tensorStore(HopperBug bug) {
  std::string fence =
      bug == HopperBug::noProxyFence
          ? ""
          : "  call void @llvm.nvvm.fence.proxy.async.shared_cta()\n";
  std::string wait =
      bug == HopperBug::noStoreWait
          ? ""
          : "  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)\n";
  std::string offset = bug == HopperBug::misalignedTile ? "64" : "0";
  return R"(
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [2176 x half] undef, align 128
define ptx_kernel void @fill(ptr byval([128 x i8]) align 128 "nvvm.grid_constant" %map) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  %corner = getelementptr i8, ptr addrspace(3) @tile, i32 )" +
         offset + R"(
  br label %loop
loop:
  %i = phi i32 [ %t, %0 ], [ %next, %loop ]
  %p = getelementptr half, ptr addrspace(3) %corner, i32 %i
  %x = uitofp i32 %i to half
  store half %x, ptr addrspace(3) %p, align 2
  %next = add i32 %i, 128
  %more = icmp ult i32 %next, 2048
  br i1 %more, label %loop, label %written
written:
)" + fence +
         R"(  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %store, label %end
store:
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) %corner, ptr %map, i32 0, i32 8, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
)" + wait +
         R"(  br label %end
end:
  ret void
}
)" + hopperDeclarations;
}
