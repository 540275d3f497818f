// RUN: ampc %s --compile-from=graph --cuda-arch=sm_75 --amp=fp16 --emit=ptx | FileCheck %s --check-prefixes=PTX,TURING
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=fp16 --emit=ptx | FileCheck %s --check-prefixes=PTX,AMPERE
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=bf16 --emit=ptx | FileCheck %s --check-prefixes=PTX,BFLOAT
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=tf32 --emit=ptx | FileCheck %s --check-prefix=TF32
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=off --emit=ptx | FileCheck %s --check-prefix=FP32

/// Products run on tensor cores: fragments are read by ldmatrix from shared
/// memory. Operands that are cast on the way come from global memory in 16
/// bytes, and go through registers.
// PTX-LABEL: .visible .entry k_
// PTX-DAG: ld.global.nc.v4.b32
// PTX-DAG: st.shared.v4.b32
// PTX-DAG: bar.sync 0
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// TURING-DAG: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// AMPERE-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// BFLOAT-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32

/// f32 operands cut to TF32 are copied, and read by ldmatrix where they lie along
/// k, each half of an element as one of its own; it cannot transpose them.
// TF32-NOT: ld.global
// TF32-NOT: trans
// TF32-LABEL: .visible .entry k_
// TF32-DAG: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16;
// TF32-DAG: cp.async.commit_group
// TF32-DAG: cp.async.wait_group
// TF32-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// TF32-DAG: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32

/// Without mixed precision they are sums of fused products, of vectors from
/// shared memory.
// FP32-LABEL: .visible .entry k_
// FP32-NOT: mma.sync
// FP32: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16;
// FP32-NOT: mma.sync
// FP32: ld.shared.v4.b32
// FP32-NOT: mma.sync
// FP32: fma.rn.f32
func.func @main(%a: tensor<512x256xf32> {amp.name = "a"}, %b: tensor<256x512xf32> {amp.name = "b"}) -> (tensor<512x512xf32> {amp.name = "y"}) {
  %0 = amp.matmul %a, %b : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
