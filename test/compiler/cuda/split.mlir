// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=off --emit=ptx | FileCheck %s

/// One tile, and a long sum: blocks add up their parts in order, through a
/// workspace, which is the last parameter. The first thread waits for the flag
/// of the part before; the flag passes on after a barrier.
// CHECK-LABEL: .visible .entry k_matmul_64x32768_32768x64_f16_f16_f32_
// CHECK: mma.sync
// CHECK: ld.acquire.gpu.global.b32
// CHECK: bar.sync 0
// CHECK: bar.sync 0
// CHECK: st.release.gpu.global.b32
func.func @main(%a: tensor<64x32768xf16> {amp.name = "a"}, %b: tensor<32768x64xf16> {amp.name = "b"}) -> (tensor<64x64xf32> {amp.name = "y"}) {
  %0 = amp.matmul %a, %b : (tensor<64x32768xf16>, tensor<32768x64xf16>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
