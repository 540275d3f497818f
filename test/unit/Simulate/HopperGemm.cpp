//===- HopperGemm.cpp - A product in two stages of TMA ------------------===//
#include "test/unit/Simulate/Hopper.h"

using namespace ampc::test;

std::string ampc::test::hopperGemm(HopperBug bug) {
  const std::string bytes = bug == HopperBug::tooFewBytes    ? "16384"
                            : bug == HopperBug::tooManyBytes ? "32784"
                                                             : "32768";
  const std::string group = bug == HopperBug::groupInFlight ? "1" : "0";
  const std::string barrier =
      bug == HopperBug::noBarrierAfterInit ? "" : "      gpu.barrier\n";
  const std::string parity = bug == HopperBug::wrongParity ? "%c1" : "%c0";
  const std::string wait =
      bug == HopperBug::noWait
          ? ""
          : "        nvgpu.mbarrier.try_wait.parity %bars[%st], %parity, "
            "%ticks : !bar\n";
  return R"(
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
!ta = !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!tb = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!acc = !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>
!smem = memref<65536xi8, #gpu.address_space<workgroup>>
!tileA = memref<128x64xf16, #gpu.address_space<workgroup>>
!tileB = memref<64x64xf16, #gpu.address_space<workgroup>>
!pairB = memref<64x128xf16, #gpu.address_space<workgroup>>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global @dynsmem : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
    gpu.func @gemm(%pda: !llvm.ptr, %pdb: !llvm.ptr, %C: memref<?x?xf32>, %KT: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %da = builtin.unrealized_conversion_cast %pda : !llvm.ptr to !ta
      %db = builtin.unrealized_conversion_cast %pdb : !llvm.ptr to !tb
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %tx = arith.constant )" +
         bytes + R"( : index
      %ticks = arith.constant 10000000 : index
      %offB = arith.constant 32768 : index
      %offB2 = arith.constant 8192 : index
      %stage = arith.constant 16384 : index
      %tid = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %m0 = arith.muli %by, %c128 : index
      %n0 = arith.muli %bx, %c128 : index
      %n1 = arith.addi %n0, %c64 : index
      %p = arith.cmpi eq, %tid, %c0 : index
      %raw = memref.get_global @dynsmem : memref<0xi8, #gpu.address_space<workgroup>>
      %dyn = memref.reinterpret_cast %raw to offset: [0], sizes: [65536], strides: [1] : memref<0xi8, #gpu.address_space<workgroup>> to !smem
      %bars = nvgpu.mbarrier.create -> !bar
      nvgpu.mbarrier.init %bars[%c0], %c1, predicate = %p : !bar
      nvgpu.mbarrier.init %bars[%c1], %c1, predicate = %p : !bar
)" + barrier +
         R"(      nvgpu.tma.prefetch.descriptor %da, predicate = %p : !ta
      %acc0 = nvgpu.warpgroup.mma.init.accumulator -> !acc
      %A0 = memref.view %dyn[%c0][] : !smem to !tileA
      %B00 = memref.view %dyn[%offB][] : !smem to !tileB
      %ob1 = arith.addi %offB, %offB2 : index
      %B01 = memref.view %dyn[%ob1][] : !smem to !tileB
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %tx, predicate = %p : !bar
      nvgpu.tma.async.load %da[%c0, %m0], %bars[%c0] to %A0, predicate = %p : !ta, !bar -> !tileA
      nvgpu.tma.async.load %db[%n0, %c0], %bars[%c0] to %B00, predicate = %p : !tb, !bar -> !tileB
      nvgpu.tma.async.load %db[%n1, %c0], %bars[%c0] to %B01, predicate = %p : !tb, !bar -> !tileB
      %res = scf.for %kt = %c0 to %KT step %c1 iter_args(%acc = %acc0) -> (!acc) {
        %st = arith.remui %kt, %c2 : index
        %nk = arith.addi %kt, %c1 : index
        %nst = arith.remui %nk, %c2 : index
        %has = arith.cmpi ult, %nk, %KT : index
        %pp = arith.andi %has, %p : i1
        %k0 = arith.muli %nk, %c64 : index
        %oa = arith.muli %nst, %stage : index
        %ob = arith.addi %oa, %offB : index
        %obb = arith.addi %ob, %offB2 : index
        %An = memref.view %dyn[%oa][] : !smem to !tileA
        %Bn0 = memref.view %dyn[%ob][] : !smem to !tileB
        %Bn1 = memref.view %dyn[%obb][] : !smem to !tileB
        nvgpu.mbarrier.arrive.expect_tx %bars[%nst], %tx, predicate = %pp : !bar
        nvgpu.tma.async.load %da[%k0, %m0], %bars[%nst] to %An, predicate = %pp : !ta, !bar -> !tileA
        nvgpu.tma.async.load %db[%n0, %k0], %bars[%nst] to %Bn0, predicate = %pp : !tb, !bar -> !tileB
        nvgpu.tma.async.load %db[%n1, %k0], %bars[%nst] to %Bn1, predicate = %pp : !tb, !bar -> !tileB
        %h = arith.divui %kt, %c2 : index
        %h1 = arith.addi %h, )" +
         parity + R"( : index
        %ph = arith.remui %h1, %c2 : index
        %parity = arith.index_cast %ph : index to i1
)" + wait +
         R"(        %ca = arith.muli %st, %stage : index
        %cb = arith.addi %ca, %offB : index
        %Ac = memref.view %dyn[%ca][] : !smem to !tileA
        %Bc = memref.view %dyn[%cb][] : !smem to !pairB
        %descA = nvgpu.warpgroup.generate.descriptor %Ac, %da : !tileA, !ta -> !nvgpu.warpgroup.descriptor<tensor = !tileA>
        %descB = nvgpu.warpgroup.generate.descriptor %Bc, %db : !pairB, !tb -> !nvgpu.warpgroup.descriptor<tensor = !pairB>
        %r = nvgpu.warpgroup.mma %descA, %descB, %acc {transposeB, waitGroup = )" +
         group +
         R"( : i64} : !nvgpu.warpgroup.descriptor<tensor = !tileA>, !nvgpu.warpgroup.descriptor<tensor = !pairB>, !acc -> !acc
        gpu.barrier
        scf.yield %r : !acc
      }
      %Cs = memref.subview %C[%m0, %n0][128, 128][1, 1] : memref<?x?xf32> to memref<128x128xf32, strided<[?, 1], offset: ?>>
      nvgpu.warpgroup.mma.store %res, %Cs : !acc to memref<128x128xf32, strided<[?, 1], offset: ?>>
      gpu.return
    }
  }
}
)";
}
