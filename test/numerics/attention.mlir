// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// Scores of 0 and ln 3 make probabilities of quarters.

// CHECK{LITERAL}:@plain#0: tensor<1x1x1x2xf32> = [[[[7, 12]]]]
func.func @plain() -> tensor<1x1x1x2xf32> {
  %q = amp.constant dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf32>
  %k = amp.constant dense<[[[[0.0, 5.0], [2.19722462, 5.0]]]]> : tensor<1x1x2x2xf32>
  %v = amp.constant dense<[[[[4.0, 0.0], [8.0, 16.0]]]]> : tensor<1x1x2x2xf32>
  %y = amp.attention %q, %k, %v {scale = 0.5 : f64, causal = false}
    : (tensor<1x1x1x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x1x2xf32>
  return %y : tensor<1x1x1x2xf32>
}

// Query 0 sees key 0 only; aligned at the end, it sees keys 0 and 1.
// CHECK{LITERAL}:@causal#0: tensor<1x1x2x1xf32> = [[[[1], [2]]]]
// CHECK{LITERAL}:@causal#1: tensor<1x1x2x1xf32> = [[[[2], [4]]]]
func.func @causal() -> (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) {
  %q = amp.constant dense<1.0> : tensor<1x1x2x1xf32>
  %k = amp.constant dense<0.0> : tensor<1x1x3x1xf32>
  %v = amp.constant dense<[[[[1.0], [3.0], [8.0]]]]> : tensor<1x1x3x1xf32>
  %0 = amp.attention %q, %k, %v {scale = 1.0 : f64, causal = true}
    : (tensor<1x1x2x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x2x1xf32>
  %1 = amp.attention %q, %k, %v {scale = 1.0 : f64, causal = true, causal_align_end = true}
    : (tensor<1x1x2x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x2x1xf32>
  return %0, %1 : tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>
}

// The second query has nothing left: zeros, though an excluded value is NaN.
// CHECK{LITERAL}:@masks#0: tensor<1x1x2x1xf32> = [[[[2], [0]]]]
// CHECK{LITERAL}:@masks#1: tensor<1x1x2x1xf32> = [[[[2], [0]]]]
func.func @masks() -> (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) {
  %q = amp.constant dense<1.0> : tensor<1x1x2x1xf32>
  %k = amp.constant dense<0.0> : tensor<1x1x2x1xf32>
  %v = amp.constant dense<[[[[2.0], [0x7fc00000]]]]> : tensor<1x1x2x1xf32>
  %m = amp.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  %0 = amp.attention %q, %k, %v, %m {scale = 1.0 : f64, causal = false}
    : (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<2x2xi1>) -> tensor<1x1x2x1xf32>
  %f = amp.constant dense<[[0.0, 0xff800000], [0xff800000, 0xff800000]]> : tensor<2x2xf32>
  %1 = amp.attention %q, %k, %v, %f {scale = 1.0 : f64, causal = false}
    : (tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>, tensor<2x2xf32>) -> tensor<1x1x2x1xf32>
  return %0, %1 : tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>
}

// Heads 0 and 1 read the first key head, 2 and 3 the second.
// CHECK{LITERAL}:@grouped_heads#0: tensor<1x4x1x1xf16> = [[[[1]], [[1]], [[2]], [[2]]]]
func.func @grouped_heads() -> tensor<1x4x1x1xf16> {
  %q = amp.constant dense<1.0> : tensor<1x4x1x1xf16>
  %k = amp.constant dense<0.0> : tensor<1x2x1x1xf16>
  %v = amp.constant dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf16>
  %y = amp.attention %q, %k, %v {scale = 1.0 : f64, causal = false}
    : (tensor<1x4x1x1xf16>, tensor<1x2x1x1xf16>, tensor<1x2x1x1xf16>) -> tensor<1x4x1x1xf16>
  return %y : tensor<1x4x1x1xf16>
}

// The cap brings both scores to 1, whose difference is then 0.
// CHECK{LITERAL}:@softcap#0: tensor<1x1x1x1xf32> = [[[[2]]]]
func.func @softcap() -> tensor<1x1x1x1xf32> {
  %q = amp.constant dense<1000.0> : tensor<1x1x1x1xf32>
  %k = amp.constant dense<[[[[1000.0], [2000.0]]]]> : tensor<1x1x2x1xf32>
  %v = amp.constant dense<[[[[1.0], [3.0]]]]> : tensor<1x1x2x1xf32>
  %y = amp.attention %q, %k, %v {scale = 1.0 : f64, causal = false, softcap = 1.0 : f64}
    : (tensor<1x1x1x1xf32>, tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x1x1xf32>
  return %y : tensor<1x1x1x1xf32>
}

// Probabilities of a third are rounded to f16 before the second product:
// 3 * 4096 * 0.33325 instead of 4096.
// CHECK{LITERAL}:@rounds_probabilities#0: tensor<1x1x1x1xf32> = [[[[4095]]]]
func.func @rounds_probabilities() -> tensor<1x1x1x1xf32> {
  %q = amp.constant dense<0.0> : tensor<1x1x1x1xf16>
  %k = amp.constant dense<0.0> : tensor<1x1x3x1xf16>
  %v = amp.constant dense<4096.0> : tensor<1x1x3x1xf16>
  %y = amp.attention %q, %k, %v {scale = 1.0 : f64, causal = false}
    : (tensor<1x1x1x1xf16>, tensor<1x1x3x1xf16>, tensor<1x1x3x1xf16>) -> tensor<1x1x1x1xf32>
  return %y : tensor<1x1x1x1xf32>
}
