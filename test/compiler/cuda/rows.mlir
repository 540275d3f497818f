// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=off --emit=ptx | FileCheck %s

/// A row stays in the registers of its threads: each element is read once, in
/// vectors of 16 bytes.
func.func @main(%a: tensor<64x4096xf32> {amp.name = "a"}, %b: tensor<512x768xf32> {amp.name = "b"}, %c: tensor<4096x32xf32> {amp.name = "c"},
                %d: tensor<2048x256xf32> {amp.name = "d"}, %e: tensor<4194304xf32> {amp.name = "e"})
    -> (tensor<64x4096xf32> {amp.name = "w"}, tensor<512x768xf32> {amp.name = "x"}, tensor<4096x32xf32> {amp.name = "y"}, tensor<256xf32> {amp.name = "z"}, tensor<f32> {amp.name = "s"}) {
  /// Of a block: the lanes of a warp by halving, then the warps through shared
  /// memory.
  // CHECK-LABEL: .visible .entry k_{{.*}}softmax
  // CHECK: .reqntid 128
  // CHECK-COUNT-8: ld.global.nc.v4.b32
  // CHECK-NOT: ld.global
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1
  // CHECK: st.shared
  // CHECK: bar.sync 0
  // CHECK-NOT: ld.global
  // CHECK-COUNT-8: st.global.v4.b32
  %0 = amp.softmax %a {axis = 1 : i64} : (tensor<64x4096xf32>) -> tensor<64x4096xf32>

  /// Of a warp, four of them in a block: nothing is shared.
  // CHECK-LABEL: .visible .entry k_{{.*}}softmax
  // CHECK-COUNT-6: ld.global.nc.v4.b32
  // CHECK-NOT: ld.global
  // CHECK-NOT: bar.sync
  // CHECK-COUNT-6: st.global.v4.b32
  %1 = amp.softmax %b {axis = 1 : i64} : (tensor<512x768xf32>) -> tensor<512x768xf32>

  /// Of eight threads, sixteen rows in a block.
  // CHECK-LABEL: .visible .entry k_{{.*}}softmax
  // CHECK: .reqntid 128
  // CHECK: ld.global.nc.v4.b32
  // CHECK-NOT: ld.global
  // CHECK-NOT: shfl.sync.bfly.b32 {{.*}}, 8, 31, -1
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1
  // CHECK: st.global.v4.b32
  %2 = amp.softmax %c {axis = 1 : i64} : (tensor<4096x32xf32>) -> tensor<4096x32xf32>

  /// Across memory: neighbouring threads take neighbouring vectors, and several
  /// share a column.
  // CHECK-LABEL: .visible .entry k_{{.*}}reduce_sum
  // CHECK: .reqntid 256
  // CHECK: ld.global.nc.v4.b32
  // CHECK: st.shared.v4.b32
  // CHECK: bar.sync 0
  // CHECK: ld.shared.v4.b32
  // CHECK: st.global.v4.b32
  %3 = amp.reduce_sum %d {axes = array<i64: 0>, keepdims = false} : (tensor<2048x256xf32>) -> tensor<256xf32>

  /// Of few long rows a block takes a part, leaves what it has in the workspace and
  /// takes a ticket, between fences: the last one adds up the parts.
  // CHECK-LABEL: .visible .entry k_reduce_sum_4194304
  // CHECK: st.global.b32
  // CHECK: bar.sync
  // CHECK: fence.acq_rel.gpu
  // CHECK-NEXT: atom.global.add.u32
  // CHECK-NEXT: fence.acq_rel.gpu
  // CHECK: st.release.gpu.global.b32
  // CHECK: bar.sync
  %4 = amp.reduce_sum %e {axes = array<i64: 0>, keepdims = false} : (tensor<4194304xf32>) -> tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<64x4096xf32>, tensor<512x768xf32>, tensor<4096x32xf32>, tensor<256xf32>, tensor<f32>
}
