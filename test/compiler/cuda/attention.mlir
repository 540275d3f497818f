// RUN: ampc %s --compile-from=graph --cuda-arch=sm_75 --amp=fp16 --emit=ptx | FileCheck %s --check-prefixes=PTX,TURING
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=fp16 --emit=ptx | FileCheck %s --check-prefixes=PTX,AMPERE,HALF
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=bf16 --emit=ptx | FileCheck %s --check-prefixes=PTX,AMPERE,BFLOAT

/// Scores and results are products on tensor cores. Queries, keys and values go
/// to shared memory in 16 bytes, behind the threads' backs where cp.async is;
/// the packed projections are read in place. Powers are the hardware's, and the
/// probabilities go from the registers of one product to those of the next.
// PTX-LABEL: .visible .entry k_{{.*}}attention
// PTX: .minnctapersm 1
// TURING: ld.global.nc.v4.b32
// TURING: st.shared.v4.b32
// AMPERE: cp.async.cg.shared.global {{.*}}, 16;
// AMPERE: cp.async.commit_group
// AMPERE: cp.async.wait_group 1
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// TURING: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// HALF: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// BFLOAT: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1
// PTX: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1
// PTX: ex2.approx.ftz.f32
// HALF: cvt.rn.f16x2.f32
// BFLOAT: cvt.rn.bf16x2.f32
// PTX: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// PTX: st.global.v4.b32
func.func @main(%x: tensor<2x128x256xf32> {amp.name = "x"}, %w: tensor<256x768xf32> {amp.name = "w"}) -> (tensor<2x128x256xf32> {amp.name = "y"}) {
  %a = amp.matmul %x, %w : (tensor<2x128x256xf32>, tensor<256x768xf32>) -> tensor<2x128x768xf32>
  %0 = amp.slice %a {sizes = array<i64: 2, 128, 256>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x128x768xf32>) -> tensor<2x128x256xf32>
  %1 = amp.slice %a {sizes = array<i64: 2, 128, 256>, starts = array<i64: 0, 0, 256>, strides = array<i64: 1, 1, 1>} : (tensor<2x128x768xf32>) -> tensor<2x128x256xf32>
  %2 = amp.slice %a {sizes = array<i64: 2, 128, 256>, starts = array<i64: 0, 0, 512>, strides = array<i64: 1, 1, 1>} : (tensor<2x128x768xf32>) -> tensor<2x128x256xf32>
  %3 = amp.reshape %0 : (tensor<2x128x256xf32>) -> tensor<2x128x4x64xf32>
  %4 = amp.reshape %1 : (tensor<2x128x256xf32>) -> tensor<2x128x4x64xf32>
  %5 = amp.reshape %2 : (tensor<2x128x256xf32>) -> tensor<2x128x4x64xf32>
  %q = amp.transpose %3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x128x4x64xf32>) -> tensor<2x4x128x64xf32>
  %k = amp.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x128x4x64xf32>) -> tensor<2x4x128x64xf32>
  %v = amp.transpose %5 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x128x4x64xf32>) -> tensor<2x4x128x64xf32>
  %6 = amp.attention %q, %k, %v {scale = 0.125 : f64, causal = true} : (tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>, tensor<2x4x128x64xf32>) -> tensor<2x4x128x64xf32>
  %7 = amp.transpose %6 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x128x64xf32>) -> tensor<2x128x4x64xf32>
  %8 = amp.reshape %7 : (tensor<2x128x4x64xf32>) -> tensor<2x128x256xf32>
  return %8 : tensor<2x128x256xf32>
}
