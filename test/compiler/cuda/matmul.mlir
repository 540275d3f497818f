// RUN: ampc %s --compile-from=graph --cuda-arch=sm_75 --amp=fp16 --emit=ptx | FileCheck %s --check-prefixes=PTX,TURING
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=fp16 --emit=ptx | FileCheck %s --check-prefixes=PTX,AMPERE
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=bf16 --emit=ptx | FileCheck %s --check-prefixes=PTX,BFLOAT
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=off --emit=ptx | FileCheck %s --check-prefix=FP32

/// Products run on tensor cores: fragments are read by ldmatrix from shared
/// memory, and what comes from global memory comes in 16 bytes.
// PTX-LABEL: .visible .entry k_
// PTX: ld.global.nc.v4.b32
// PTX: st.shared.v4.b32
// PTX: bar.sync 0
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// TURING: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// AMPERE: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// BFLOAT: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32

/// Without mixed precision they are sums of fused products.
// FP32-NOT: mma.sync
// FP32: fma.rn.f32
func.func @main(%a: tensor<128x64xf32> {amp.name = "a"}, %b: tensor<64x64xf32> {amp.name = "b"}) -> (tensor<128x64xf32> {amp.name = "y"}) {
  %0 = amp.matmul %a, %b : (tensor<128x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}
