// RUN: ampc-opt %s --precision-autocast=type=f16 | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: ampc-opt %s --precision-autocast='type=f16 constants=saturate' | FileCheck %s --check-prefixes=CHECK,SATURATE

/// A number of rank 0 does not widen: one multiplication by 0.5 must not turn
/// the rest of a network to f32.
// CHECK-LABEL: func.func @weak
func.func @weak(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[H:.*]] = amp.constant dense<5.000000e-01> : tensor<f32>
  // CHECK: %[[N:.*]] = amp.cast %[[H]] : (tensor<f32>) -> tensor<f16>
  // CHECK: amp.mul %{{.*}}, %[[N]] : (tensor<2x2xf16>, tensor<f16>) -> tensor<2x2xf16>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %h = amp.constant dense<0.5> : tensor<f32>
  %m = amp.mul %y, %h : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %m : tensor<2x2xf32>
}

/// A constant tensor is a tensor: it widens.
// CHECK-LABEL: func.func @strong
func.func @strong(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[B:.*]] = amp.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // CHECK: amp.add %{{.*}}, %[[B]] : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = amp.add %y, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %a : tensor<2x2xf32>
}

/// Beside f32, numbers stay f32.
// CHECK-LABEL: func.func @no_weak_beside_f32
// CHECK-NOT: amp.cast
// CHECK: return
func.func @no_weak_beside_f32(%x: tensor<2xf32>) -> tensor<2xf32> {
  %h = amp.constant dense<0.5> : tensor<f32>
  %m = amp.mul %x, %h : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %m : tensor<2xf32>
}

/// Numbers alone keep their type.
// CHECK-LABEL: func.func @no_weak_alone
// CHECK-NOT: amp.cast
// CHECK: return
func.func @no_weak_alone(%c: tensor<4xi1>) -> tensor<4xf32> {
  %z = amp.constant dense<0.0> : tensor<f32>
  %o = amp.constant dense<1.0> : tensor<f32>
  %m = amp.select %c, %z, %o : (tensor<4xi1>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  return %m : tensor<4xf32>
}

/// -1e9 has no f16: the fill runs in f32, or fills with -65504, but never with
/// an infinity.
// CHECK-LABEL: func.func @fill_out_of_range
func.func @fill_out_of_range(%x: tensor<2x2xf32>, %c: tensor<2x2xi1>) -> tensor<2x2xf32> {
  // CHECK: %[[N:.*]] = amp.constant dense<-1.000000e+09> : tensor<f32>
  // KEEP: amp.select %{{.*}}, %{{.*}}, %[[N]] : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  // SATURATE: %[[S:.*]] = amp.cast %[[N]] {saturate} : (tensor<f32>) -> tensor<f16>
  // SATURATE: amp.select %{{.*}}, %{{.*}}, %[[S]] : (tensor<2x2xi1>, tensor<2x2xf16>, tensor<f16>) -> tensor<2x2xf16>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %n = amp.constant dense<-1.0e9> : tensor<f32>
  %s = amp.select %c, %y, %n : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

/// An infinity is in range, and stays one.
// CHECK-LABEL: func.func @fill_infinity
func.func @fill_infinity(%x: tensor<2x2xf32>, %c: tensor<2x2xi1>) -> tensor<2x2xf32> {
  // CHECK: %[[N:.*]] = amp.constant dense<0xFF800000> : tensor<f32>
  // CHECK: %[[I:.*]] = amp.cast %[[N]] : (tensor<f32>) -> tensor<f16>
  // CHECK: amp.select %{{.*}}, %{{.*}}, %[[I]] : (tensor<2x2xi1>, tensor<2x2xf16>, tensor<f16>) -> tensor<2x2xf16>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %n = amp.constant dense<0xFF800000> : tensor<f32>
  %s = amp.select %c, %y, %n : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

/// An epsilon that would become zero or lose bits keeps its operation in f32
/// under either policy, and so the division by it.
// CHECK-LABEL: func.func @epsilon
func.func @epsilon(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[Y:.*]] = amp.matmul {{.*}} -> tensor<2x2xf16>
  // CHECK: %[[M:.*]] = amp.reduce_mean %[[Y]] {{.*}} -> tensor<2x1xf16>
  // CHECK: %[[MW:.*]] = amp.cast %[[M]] : {{.*}} -> tensor<2x1xf32>
  // CHECK: %[[E:.*]] = amp.constant dense<9.99999993E-9> : tensor<f32>
  // CHECK: %[[A:.*]] = amp.add %[[MW]], %[[E]] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  // CHECK: %[[S:.*]] = amp.sqrt %[[A]] : (tensor<2x1xf32>) -> tensor<2x1xf32>
  // CHECK: amp.div %{{.*}}, %[[S]] : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = amp.reduce_mean %y {axes = array<i64: 1>, keepdims = true} : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %e = amp.constant dense<1.0e-8> : tensor<f32>
  %a = amp.add %m, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %s = amp.sqrt %a : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %d = amp.div %y, %s : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}

/// A bound beyond the range bounds nothing, and is no operand.
// CHECK-LABEL: func.func @clip_bound
func.func @clip_bound(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.clip %{{.*}} {max = 1.000000e+06 : f64, min = 0.000000e+00 : f64} : (tensor<2x2xf16>) -> tensor<2x2xf16>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = amp.clip %y {min = 0.0 : f64, max = 1.0e6 : f64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %c : tensor<2x2xf32>
}

/// The fill value of a padding follows the data, or takes it to f32.
// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<2x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  // CHECK: amp.pad {{.*}} (tensor<2x2xf16>, tensor<f16>) -> tensor<4x2xf16>
  // KEEP: amp.pad {{.*}} (tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  // SATURATE: amp.pad {{.*}} (tensor<2x2xf16>, tensor<f16>) -> tensor<4x2xf16>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = amp.constant dense<1.0> : tensor<f32>
  %b = amp.constant dense<-3.0e38> : tensor<f32>
  %p = amp.pad %y, %z {low = array<i64: 1, 0>, high = array<i64: 1, 0>, mode = #amp.pad_mode<constant>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %q = amp.pad %y, %b {low = array<i64: 1, 0>, high = array<i64: 1, 0>, mode = #amp.pad_mode<constant>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %p, %q : tensor<4x2xf32>, tensor<4x2xf32>
}

/// A weight shared by a matmul and an exp has one copy per type.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  // CHECK: %[[C:.*]] = amp.constant dense<{{\[}}[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]>
  // CHECK: %[[N:.*]] = amp.cast %[[C]] : (tensor<2x2xf32>) -> tensor<2x2xf16>
  // CHECK: amp.matmul %{{.*}}, %[[N]]
  // CHECK: amp.add %{{.*}}, %[[C]] : (tensor<2x2xf32>, tensor<2x2xf32>)
  // CHECK: amp.matmul %[[N]], %{{.*}}
  %c = amp.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = amp.matmul %x, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %a = amp.add %x, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = amp.exp %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = amp.matmul %c, %y : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %e, %z : tensor<2x2xf32>, tensor<2x2xf32>
}

/// A weight beyond the range never becomes infinite. One whose data stands in
/// the program is looked at; the others saturate.
// CHECK-LABEL: func.func @weight_out_of_range
func.func @weight_out_of_range(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  // KEEP: amp.matmul {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // SATURATE: %[[S:.*]] = amp.cast %{{.*}} {saturate} : (tensor<2x2xf32>) -> tensor<2x2xf16>
  // SATURATE: amp.matmul %{{.*}}, %[[S]] : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  // CHECK: %[[R:.*]] = amp.constant dense_resource<weight>
  // CHECK: %[[N:.*]] = amp.cast %[[R]] {saturate} : (tensor<2x2xf32>) -> tensor<2x2xf16>
  // CHECK: amp.matmul %{{.*}}, %[[N]] : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  %c = amp.constant dense<[[1.0e-9, 1.0e6], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = amp.matmul %x, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = amp.constant dense_resource<weight> : tensor<2x2xf32>
  %z = amp.matmul %x, %r : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %z : tensor<2x2xf32>, tensor<2x2xf32>
}

/// What is computed of constants is one: its cast saturates, and stands where it
/// is known.
// CHECK-LABEL: func.func @computed
func.func @computed(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[W:.*]] = amp.mul {{.*}} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK: %[[N:.*]] = amp.cast %[[W]] {saturate} : (tensor<2x2xf32>) -> tensor<2x2xf16>
  // CHECK: amp.matmul %{{.*}}, %[[N]] : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  %c = amp.constant dense<[[3.0e2, 1.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = amp.constant dense<[3.0e2, 1.0]> : tensor<2xf32>
  %w = amp.mul %c, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %y = amp.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
