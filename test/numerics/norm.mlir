// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// Normalizations with values whose results are short numbers.

// CHECK{LITERAL}:@softmax#0: tensor<2x2xf32> = [[0.25, 0.75], [0.25, 0.75]]
// CHECK{LITERAL}:@softmax#1: tensor<2x2xf32> = [[0, 0], [1, 1]]
// CHECK:@softmax#2: tensor<2xf32> = [0, 1]
func.func @softmax() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) {
  // Differences of ln 3 give quarters; the maximum is taken off first, so that
  // large numbers do no harm.
  %a = amp.constant dense<[[0.0, 1.09861228866810969], [1000.0, 1001.09861228866810969]]> : tensor<2x2xf64>
  %0 = amp.softmax %a {axis = 1 : i64} : (tensor<2x2xf64>) -> tensor<2x2xf64>
  %1 = amp.cast %0 : (tensor<2x2xf64>) -> tensor<2x2xf32>
  %2 = amp.softmax %a {axis = 0 : i64} : (tensor<2x2xf64>) -> tensor<2x2xf64>
  %3 = amp.cast %2 : (tensor<2x2xf64>) -> tensor<2x2xf32>
  %b = amp.constant dense<[0xff800000, 2.0]> : tensor<2xf32>
  %4 = amp.softmax %b {axis = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %3, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>
}

// CHECK:@log_softmax#0: tensor<2xf32> = [-0.693147182, -0.693147182]
// CHECK:@log_softmax#1: tensor<2xf32> = [-200, 0]
func.func @log_softmax() -> (tensor<2xf32>, tensor<2xf32>) {
  %a = amp.constant dense<[3.0, 3.0]> : tensor<2xf32>
  %0 = amp.log_softmax %a {axis = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %b = amp.constant dense<[-200.0, 0.0]> : tensor<2xf32>
  %1 = amp.log_softmax %b {axis = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK{LITERAL}:@layer_norm#0: tensor<2x2xbf16> = [[-1.5, 3.25], [2.5, -2.75]]
// CHECK{LITERAL}:@layer_norm#1: tensor<2x2xf32> = [[-1, 1], [-0.333333343, 0.333333343]]
func.func @layer_norm() -> (tensor<2x2xbf16>, tensor<2x2xf32>) {
  %a = amp.constant dense<[[1.0, 5.0], [3.0, 2.0]]> : tensor<2x2xbf16>
  %g = amp.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %b = amp.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %0 = amp.layer_norm %a scale %g bias %b {axis = 1 : i64, epsilon = 0.0 : f64}
    : (tensor<2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xbf16>
  // Variance 1.25 of all four, epsilon 1: differences over 1.5.
  %c = amp.constant dense<[[1.0, 4.0], [2.0, 3.0]]> : tensor<2x2xf32>
  %1 = amp.layer_norm %c {axis = 0 : i64, epsilon = 1.0 : f64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xbf16>, tensor<2x2xf32>
}

// CHECK{LITERAL}:@rms_norm#0: tensor<2x2xf32> = [[2, 140], [10, 100]]
func.func @rms_norm() -> tensor<2x2xf32> {
  %a = amp.constant dense<[[1.0, 7.0], [3.0, 3.0]]> : tensor<2x2xf32>
  %g = amp.constant dense<[10.0, 100.0]> : tensor<2xf32>
  %y = amp.rms_norm %a, %g {axis = 1 : i64, epsilon = 0.0 : f64} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// Two groups of two channels, in both layouts.
// CHECK{LITERAL}:@group_norm#0: tensor<1x4x1xf32> = [[[-1], [2], [-3], [14]]]
// CHECK{LITERAL}:@group_norm#1: tensor<1x1x4xf32> = [[[-1, 2, -3, 14]]]
func.func @group_norm() -> (tensor<1x4x1xf32>, tensor<1x1x4xf32>) {
  %a = amp.constant dense<[[[1.0], [5.0], [2.0], [3.0]]]> : tensor<1x4x1xf32>
  %g = amp.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = amp.constant dense<[0.0, 0.0, 0.0, 10.0]> : tensor<4xf32>
  %0 = amp.group_norm %a scale %g bias %b {groups = 2 : i64, epsilon = 0.0 : f64}
    : (tensor<1x4x1xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x1xf32>
  %l = amp.reshape %a : (tensor<1x4x1xf32>) -> tensor<1x1x4xf32>
  %1 = amp.group_norm %l scale %g bias %b {groups = 2 : i64, epsilon = 0.0 : f64, layout = #amp.layout<channels_last>}
    : (tensor<1x1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x1x4xf32>
  return %0, %1 : tensor<1x4x1xf32>, tensor<1x1x4xf32>
}

// CHECK{LITERAL}:@batch_norm#0: tensor<1x2x2xf32> = [[[1, 2], [-0.25, 0.5]]]
// CHECK{LITERAL}:@batch_norm#1: tensor<1x2x2xf32> = [[[1, -1], [3, 0.5]]]
func.func @batch_norm() -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %a = amp.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %g = amp.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %b = amp.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %m = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %v = amp.constant dense<[3.0, 15.0]> : tensor<2xf32>
  %0 = amp.batch_norm %a, %g, %b, %m, %v {epsilon = 1.0 : f64}
    : (tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>
  %1 = amp.batch_norm %a, %g, %b, %m, %v {epsilon = 1.0 : f64, layout = #amp.layout<channels_last>}
    : (tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>
  return %0, %1 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
}
