// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// Regions and symbols: composites, kernels, weights.

amp.kernel @scaled_relu(%a: tensor<3xf32>, %s: tensor<f32>) -> (tensor<3xf32>, tensor<3xbf16>) {
  %0 = amp.relu %a : (tensor<3xf32>) -> tensor<3xf32>
  %1 = amp.mul %0, %s : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = amp.cast %1 : (tensor<3xf32>) -> tensor<3xbf16>
  amp.yield %1, %2 : tensor<3xf32>, tensor<3xbf16>
}

amp.weight @w : tensor<2x1x2xf32> {
  %0 = amp.constant dense_resource<data> : tensor<3xf32>
  %1 = amp.constant dense<2.0> : tensor<f32>
  %2 = amp.mul %0, %1 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = amp.reshape %2 : (tensor<3xf32>) -> tensor<1x3xf32>
  %4 = amp.pack %3 {dimension = 1 : i64, panel = 2 : i64, outer = array<i64>, inner = array<i64: 0>}
    : (tensor<1x3xf32>) -> tensor<2x1x2xf32>
  amp.yield %4 : tensor<2x1x2xf32>
}

// CHECK:@launch#0: tensor<3xf32> = [0, 1.00390625, 3.01171875]
// CHECK:@launch#1: tensor<3xbf16> = [0, 1, 3.0156]
func.func @launch() -> (tensor<3xf32>, tensor<3xbf16>) {
  %a = amp.constant dense<[-1.0, 1.0, 3.0]> : tensor<3xf32>
  %s = amp.constant dense<1.00390625> : tensor<f32>
  %0:2 = amp.launch @scaled_relu(%a, %s) : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xbf16>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xbf16>
}

// CHECK{LITERAL}:@weight#0: tensor<2x1x2xf32> = [[[2, 4]], [[6, 0]]]
// CHECK{LITERAL}:@weight#1: tensor<2x1x2xf32> = [[[4, 8]], [[12, 0]]]
func.func @weight() -> (tensor<2x1x2xf32>, tensor<2x1x2xf32>) {
  %0 = amp.get_weight @w : tensor<2x1x2xf32>
  %1 = amp.get_weight @w : tensor<2x1x2xf32>
  %2 = amp.add %0, %1 : (tensor<2x1x2xf32>, tensor<2x1x2xf32>) -> tensor<2x1x2xf32>
  return %0, %2 : tensor<2x1x2xf32>, tensor<2x1x2xf32>
}

// CHECK:@boolean_resource#0: tensor<3xi1> = [false, true, false]
func.func @boolean_resource() -> tensor<3xi1> {
  %0 = amp.constant dense_resource<flags> : tensor<3xi1>
  %1 = amp.logical_not %0 : (tensor<3xi1>) -> tensor<3xi1>
  return %1 : tensor<3xi1>
}

// The body computes in f32: in f16, 2048 + 1 would lose the 1.
// CHECK:@composite#0: tensor<1xf16> = [2050]
func.func @composite() -> tensor<1xf16> {
  %a = amp.constant dense<2048.0> : tensor<1xf16>
  %0 = amp.composite "Steps" follow(%a) : (tensor<1xf16>) -> tensor<1xf16> {
  ^bb0(%x: tensor<1xf32>):
    %one = amp.constant dense<1.0> : tensor<1xf32>
    %1 = amp.add %x, %one : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %2 = amp.add %1, %one : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    amp.yield %2 : tensor<1xf32>
  }
  return %0 : tensor<1xf16>
}

// Contractions of a lower composite compute on the 16-bit type: the 2^-9 that
// its body adds to an operand is lost in bf16, other ops keep it.
// CHECK{LITERAL}:@lower_composite#0: tensor<1x1xbf16> = [[0]]
// CHECK{LITERAL}:@lower_composite#1: tensor<1x2xf32> = [[1.00195312, 1]]
func.func @lower_composite() -> (tensor<1x1xbf16>, tensor<1x2xf32>) {
  %a = amp.constant dense<1.0> : tensor<1x2xbf16>
  %0:2 = amp.composite "Cell" lower(%a) : (tensor<1x2xbf16>) -> (tensor<1x1xbf16>, tensor<1x2xf32>) {
  ^bb0(%x: tensor<1x2xf32>):
    %e = amp.constant dense<[[0.001953125, 0.0]]> : tensor<1x2xf32>
    %k = amp.constant dense<[[256.0], [-256.0]]> : tensor<2x1xf32>
    %1 = amp.add %x, %e : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %2 = amp.matmul %1, %k : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
    amp.yield %2, %1 : tensor<1x1xf32>, tensor<1x2xf32>
  }
  return %0#0, %0#1 : tensor<1x1xbf16>, tensor<1x2xf32>
}

// CHECK{LITERAL}:@follow_composite#0: tensor<1x1xbf16> = [[0.5]]
func.func @follow_composite() -> tensor<1x1xbf16> {
  %a = amp.constant dense<1.0> : tensor<1x2xbf16>
  %0 = amp.composite "Cell" follow(%a) : (tensor<1x2xbf16>) -> tensor<1x1xbf16> {
  ^bb0(%x: tensor<1x2xf32>):
    %e = amp.constant dense<[[0.001953125, 0.0]]> : tensor<1x2xf32>
    %k = amp.constant dense<[[256.0], [-256.0]]> : tensor<2x1xf32>
    %1 = amp.add %x, %e : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %2 = amp.matmul %1, %k : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
    amp.yield %2 : tensor<1x1xf32>
  }
  return %0 : tensor<1x1xbf16>
}

{-#
  dialect_resources: {
    builtin: {
      data: "0x040000000000803F0000004000004040",
      flags: "0x01000000010001"
    }
  }
#-}
