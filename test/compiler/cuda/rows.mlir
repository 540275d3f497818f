// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=off --emit=ptx | FileCheck %s

/// A block for each row: vectors of 16 bytes, then the lanes of a warp by
/// halving, then the warps through shared memory.
// CHECK-LABEL: .visible .entry k_softmax_64x4096_f32_f32_
// CHECK: .reqntid 256
// CHECK: ld.global.nc.v4.b32
// CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1
// CHECK: st.shared
// CHECK: bar.sync 0
// CHECK: st.global.v4.b32
func.func @main(%a: tensor<64x4096xf32> {amp.name = "a"}) -> (tensor<64x4096xf32> {amp.name = "y"}) {
  %0 = amp.softmax %a {axis = 1 : i64} : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %0 : tensor<64x4096xf32>
}
