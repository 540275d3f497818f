// RUN: ampc-opt %s --precision-set-contractions=mode=tf32 | FileCheck %s --check-prefixes=CHECK,TF32
// RUN: ampc-opt %s --precision-set-contractions=mode=ieee | FileCheck %s --check-prefixes=CHECK,IEEE
// RUN: ampc-opt %s --precision-set-contractions | FileCheck %s --check-prefixes=CHECK,IEEE

// TF32: module attributes {amp.fp32_contractions = "tf32"}
// IEEE: module attributes {amp.fp32_contractions = "ieee"}

/// Types do not change.
// CHECK-LABEL: func.func @no_type_changes
// CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
func.func @no_type_changes(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
