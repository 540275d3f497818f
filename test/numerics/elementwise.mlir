// RUN: ampc-eval %s --print-limit=16 | FileCheck %s --match-full-lines --strict-whitespace

// Rounding happens once, at the result's type; NaN, infinities and signed
// zeros follow IEEE 754.

// 16-bit sums are rounded from the exact value, ties to even: 2049 and 2051.
// CHECK:@f16_ties_to_even#0: tensor<2xf16> = [2048, 2052]
func.func @f16_ties_to_even() -> tensor<2xf16> {
  %a = amp.constant dense<[2048.0, 2050.0]> : tensor<2xf16>
  %b = amp.constant dense<1.0> : tensor<2xf16>
  %y = amp.add %a, %b : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  return %y : tensor<2xf16>
}

// CHECK:@f16_overflow#0: tensor<3xf16> = [65504, inf, -inf]
func.func @f16_overflow() -> tensor<3xf16> {
  %a = amp.constant dense<[65504.0, 65504.0, -65504.0]> : tensor<3xf16>
  %b = amp.constant dense<[15.0, 16.0, -65504.0]> : tensor<3xf16>
  %y = amp.add %a, %b : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
  return %y : tensor<3xf16>
}

// Operands of rank 0, 1 and 2.
// CHECK{LITERAL}:@broadcast#0: tensor<2x3xf32> = [[5.5, 10.5, 15.5], [6, 11, 16]]
func.func @broadcast() -> tensor<2x3xf32> {
  %a = amp.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = amp.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %c = amp.constant dense<0.5> : tensor<f32>
  %0 = amp.add %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = amp.mul %0, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK:@empty#0: tensor<0x3xf32> = []
func.func @empty() -> tensor<0x3xf32> {
  %a = amp.constant dense<> : tensor<0x1xf32>
  %b = amp.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %y = amp.add %a, %b : (tensor<0x1xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}

// CHECK:@max_propagates_nan#0: tensor<4xf32> = [nan, nan, 0, -5]
func.func @max_propagates_nan() -> tensor<4xf32> {
  %a = amp.constant dense<[0x7fc00000, 1.0, -0.0, 0xff800000]> : tensor<4xf32>
  %b = amp.constant dense<[1.0, 0x7fc00000, 0.0, -5.0]> : tensor<4xf32>
  %y = amp.max %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK:@min_orders_zeros#0: tensor<4xf32> = [nan, nan, -0, -inf]
func.func @min_orders_zeros() -> tensor<4xf32> {
  %a = amp.constant dense<[0x7fc00000, 1.0, 0.0, 0xff800000]> : tensor<4xf32>
  %b = amp.constant dense<[1.0, 0x7fc00000, -0.0, -5.0]> : tensor<4xf32>
  %y = amp.min %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK:@compare_with_nan#0: tensor<2xi1> = [false, true]
// CHECK:@compare_with_nan#1: tensor<2xi1> = [true, false]
// CHECK:@compare_with_nan#2: tensor<2xi1> = [false, true]
func.func @compare_with_nan() -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
  %a = amp.constant dense<[0x7fc00000, 1.0]> : tensor<2xf32>
  %eq = amp.compare %a, %a {predicate = #amp.predicate<eq>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %ne = amp.compare %a, %a {predicate = #amp.predicate<ne>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %le = amp.compare %a, %a {predicate = #amp.predicate<le>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %eq, %ne, %le : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
}

// CHECK{LITERAL}:@select#0: tensor<2x2xf16> = [[1, -1], [2, -1]]
func.func @select() -> tensor<2x2xf16> {
  %c = amp.constant dense<[true, false]> : tensor<2xi1>
  %a = amp.constant dense<[[1.0], [2.0]]> : tensor<2x1xf16>
  %b = amp.constant dense<-1.0> : tensor<f16>
  %y = amp.select %c, %a, %b : (tensor<2xi1>, tensor<2x1xf16>, tensor<f16>) -> tensor<2x2xf16>
  return %y : tensor<2x2xf16>
}

// CHECK:@tests#0: tensor<3xi1> = [true, false, false]
// CHECK:@tests#1: tensor<3xi1> = [false, true, false]
// CHECK:@tests#2: tensor<3xi1> = [false, false, false]
func.func @tests() -> (tensor<3xi1>, tensor<3xi1>, tensor<3xi1>) {
  %a = amp.constant dense<[0x7fc00000, 0xff800000, 1.0]> : tensor<3xf32>
  %nan = amp.is_nan %a : (tensor<3xf32>) -> tensor<3xi1>
  %inf = amp.is_inf %a : (tensor<3xf32>) -> tensor<3xi1>
  %plus = amp.is_inf %a {negative = false} : (tensor<3xf32>) -> tensor<3xi1>
  return %nan, %inf, %plus : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>
}

// CHECK:@round_ties_to_even#0: tensor<5xf32> = [0, 2, 2, -0, -2]
func.func @round_ties_to_even() -> tensor<5xf32> {
  %a = amp.constant dense<[0.5, 1.5, 2.5, -0.5, -1.5]> : tensor<5xf32>
  %y = amp.round %a : (tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// CHECK:@sign#0: tensor<4xf32> = [-1, 0, 1, nan]
func.func @sign() -> tensor<4xf32> {
  %a = amp.constant dense<[-3.0, 0.0, 7.0, 0x7fc00000]> : tensor<4xf32>
  %y = amp.sign %a : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK:@relu#0: tensor<4xf32> = [0, 0, 7, nan]
func.func @relu() -> tensor<4xf32> {
  %a = amp.constant dense<[-3.0, -0.0, 7.0, 0x7fc00000]> : tensor<4xf32>
  %y = amp.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK:@roots#0: tensor<3xf32> = [2, 0, nan]
// CHECK:@roots#1: tensor<3xf32> = [0.5, inf, nan]
// CHECK:@roots#2: tensor<3xf32> = [0.25, inf, -1]
func.func @roots() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %a = amp.constant dense<[4.0, 0.0, -1.0]> : tensor<3xf32>
  %s = amp.sqrt %a : (tensor<3xf32>) -> tensor<3xf32>
  %i = amp.rsqrt %a : (tensor<3xf32>) -> tensor<3xf32>
  %r = amp.reciprocal %a : (tensor<3xf32>) -> tensor<3xf32>
  return %s, %i, %r : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// exp(89) overflows f32 but not f64: the rounding makes it infinite.
// CHECK:@exponentials#0: tensor<4xf32> = [1, 2.71828175, inf, 0]
// CHECK:@exponentials#1: tensor<3xf32> = [0, -inf, nan]
func.func @exponentials() -> (tensor<4xf32>, tensor<3xf32>) {
  %a = amp.constant dense<[0.0, 1.0, 89.0, 0xff800000]> : tensor<4xf32>
  %e = amp.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %b = amp.constant dense<[1.0, 0.0, -1.0]> : tensor<3xf32>
  %l = amp.log %b : (tensor<3xf32>) -> tensor<3xf32>
  return %e, %l : tensor<4xf32>, tensor<3xf32>
}

// CHECK:@activations#0: tensor<3xf32> = [3.78350585e-44, 0.5, 1]
// CHECK:@activations#1: tensor<3xf32> = [3.78350585e-44, 0.693147182, 100]
// CHECK:@activations#2: tensor<3xf32> = [-0, 0, 100]
// CHECK:@activations#3: tensor<3xf32> = [-0, 0, 100]
// CHECK:@activations#4: tensor<3xf32> = [-0, 0, 100]
func.func @activations() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %a = amp.constant dense<[-100.0, 0.0, 100.0]> : tensor<3xf32>
  %0 = amp.sigmoid %a : (tensor<3xf32>) -> tensor<3xf32>
  %1 = amp.softplus %a : (tensor<3xf32>) -> tensor<3xf32>
  %2 = amp.gelu %a {form = #amp.gelu_form<erf>} : (tensor<3xf32>) -> tensor<3xf32>
  %3 = amp.gelu %a {form = #amp.gelu_form<tanh>} : (tensor<3xf32>) -> tensor<3xf32>
  %4 = amp.hard_swish %a : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK:@parameters#0: tensor<3xf32> = [-0.5, 0, 2]
// CHECK:@parameters#1: tensor<3xf32> = [0, 0.5, 1]
// CHECK:@parameters#2: tensor<4xf16> = [-1, 3, inf, nan]
func.func @parameters() -> (tensor<3xf32>, tensor<3xf32>, tensor<4xf16>) {
  %a = amp.constant dense<[-2.0, 0.0, 2.0]> : tensor<3xf32>
  %0 = amp.leaky_relu %a {alpha = 0.25 : f64} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = amp.hard_sigmoid %a {alpha = 0.5 : f64, beta = 0.5 : f64} : (tensor<3xf32>) -> tensor<3xf32>
  // A bound beyond f16's range bounds nothing: infinity stays.
  %b = amp.constant dense<[-2.0, 3.0, 0x7c00, 0x7e00]> : tensor<4xf16>
  %2 = amp.clip %b {min = -1.0 : f64, max = 70000.0 : f64} : (tensor<4xf16>) -> tensor<4xf16>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<4xf16>
}

// The remainder of fmod has the dividend's sign, that of Python's % the divisor's.
// CHECK:@remainders#0: tensor<4xf32> = [1, -1, 1, -1]
// CHECK:@remainders#1: tensor<4xf32> = [1, 2, -2, -1]
func.func @remainders() -> (tensor<4xf32>, tensor<4xf32>) {
  %a = amp.constant dense<[7.0, -7.0, 7.0, -7.0]> : tensor<4xf32>
  %b = amp.constant dense<[3.0, 3.0, -3.0, -3.0]> : tensor<4xf32>
  %c = amp.mod %a, %b {fmod = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = amp.mod %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c, %p : tensor<4xf32>, tensor<4xf32>
}

// A splat result is computed once, however large the tensor.
// CHECK{LITERAL}:@splat#0: tensor<1000000x1000000x1000xf32> = [[[2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25, 2.25 ...
func.func @splat() -> tensor<1000000x1000000x1000xf32> {
  %a = amp.constant dense<1.5> : tensor<1000000x1000000x1000xf32>
  %y = amp.mul %a, %a : (tensor<1000000x1000000x1000xf32>, tensor<1000000x1000000x1000xf32>) -> tensor<1000000x1000000x1000xf32>
  return %y : tensor<1000000x1000000x1000xf32>
}
