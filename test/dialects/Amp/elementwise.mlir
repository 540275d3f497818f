// RUN: ampc-opt %s | FileCheck %s
// RUN: ampc-opt %s > %t.once && ampc-opt %t.once | diff %t.once -
// RUN: ampc-opt %s --mlir-print-op-generic | ampc-opt | diff %t.once -
// RUN: ampc-opt %s --emit-bytecode | ampc-opt | diff %t.once -

/// Elementwise ops keep their form through text, generic text and bytecode.

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<4x8xf32>) {
  // CHECK: %{{.*}} = amp.abs %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %abs = amp.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.neg %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %neg = amp.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.sign %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sign = amp.sign %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.ceil %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %ceil = amp.ceil %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.floor %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %floor = amp.floor %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.round %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %round = amp.round %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.sqrt %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sqrt = amp.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.rsqrt %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %rsqrt = amp.rsqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.reciprocal %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %reciprocal = amp.reciprocal %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.exp %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %exp = amp.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.log %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %log = amp.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.sin %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sin = amp.sin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.cos %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %cos = amp.cos %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.tan %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %tan = amp.tan %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.asin %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %asin = amp.asin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.acos %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %acos = amp.acos %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.atan %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %atan = amp.atan %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.sinh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sinh = amp.sinh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.cosh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %cosh = amp.cosh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.asinh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %asinh = amp.asinh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.acosh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %acosh = amp.acosh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.atanh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %atanh = amp.atanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.tanh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %tanh = amp.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.erf %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %erf = amp.erf %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.sigmoid %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sigmoid = amp.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.softplus %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %softplus = amp.softplus %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.silu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %silu = amp.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.hard_swish %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %hard_swish = amp.hard_swish %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.relu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %relu = amp.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @unary_types
func.func @unary_types(%h: tensor<8xf16>, %b: tensor<bf16>, %d: tensor<0x3xf64>, %i: tensor<8xi32>, %u: tensor<8xui8>, %p: tensor<8xi1>) {
  // CHECK: %{{.*}} = amp.exp %{{.*}} : (tensor<8xf16>) -> tensor<8xf16>
  %0 = amp.exp %h : (tensor<8xf16>) -> tensor<8xf16>
  // CHECK: %{{.*}} = amp.tanh %{{.*}} : (tensor<bf16>) -> tensor<bf16>
  %1 = amp.tanh %b : (tensor<bf16>) -> tensor<bf16>
  // CHECK: %{{.*}} = amp.erf %{{.*}} : (tensor<0x3xf64>) -> tensor<0x3xf64>
  %2 = amp.erf %d : (tensor<0x3xf64>) -> tensor<0x3xf64>
  // CHECK: %{{.*}} = amp.abs %{{.*}} : (tensor<8xi32>) -> tensor<8xi32>
  %3 = amp.abs %i : (tensor<8xi32>) -> tensor<8xi32>
  // CHECK: %{{.*}} = amp.relu %{{.*}} : (tensor<8xui8>) -> tensor<8xui8>
  %4 = amp.relu %u : (tensor<8xui8>) -> tensor<8xui8>
  // CHECK: %{{.*}} = amp.bitwise_not %{{.*}} : (tensor<8xui8>) -> tensor<8xui8>
  %5 = amp.bitwise_not %u : (tensor<8xui8>) -> tensor<8xui8>
  // CHECK: %{{.*}} = amp.logical_not %{{.*}} : (tensor<8xi1>) -> tensor<8xi1>
  %6 = amp.logical_not %p : (tensor<8xi1>) -> tensor<8xi1>
  return
}

// CHECK-LABEL: func.func @unary_attributes
func.func @unary_attributes(%x: tensor<4xf32>) {
  // CHECK: %{{.*}} = amp.gelu %{{.*}} {form = #amp.gelu_form<erf>} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = amp.gelu %x {form = #amp.gelu_form<erf>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %{{.*}} = amp.gelu %{{.*}} {form = #amp.gelu_form<tanh>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.gelu %x {form = #amp.gelu_form<tanh>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %{{.*}} = amp.leaky_relu %{{.*}} {alpha = 1.000000e-02 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.leaky_relu %x {alpha = 1.000000e-02 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %{{.*}} = amp.hard_sigmoid %{{.*}} {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.hard_sigmoid %x {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %{{.*}} = amp.clip %{{.*}} {max = 0x7FF0000000000000 : f64, min = 0.000000e+00 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = amp.clip %x {max = 0x7FF0000000000000 : f64, min = 0.000000e+00 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %{{.*}} = amp.is_nan %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
  %5 = amp.is_nan %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: %{{.*}} = amp.is_inf %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
  %6 = amp.is_inf %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK: %{{.*}} = amp.is_inf %{{.*}} {negative = false} : (tensor<4xf32>) -> tensor<4xi1>
  %7 = amp.is_inf %x {negative = false} : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // CHECK: %{{.*}} = amp.add %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %add = amp.add %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.sub %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %sub = amp.sub %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.mul %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %mul = amp.mul %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.div %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %div = amp.div %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.pow %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %pow = amp.pow %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.max %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %max = amp.max %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.min %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %min = amp.min %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.mod %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %mod = amp.mod %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.mod %{{.*}}, %{{.*}} {fmod = true} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %fmod = amp.mod %a, %b {fmod = true} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.compare %{{.*}}, %{{.*}} {predicate = #amp.predicate<eq>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %eq = amp.compare %a, %b {predicate = #amp.predicate<eq>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: %{{.*}} = amp.compare %{{.*}}, %{{.*}} {predicate = #amp.predicate<ne>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %ne = amp.compare %a, %b {predicate = #amp.predicate<ne>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: %{{.*}} = amp.compare %{{.*}}, %{{.*}} {predicate = #amp.predicate<lt>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %lt = amp.compare %a, %b {predicate = #amp.predicate<lt>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: %{{.*}} = amp.compare %{{.*}}, %{{.*}} {predicate = #amp.predicate<le>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %le = amp.compare %a, %b {predicate = #amp.predicate<le>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: %{{.*}} = amp.compare %{{.*}}, %{{.*}} {predicate = #amp.predicate<gt>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %gt = amp.compare %a, %b {predicate = #amp.predicate<gt>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: %{{.*}} = amp.compare %{{.*}}, %{{.*}} {predicate = #amp.predicate<ge>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %ge = amp.compare %a, %b {predicate = #amp.predicate<ge>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  return
}

// CHECK-LABEL: func.func @binary_integer
func.func @binary_integer(%a: tensor<4x1xi64>, %b: tensor<3xi64>) {
  // CHECK: %{{.*}} = amp.add %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %add = amp.add %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.sub %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %sub = amp.sub %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.mul %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %mul = amp.mul %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.div %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %div = amp.div %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.pow %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %pow = amp.pow %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.max %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %max = amp.max %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.min %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %min = amp.min %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.mod %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %mod = amp.mod %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.and %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %and = amp.and %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.or %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %or = amp.or %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.xor %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %xor = amp.xor %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.shift_left %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %shift_left = amp.shift_left %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %{{.*}} = amp.shift_right %{{.*}}, %{{.*}} : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %shift_right = amp.shift_right %a, %b : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  return
}

// CHECK-LABEL: func.func @binary_boolean
func.func @binary_boolean(%a: tensor<4xi1>, %b: tensor<i1>) {
  // CHECK: %{{.*}} = amp.and %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %0 = amp.and %a, %b : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  // CHECK: %{{.*}} = amp.or %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %1 = amp.or %a, %b : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  // CHECK: %{{.*}} = amp.xor %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %2 = amp.xor %a, %b : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @select
func.func @select(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<f32>, %wide: tensor<3x1xi1>) {
  // CHECK: %{{.*}} = amp.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = amp.select %c, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: %{{.*}} = amp.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<3x1xi1>, tensor<4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %1 = amp.select %wide, %a, %b : (tensor<3x1xi1>, tensor<4xf32>, tensor<f32>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @cast
func.func @cast(%x: tensor<4xf32>) {
  // CHECK: %{{.*}} = amp.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
  %0 = amp.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: %{{.*}} = amp.cast %{{.*}} {saturate} : (tensor<4xf32>) -> tensor<4xf16>
  %1 = amp.cast %x {saturate} : (tensor<4xf32>) -> tensor<4xf16>
  // CHECK: %{{.*}} = amp.cast %{{.*}} {from_model} : (tensor<4xf32>) -> tensor<4xi64>
  %2 = amp.cast %x {from_model} : (tensor<4xf32>) -> tensor<4xi64>
  // CHECK: %{{.*}} = amp.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
  %3 = amp.cast %x : (tensor<4xf32>) -> tensor<4xi1>
  return
}
