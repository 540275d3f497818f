// RUN: ampc %s --compile-from=graph --cuda-arch=sm_90a --amp=fp16 --emit=ptx | FileCheck %s --check-prefixes=CHECK,HALF
// RUN: sed 's/xf16>/xbf16>/g' %s > %t.mlir
// RUN: ampc %t.mlir --compile-from=graph --cuda-arch=sm_90a --amp=bf16 --emit=ptx | FileCheck %s --check-prefixes=CHECK,BFLOAT
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_90 --amp=fp16 --emit=ptx | FileCheck %s --check-prefix=PLAIN
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_100a --amp=fp16 --emit=ptx | FileCheck %s --check-prefix=PLAIN

/// A warpgroup brings slices by tensor maps, two multiply them.
// CHECK: .extern .shared .align 1024 .b8 ampc_shared_aligned[];
// CHECK-LABEL: .visible .entry k_
// CHECK: .param .align 64 .b8 {{.*}}[128]
// CHECK-NEXT: .param .align 64 .b8 {{.*}}[128]
// CHECK: .reqntid 384
// CHECK: .minnctapersm 1
// CHECK: prefetch.tensormap
// CHECK: mbarrier.init.shared.b64
// CHECK: fence.mbarrier_init.release.cluster
// CHECK: bar.sync 0
// CHECK-DAG: setmaxnreg.dec.sync.aligned.u32 40
// CHECK-DAG: mbarrier.arrive.expect_tx.shared.b64
// CHECK-DAG: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 232
// CHECK-DAG: mbarrier.try_wait.parity.shared.b64
// CHECK-DAG: wgmma.fence.sync.aligned
// HALF-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// BFLOAT-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK-DAG: wgmma.commit_group.sync.aligned
// CHECK-DAG: wgmma.wait_group.sync.aligned 1
// CHECK-DAG: mbarrier.arrive.shared.b64
// CHECK-DAG: stmatrix.sync.aligned.m8n8.x4.shared.b16

/// Other architectures have no such instructions.
// PLAIN-NOT: wgmma
// PLAIN: mma.sync.aligned.m16n8k16
// PLAIN-NOT: wgmma
func.func @main(%a: tensor<4096x512xf16> {amp.name = "a"}, %b: tensor<512x4096xf16> {amp.name = "b"}) -> (tensor<4096x4096xf16> {amp.name = "y"}) {
  %0 = amp.matmul %a, %b : (tensor<4096x512xf16>, tensor<512x4096xf16>) -> tensor<4096x4096xf16>
  %1 = amp.relu %0 : (tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %1 : tensor<4096x4096xf16>
}
