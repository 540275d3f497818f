// RUN: ampc %s --compile-from=graph --cuda-arch=sm_75 --amp=fp16 --emit=ptx | FileCheck %s --check-prefix=TURING
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=fp16 --emit=ptx | FileCheck %s --check-prefixes=AMPERE,HALF
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=bf16 --emit=ptx | FileCheck %s --check-prefixes=AMPERE,BFLOAT
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=tf32 --emit=ptx | FileCheck %s --check-prefix=TF32
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=off --emit=ptx | FileCheck %s --check-prefix=FP32
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=off --op-precisions=MatMul:tf32 --emit=ptx | FileCheck %s --check-prefix=TF32

/// On Turing what comes from global memory comes in 16 bytes, and through
/// registers; products run on tensor cores, on fragments that ldmatrix reads.
// TURING-LABEL: .visible .entry k_f16_f16
// TURING-NOT: cp.async
// TURING: ld.global.nc.v4.b32
// TURING: st.shared.v4.b32
// TURING: bar.sync 0
// TURING: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// TURING: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// TURING: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32

/// From Ampere on it is copied past registers and the first-level cache.
// AMPERE-LABEL: .visible .entry k_{{b?f16_b?f16}}
// AMPERE-NOT: ld.global
// AMPERE: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16;
// AMPERE: cp.async.commit_group
// AMPERE: cp.async.wait_group
// AMPERE: bar.sync 0
// AMPERE: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// AMPERE: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// HALF: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// BFLOAT: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32

/// f32 operands as TF32: ldmatrix reads those that lie along k, two halves of
/// an element at once.
// TF32: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16;
// TF32: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// TF32: ld.shared.b32
// TF32: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// TF32-NOT: ldmatrix{{.*}}.trans

/// Without mixed precision they are sums of fused products, of vectors from
/// shared memory.
// FP32-NOT: mma.sync
// FP32: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16;
// FP32: ld.shared.v4
// FP32: fma.rn.f32
func.func @main(%a: tensor<512x256xf32> {amp.name = "a"}, %b: tensor<256x512xf32> {amp.name = "b"}) -> (tensor<512x512xf32> {amp.name = "y"}) {
  %0 = amp.matmul %a, %b : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32> loc("MatMul")
  return %0 : tensor<512x512xf32>
}
