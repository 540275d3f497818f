// narrow shared conv with reshape
func.func @main(%x: tensor<2x6x6x4xf32>, %w: tensor<16x4x3x3xf32>) -> (tensor<2x16x16xf32>, tensor<2x16x16xbf16>) {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>} : (tensor<2x6x6x4xf32>, tensor<16x4x3x3xf32>) -> tensor<2x4x4x16xf32>
  %1 = amp.relu %0 : (tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32>
  %2 = amp.reshape %1 : (tensor<2x4x4x16xf32>) -> tensor<2x16x16xf32>
  %3 = amp.cast %2 : (tensor<2x16x16xf32>) -> tensor<2x16x16xbf16>
  return %2, %3 : tensor<2x16x16xf32>, tensor<2x16x16xbf16>
}
// -----
// narrow shared, matmul, bf16 to bool
func.func @main(%x: tensor<5x8xbf16>, %w: tensor<8x19xbf16>) -> (tensor<5x19xbf16>, tensor<5x19xi1>) {
  %0 = amp.matmul %x, %w : (tensor<5x8xbf16>, tensor<8x19xbf16>) -> tensor<5x19xbf16>
  %1 = amp.relu %0 : (tensor<5x19xbf16>) -> tensor<5x19xbf16>
  %3 = amp.cast %1 : (tensor<5x19xbf16>) -> tensor<5x19xi1>
  return %1, %3 : tensor<5x19xbf16>, tensor<5x19xi1>
}
// -----
// narrow shared of row reduction
func.func @main(%x: tensor<5x33xf32>) -> (tensor<5x33xf32>, tensor<5x33xbf16>) {
  %0 = amp.softmax %x {axis = 1 : i64} : (tensor<5x33xf32>) -> tensor<5x33xf32>
  %3 = amp.cast %0 : (tensor<5x33xf32>) -> tensor<5x33xbf16>
  return %0, %3 : tensor<5x33xf32>, tensor<5x33xbf16>
}
// -----
// narrow shared of attention
func.func @main(%q: tensor<1x2x7x16xf32>, %k: tensor<1x2x9x16xf32>, %v: tensor<1x2x9x16xf32>) -> (tensor<1x2x7x16xf32>, tensor<1x2x7x16xbf16>) {
  %0 = amp.attention %q, %k, %v {scale = 0.25 : f64, causal = false} : (tensor<1x2x7x16xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>) -> tensor<1x2x7x16xf32>
  %1 = amp.tanh %0 : (tensor<1x2x7x16xf32>) -> tensor<1x2x7x16xf32>
  %3 = amp.cast %1 : (tensor<1x2x7x16xf32>) -> tensor<1x2x7x16xbf16>
  return %1, %3 : tensor<1x2x7x16xf32>, tensor<1x2x7x16xbf16>
}
// -----
// narrow shared of reduce sum
func.func @main(%x: tensor<5x33xf32>) -> (tensor<5xf32>, tensor<5xf16>) {
  %0 = amp.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<5x33xf32>) -> tensor<5xf32>
  %3 = amp.cast %0 : (tensor<5xf32>) -> tensor<5xf16>
  return %0, %3 : tensor<5xf32>, tensor<5xf16>
}
// -----
// narrow shared of max pool and of topk values
func.func @main(%x: tensor<1x3x8x8xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x3x4x4xbf16>, tensor<1x3x4x2xf32>, tensor<1x3x4x2xbf16>, tensor<1x3x4x2xi64>) {
  %y = amp.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %3 = amp.cast %y : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xbf16>
  %v, %i = amp.top_k %y {k = 2 : i64, axis = 3 : i64, largest = true} : (tensor<1x3x4x4xf32>) -> (tensor<1x3x4x2xf32>, tensor<1x3x4x2xi64>)
  %4 = amp.cast %v : (tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xbf16>
  return %y, %3, %v, %4, %i : tensor<1x3x4x4xf32>, tensor<1x3x4x4xbf16>, tensor<1x3x4x2xf32>, tensor<1x3x4x2xbf16>, tensor<1x3x4x2xi64>
}
// -----
// narrow shared of cumsum, arg
func.func @main(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xbf16>) {
  %0 = amp.cumsum %x {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = amp.cast %0 : (tensor<5x7xf32>) -> tensor<5x7xbf16>
  return %0, %1 : tensor<5x7xf32>, tensor<5x7xbf16>
}
// -----
// splat weights matmul
func.func @main(%x: tensor<5x8xf32>) -> tensor<5x19xf32> {
  %w = amp.constant dense<0.25> : tensor<8x19xf32>
  %b = amp.constant dense<1.0> : tensor<19xf32>
  %0 = amp.matmul %x, %w, %b : (tensor<5x8xf32>, tensor<8x19xf32>, tensor<19xf32>) -> tensor<5x19xf32>
  return %0 : tensor<5x19xf32>
}
// -----
// splat lhs matmul
func.func @main(%x: tensor<8x19xf32>) -> tensor<5x19xf32> {
  %w = amp.constant dense<0.25> : tensor<5x8xf32>
  %0 = amp.matmul %w, %x : (tensor<5x8xf32>, tensor<8x19xf32>) -> tensor<5x19xf32>
  return %0 : tensor<5x19xf32>
}
// -----
// splat conv weight and bias
func.func @main(%x: tensor<2x6x6x4xf32>) -> tensor<2x4x4x16xf32> {
  %w = amp.constant dense<0.25> : tensor<16x4x3x3xf32>
  %b = amp.constant dense<1.0> : tensor<16xf32>
  %0 = amp.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>} : (tensor<2x6x6x4xf32>, tensor<16x4x3x3xf32>, tensor<16xf32>) -> tensor<2x4x4x16xf32>
  return %0 : tensor<2x4x4x16xf32>
}
// -----
// splat depthwise
func.func @main(%x: tensor<2x6x6x4xf32>) -> tensor<2x4x4x4xf32> {
  %w = amp.constant dense<0.25> : tensor<4x1x3x3xf32>
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 4 : i64, layout = #amp.layout<channels_last>} : (tensor<2x6x6x4xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x4x4xf32>
  return %0 : tensor<2x4x4x4xf32>
}
// -----
// splat layer norm scale, gather indices, attention mask
func.func @main(%x: tensor<4x16xf32>, %q: tensor<1x1x4x16xf32>) -> (tensor<4x16xf32>, tensor<3x16xf32>, tensor<1x1x4x16xf32>) {
  %g = amp.constant dense<2.0> : tensor<16xf32>
  %i = amp.constant dense<1> : tensor<3xi64>
  %m = amp.constant dense<1> : tensor<4x4xi1>
  %0 = amp.layer_norm %x scale %g bias %g {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %1 = amp.gather %x, %i {axis = 0 : i64} : (tensor<4x16xf32>, tensor<3xi64>) -> tensor<3x16xf32>
  %2 = amp.attention %q, %q, %q, %m {scale = 0.25 : f64, causal = false} : (tensor<1x1x4x16xf32>, tensor<1x1x4x16xf32>, tensor<1x1x4x16xf32>, tensor<4x4xi1>) -> tensor<1x1x4x16xf32>
  return %0, %1, %2 : tensor<4x16xf32>, tensor<3x16xf32>, tensor<1x1x4x16xf32>
}
// -----
// splat serial
func.func @main(%x: tensor<4x16xf32>) -> (tensor<4x16xf32>) {
  %i = amp.constant dense<1> : tensor<1x16xi64>
  %u = amp.constant dense<2.0> : tensor<1x16xf32>
  %y = amp.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #amp.scatter_reduction<none>} : (tensor<4x16xf32>, tensor<1x16xi64>, tensor<1x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
// -----
// K = 0
func.func @main(%x: tensor<4x0xf32>, %w: tensor<0x16xf32>) -> (tensor<4x16xf32>) {
  %y = amp.matmul %x, %w : (tensor<4x0xf32>, tensor<0x16xf32>) -> tensor<4x16xf32>
  %r = amp.exp %y : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
// -----
// empty axis sums
func.func @main(%x: tensor<4x0xf32>) -> (tensor<4x1xf32>, tensor<4xf32>) {
  %y = amp.reduce_sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x0xf32>) -> tensor<4x1xf32>
  %z = amp.reduce_prod %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x0xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4x1xf32>, tensor<4xf32>
}
// -----
// empty everything
func.func @main(%x: tensor<0x8xf32>, %w: tensor<8x16xf32>) -> (tensor<0x16xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<0x2xi64>, tensor<8x0xf32>) {
  %y = amp.matmul %x, %w : (tensor<0x8xf32>, tensor<8x16xf32>) -> tensor<0x16xf32>
  %s = amp.softmax %x {axis = 1 : i64} : (tensor<0x8xf32>) -> tensor<0x8xf32>
  %v, %i = amp.top_k %x {k = 2 : i64, axis = 1 : i64, largest = true} : (tensor<0x8xf32>) -> (tensor<0x2xf32>, tensor<0x2xi64>)
  %t = amp.transpose %s {permutation = array<i64: 1, 0>} : (tensor<0x8xf32>) -> tensor<8x0xf32>
  return %y, %s, %x, %i, %t : tensor<0x16xf32>, tensor<0x8xf32>, tensor<0x8xf32>, tensor<0x2xi64>, tensor<8x0xf32>
}
// -----
// empty part of concat, pad of empty, gather none
func.func @main(%x: tensor<0x8xf32>, %z: tensor<2x8xf32>, %i: tensor<0xi64>) -> (tensor<2x8xf32>, tensor<3x8xf32>, tensor<0x8xf32>) {
  %e = amp.exp %x : (tensor<0x8xf32>) -> tensor<0x8xf32>
  %c = amp.concat %e, %z {axis = 0 : i64} : (tensor<0x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %p = amp.pad %e {low = array<i64: 1, 0>, high = array<i64: 2, 0>, mode = #amp.pad_mode<constant>} : (tensor<0x8xf32>) -> tensor<3x8xf32>
  %g = amp.gather %z, %i {axis = 0 : i64} : (tensor<2x8xf32>, tensor<0xi64>) -> tensor<0x8xf32>
  return %c, %p, %g : tensor<2x8xf32>, tensor<3x8xf32>, tensor<0x8xf32>
}
// -----
// returns: input twice, constant twice, splat, result of constants
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<i1>) {
  %c = amp.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %s = amp.constant dense<2.0> : tensor<2xf32>
  %t = amp.constant dense<1> : tensor<i1>
  %n = amp.neg %c : (tensor<3xf32>) -> tensor<3xf32>
  %r = amp.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
  return %x, %r, %c, %n, %s, %t : tensor<4xf32>, tensor<2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<i1>
}
// -----
// matmul epilogue: residual of the lhs
func.func @main(%x: tensor<9x9xf32>) -> (tensor<9x9xf32>) {
  %y = amp.matmul %x, %x : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  %z = amp.add %y, %x : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  %t = amp.transpose %x {permutation = array<i64: 1, 0>} : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %u = amp.mul %z, %t : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  return %u : tensor<9x9xf32>
}
// -----
// epilogue with broadcast partner that is transposed, through a reshape with odd sizes
func.func @main(%x: tensor<6x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16x6xf32>, %c: tensor<2x3x1xf32>) -> (tensor<3x2x16xf32>) {
  %y = amp.matmul %x, %w : (tensor<6x8xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
  %t = amp.transpose %b {permutation = array<i64: 1, 0>} : (tensor<16x6xf32>) -> tensor<6x16xf32>
  %a = amp.add %y, %t : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %r = amp.reshape %a : (tensor<6x16xf32>) -> tensor<2x3x16xf32>
  %m = amp.mul %r, %c : (tensor<2x3x16xf32>, tensor<2x3x1xf32>) -> tensor<2x3x16xf32>
  %u = amp.transpose %m {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x16xf32>) -> tensor<3x2x16xf32>
  %v = amp.neg %u : (tensor<3x2x16xf32>) -> tensor<3x2x16xf32>
  return %v : tensor<3x2x16xf32>
}
// -----
// reduce over no axis, over all; epilogue of a rank-0
func.func @main(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<f32>, tensor<bf16>) {
  %a = amp.reduce_mean %x {axes = array<i64>, keepdims = false} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %b = amp.neg %a : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %s = amp.reduce_sum %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<3x5xf32>) -> tensor<f32>
  %e = amp.exp %s : (tensor<f32>) -> tensor<f32>
  %c = amp.cast %e : (tensor<f32>) -> tensor<bf16>
  return %b, %e, %c : tensor<3x5xf32>, tensor<f32>, tensor<bf16>
}
// -----
// prologue with broadcast inside reduction, row with transposed prologue
func.func @main(%x: tensor<3x1xf32>, %y: tensor<5xf32>) -> (tensor<5xf32>, tensor<5x3xf32>) {
  %a = amp.add %x, %y : (tensor<3x1xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %s = amp.reduce_sum %a {axes = array<i64: 0>, keepdims = false} : (tensor<3x5xf32>) -> tensor<5xf32>
  %m = amp.mul %x, %y : (tensor<3x1xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %t = amp.transpose %m {permutation = array<i64: 1, 0>} : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %l = amp.softmax %t {axis = 1 : i64} : (tensor<5x3xf32>) -> tensor<5x3xf32>
  return %s, %l : tensor<5xf32>, tensor<5x3xf32>
}
// -----
// broadcast op as prologue of everything
func.func @main(%x: tensor<8xbf16>, %y: tensor<4x8xbf16>) -> (tensor<4x4xbf16>, tensor<4x8xbf16>, tensor<8x8xbf16>) {
  %b = amp.broadcast %x : (tensor<8xbf16>) -> tensor<8x8xbf16>
  %s = amp.slice %b {starts = array<i64: 0, 7>, sizes = array<i64: 8, 4>, strides = array<i64: 1, -2>} : (tensor<8x8xbf16>) -> tensor<8x4xbf16>
  %m = amp.matmul %y, %s : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
  %b2 = amp.broadcast %x : (tensor<8xbf16>) -> tensor<4x8xbf16>
  %sm = amp.softmax %b2 {axis = 0 : i64} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %b3 = amp.broadcast %x : (tensor<8xbf16>) -> tensor<4x8xbf16>
  %c = amp.concat %b3, %y {axis = 0 : i64} : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x8xbf16>
  return %m, %sm, %c : tensor<4x4xbf16>, tensor<4x8xbf16>, tensor<8x8xbf16>
}
// -----
// integers and booleans in epilogues and rows
func.func @main(%x: tensor<3x5xi32>, %y: tensor<5x7xi32>, %c: tensor<3x5xi1>) -> (tensor<3x7xi32>, tensor<3xi1>, tensor<3x5xi64>) {
  %m = amp.matmul %x, %y : (tensor<3x5xi32>, tensor<5x7xi32>) -> tensor<3x7xi32>
  %a = amp.add %m, %m : (tensor<3x7xi32>, tensor<3x7xi32>) -> tensor<3x7xi32>
  %n = amp.logical_not %c : (tensor<3x5xi1>) -> tensor<3x5xi1>
  %r = amp.reduce_max %n {axes = array<i64: 1>, keepdims = false} : (tensor<3x5xi1>) -> tensor<3xi1>
  %w = amp.cast %x : (tensor<3x5xi32>) -> tensor<3x5xi64>
  return %a, %r, %w : tensor<3x7xi32>, tensor<3xi1>, tensor<3x5xi64>
}
// -----
// dead results and dead chains
func.func @main(%x: tensor<3x5xf32>) -> (tensor<3x2xi64>) {
  %d = amp.exp %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %e = amp.softmax %d {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %v, %i = amp.top_k %x {k = 2 : i64, axis = 1 : i64, largest = true} : (tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  return %i : tensor<3x2xi64>
}
// -----
// all constant
func.func @main(%x: tensor<1xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>) {
  %c = amp.constant dense<[[1.0, 3.0, 2.0], [5.0, 4.0, 6.0]]> : tensor<2x3xf32>
  %v, %i = amp.top_k %c {k = 1 : i64, axis = 1 : i64, largest = true} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  return %v, %i : tensor<2x1xf32>, tensor<2x1xi64>
}
// -----
// attention whose operands are views that tear vectors
func.func @main(%x: tensor<1x3x7x33xf16>, %k: tensor<1x21x33xf16>, %m: tensor<33x11x3xi1>) -> tensor<1x1x33x21xf16> {
  %q = amp.reshape %x : (tensor<1x3x7x33xf16>) -> tensor<1x1x33x21xf16>
  %t = amp.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<1x21x33xf16>) -> tensor<1x33x21xf16>
  %r = amp.reshape %t : (tensor<1x33x21xf16>) -> tensor<1x1x33x21xf16>
  %c = amp.exp %x : (tensor<1x3x7x33xf16>) -> tensor<1x3x7x33xf16>
  %e = amp.reshape %c : (tensor<1x3x7x33xf16>) -> tensor<1x1x33x21xf16>
  %n = amp.logical_not %m : (tensor<33x11x3xi1>) -> tensor<33x11x3xi1>
  %b = amp.reshape %n : (tensor<33x11x3xi1>) -> tensor<33x33xi1>
  %y = amp.attention %q, %r, %e, %b {scale = 0.25 : f64, causal = false} : (tensor<1x1x33x21xf16>, tensor<1x1x33x21xf16>, tensor<1x1x33x21xf16>, tensor<33x33xi1>) -> tensor<1x1x33x21xf16>
  return %y : tensor<1x1x33x21xf16>
}
