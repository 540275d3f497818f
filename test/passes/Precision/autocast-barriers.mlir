// RUN: ampc-opt %s --precision-autocast=type=bf16 | FileCheck %s

/// A cast to f32 that the model asks for keeps its type, though the value it
/// reads is now low; what follows sees f32.
// CHECK-LABEL: func.func @explicit_f32
func.func @explicit_f32(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[Y:.*]] = amp.matmul {{.*}} -> tensor<2x4xbf16>
  // CHECK: %[[C:.*]] = amp.cast %[[Y]] {from_model} : (tensor<2x4xbf16>) -> tensor<2x4xf32>
  // CHECK: %[[A:.*]] = amp.add %[[C]], %{{.*}} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: return %[[A]]
  %y = amp.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %c = amp.cast %y {from_model} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = amp.add %c, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %a : tensor<2x4xf32>
}

/// Casts of the model that are outputs keep their types and stay.
// CHECK-LABEL: func.func @casts_as_outputs
// CHECK-SAME: -> (tensor<4xf16>, tensor<4xf32>)
func.func @casts_as_outputs(%x: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = amp.cast %{{.*}} {from_model} : (tensor<4xf32>) -> tensor<4xf16>
  // CHECK: %[[B:.*]] = amp.cast %[[A]] {from_model} : (tensor<4xf16>) -> tensor<4xf32>
  // CHECK: return %[[A]], %[[B]]
  %a = amp.cast %x {from_model} : (tensor<4xf32>) -> tensor<4xf16>
  %b = amp.cast %a {from_model} : (tensor<4xf16>) -> tensor<4xf32>
  return %a, %b : tensor<4xf16>, tensor<4xf32>
}

/// A model in f16 under bf16: lowered operands become bf16, and the output goes
/// back.
// CHECK-LABEL: func.func @f16_weights
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>, %[[W:.*]]: tensor<4x4xf16>) -> tensor<4x4xf16>
func.func @f16_weights(%x: tensor<4x4xf32>, %w: tensor<4x4xf16>) -> tensor<4x4xf16> {
  // CHECK: %[[H:.*]] = amp.cast %[[X]] {from_model} : (tensor<4x4xf32>) -> tensor<4x4xf16>
  // CHECK: %[[HL:.*]] = amp.cast %[[H]] : (tensor<4x4xf16>) -> tensor<4x4xbf16>
  // CHECK: %[[WL:.*]] = amp.cast %[[W]] : (tensor<4x4xf16>) -> tensor<4x4xbf16>
  // CHECK: %[[Y:.*]] = amp.matmul %[[HL]], %[[WL]] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  // CHECK: %[[R:.*]] = amp.cast %[[Y]] : (tensor<4x4xbf16>) -> tensor<4x4xf16>
  // CHECK: return %[[R]]
  %h = amp.cast %x {from_model} : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %y = amp.matmul %h, %w : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

/// No 16-bit type holds both f16 and bf16, so they meet in f32.
// CHECK-LABEL: func.func @f16_meets_bf16
func.func @f16_meets_bf16(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {
  // CHECK: %[[Y:.*]] = amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: amp.add %{{.*}}, %{{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = amp.matmul %x, %x : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  %a = amp.add %x, %y : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  return %a : tensor<2x2xf16>
}

/// What follows a value of the model stays in its type.
// CHECK-LABEL: func.func @no_change_of_f16
// CHECK-NOT: amp.cast
// CHECK: return
func.func @no_change_of_f16(%x: tensor<4xf16>) -> tensor<4xf16> {
  %r = amp.relu %x : (tensor<4xf16>) -> tensor<4xf16>
  %a = amp.add %r, %x : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return %a : tensor<4xf16>
}

/// An operation in f32 takes f16 up and the declared output type back.
// CHECK-LABEL: func.func @fp32_of_f16
func.func @fp32_of_f16(%x: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK: %[[U:.*]] = amp.cast %{{.*}} : (tensor<4xf16>) -> tensor<4xf32>
  // CHECK: %[[E:.*]] = amp.exp %[[U]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[R:.*]] = amp.cast %[[E]] : (tensor<4xf32>) -> tensor<4xf16>
  // CHECK: return %[[R]]
  %e = amp.exp %x : (tensor<4xf16>) -> tensor<4xf16>
  return %e : tensor<4xf16>
}

/// A value that is an output and an operand: the output keeps its type, the
/// operand is the low value itself.
// CHECK-LABEL: func.func @output_read_again
func.func @output_read_again(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  // CHECK: %[[Y:.*]] = amp.matmul
  // CHECK: %[[O:.*]] = amp.cast %[[Y]] : (tensor<2x2xbf16>) -> tensor<2x2xf32>
  // CHECK: amp.relu %[[Y]] : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  // CHECK: return %[[O]], %{{.*}} : tensor<2x2xf32>, tensor<2x2xf32>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = amp.relu %y : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y, %r : tensor<2x2xf32>, tensor<2x2xf32>
}
