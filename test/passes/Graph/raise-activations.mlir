// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-raise))' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @gelu_erf_orders
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @gelu_erf_orders(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = amp.gelu %[[X]] {form = #amp.gelu_form<erf>}
  // CHECK-NEXT: %[[B:.*]] = amp.gelu %[[X]] {form = #amp.gelu_form<erf>}
  // CHECK-NEXT: %[[C:.*]] = amp.gelu %[[X]] {form = #amp.gelu_form<erf>}
  // CHECK-NEXT: %[[D:.*]] = amp.gelu %[[X]] {form = #amp.gelu_form<erf>}
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]]
  %one = amp.constant dense<1.0> : tensor<f32>
  %two = amp.constant dense<2.0> : tensor<1xf32>
  %half = amp.constant dense<0.5> : tensor<f32>
  %root = amp.constant dense<1.41421354> : tensor<f32>
  %inverse = amp.constant dense<0.707106769> : tensor<f32>
  // 0.5 * (x * (1 + erf(x / sqrt(2))))
  %a0 = amp.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a1 = amp.erf %a0 : (tensor<4xf32>) -> tensor<4xf32>
  %a2 = amp.add %one, %a1 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %a3 = amp.mul %x, %a2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = amp.mul %half, %a3 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // (x * 0.5) * (erf(0.7071 * x) + 1)
  %b0 = amp.mul %inverse, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b1 = amp.erf %b0 : (tensor<4xf32>) -> tensor<4xf32>
  %b2 = amp.add %b1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b3 = amp.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = amp.mul %b3, %b2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // x * (0.5 * erf(x / sqrt(2)) + 0.5)
  %c0 = amp.mul %a1, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c1 = amp.add %c0, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = amp.mul %c1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // x * (1 + erf) / 2
  %d = amp.div %a3, %two : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

/// x is itself a product with a constant, which must not be taken for the scale.
// CHECK-LABEL: func.func @gelu_of_a_product
// CHECK-SAME: (%[[Y:.*]]: tensor<4xf16>)
func.func @gelu_of_a_product(%y: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK: %[[X:.*]] = amp.mul %[[Y]]
  // CHECK-NEXT: %[[G:.*]] = amp.gelu %[[X]] {form = #amp.gelu_form<erf>}
  // CHECK-NEXT: return %[[G]]
  %c = amp.constant dense<3.0> : tensor<f16>
  %one = amp.constant dense<1.0> : tensor<f16>
  %half = amp.constant dense<0.5> : tensor<f16>
  %root = amp.constant dense<1.4140625> : tensor<f16>
  %x = amp.mul %y, %c : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %0 = amp.div %x, %root : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %1 = amp.erf %0 : (tensor<4xf16>) -> tensor<4xf16>
  %2 = amp.add %1, %one : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %3 = amp.mul %x, %2 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %4 = amp.mul %3, %half : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  return %4 : tensor<4xf16>
}

// -----

// CHECK-LABEL: func.func @gelu_tanh
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @gelu_tanh(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = amp.gelu %[[X]] {form = #amp.gelu_form<tanh>}
  // CHECK-NEXT: %[[B:.*]] = amp.gelu %[[X]] {form = #amp.gelu_form<tanh>}
  // CHECK-NEXT: return %[[A]], %[[B]]
  %one = amp.constant dense<1.0> : tensor<f32>
  %half = amp.constant dense<0.5> : tensor<f32>
  %three = amp.constant dense<3.0> : tensor<f32>
  %cubic = amp.constant dense<0.044715> : tensor<f32>
  %factor = amp.constant dense<0.797884583> : tensor<f32>
  // 0.5 * x * (1 + tanh(0.7979 * (x + 0.044715 * pow(x, 3))))
  %a0 = amp.pow %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a1 = amp.mul %cubic, %a0 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %a2 = amp.add %x, %a1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a3 = amp.mul %factor, %a2 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %a4 = amp.tanh %a3 : (tensor<4xf32>) -> tensor<4xf32>
  %a5 = amp.add %one, %a4 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %a6 = amp.mul %half, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %a = amp.mul %a6, %a5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // 0.5 * x * (1 + tanh(x * 0.7979 * (1 + 0.044715 * x * x)))
  %b0 = amp.mul %cubic, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b1 = amp.mul %b0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b2 = amp.add %one, %b1 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b3 = amp.mul %x, %factor : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b4 = amp.mul %b3, %b2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b5 = amp.tanh %b4 : (tensor<4xf32>) -> tensor<4xf32>
  %b6 = amp.add %one, %b5 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b = amp.mul %a6, %b6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @silu
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @silu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = amp.silu %[[X]]
  // CHECK-NEXT: %[[B:.*]] = amp.silu %[[X]]
  // CHECK-NEXT: %[[C:.*]] = amp.sigmoid %[[X]]
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
  %one = amp.constant dense<1.0> : tensor<f32>
  %0 = amp.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.mul %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = amp.add %3, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = amp.div %x, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = amp.div %one, %4 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @hard_swish
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @hard_swish(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = amp.hard_swish %[[X]]
  // CHECK-NEXT: %[[B:.*]] = amp.hard_swish %[[X]]
  // CHECK-NEXT: %[[C:.*]] = amp.hard_swish %[[X]]
  // CHECK-NEXT: %[[D:.*]] = amp.hard_sigmoid %[[X]] {alpha = 0.1666{{.*}} : f64, beta = 5.000000e-01 : f64}
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]]
  %three = amp.constant dense<3.0> : tensor<f32>
  %six = amp.constant dense<6.0> : tensor<f32>
  %sixth = amp.constant dense<0.166666672> : tensor<f32>
  %0 = amp.hard_sigmoid %x {alpha = 0.1666666716337204 : f64, beta = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %a = amp.mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = amp.clip %1 {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = amp.div %3, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = amp.clip %1 {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = amp.mul %4, %sixth : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = amp.mul %5, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = amp.div %2, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a, %b, %c, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

/// Close, but other functions: a wrong constant, a missing half, another x,
/// a swish with a factor, a clip to other bounds.
// CHECK-LABEL: func.func @negative_other_functions
func.func @negative_other_functions(%x: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NOT: {{gelu|silu|hard_}}
  // CHECK: return
  %one = amp.constant dense<1.0> : tensor<f32>
  %half = amp.constant dense<0.5> : tensor<f32>
  %three = amp.constant dense<3.0> : tensor<f32>
  %sixth = amp.constant dense<0.166666672> : tensor<f32>
  %inverse = amp.constant dense<0.707106769> : tensor<f32>
  %wrong = amp.constant dense<0.7072> : tensor<f32>
  %quick = amp.constant dense<1.702> : tensor<f32>
  %a0 = amp.mul %x, %wrong : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a1 = amp.erf %a0 : (tensor<4xf32>) -> tensor<4xf32>
  %a2 = amp.add %a1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a3 = amp.mul %x, %a2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = amp.mul %a3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b0 = amp.mul %x, %inverse : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b1 = amp.erf %b0 : (tensor<4xf32>) -> tensor<4xf32>
  %b2 = amp.add %b1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = amp.mul %x, %b2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c0 = amp.mul %z, %b2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = amp.mul %c0, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d0 = amp.mul %x, %quick : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d1 = amp.sigmoid %d0 : (tensor<4xf32>) -> tensor<4xf32>
  %d = amp.mul %x, %d1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e0 = amp.add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %e1 = amp.clip %e0 {min = 0.0 : f64, max = 5.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %e2 = amp.mul %x, %e1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = amp.mul %e2, %sixth : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

/// x broadcasts: the result is no function of one element.
// CHECK-LABEL: func.func @negative_broadcast
func.func @negative_broadcast(%x: tensor<4xf32>, %z: tensor<3x1xf32>) -> tensor<3x4xf32> {
  // CHECK: amp.sigmoid
  // CHECK: amp.mul
  %0 = amp.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.mul %0, %z : (tensor<4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
