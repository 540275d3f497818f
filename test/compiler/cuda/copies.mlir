// RUN: ampc %s --compile-from=graph --cuda-arch=sm_75 --amp=off --emit=ptx | FileCheck %s --check-prefix=TURING
// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=off --emit=ptx | FileCheck %s --check-prefix=AMPERE

/// From Ampere on operands are copied to shared memory, past registers and the
/// first-level cache, several slices ahead.
// TURING-NOT: cp.async
// AMPERE-LABEL: .visible .entry k_matmul_512x256_256x512_f16_f16_f32_
// AMPERE-DAG: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16;
// AMPERE-DAG: cp.async.commit_group
// AMPERE-DAG: cp.async.wait_group {{[1-9]}}
// AMPERE-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// AMPERE-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// AMPERE-DAG: mma.sync.aligned.m16n8k16
// AMPERE-NOT: ld.global
func.func @main(%a: tensor<512x256xf16> {amp.name = "a"}, %b: tensor<256x512xf16> {amp.name = "b"}) -> (tensor<512x512xf32> {amp.name = "y"}) {
  %0 = amp.matmul %a, %b : (tensor<512x256xf16>, tensor<256x512xf16>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
