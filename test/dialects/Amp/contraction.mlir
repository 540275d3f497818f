// RUN: ampc-opt %s | FileCheck %s
// RUN: ampc-opt %s > %t.once && ampc-opt %t.once | diff %t.once -
// RUN: ampc-opt %s --mlir-print-op-generic | ampc-opt | diff %t.once -
// RUN: ampc-opt %s --emit-bytecode | ampc-opt | diff %t.once -

/// Products, convolutions, attention, packed weights.

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %bias: tensor<2xf32>) {
  // CHECK: %{{.*}} = amp.matmul %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  // CHECK: %{{.*}} = amp.matmul %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %1 = amp.matmul %a, %b, %bias : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}

// CHECK-LABEL: func.func @matmul_batch
func.func @matmul_batch(%a: tensor<3x1x8x4xf16>, %b: tensor<5x2x8xf16>, %i: tensor<4x8xi8>, %j: tensor<8x4xi8>) {
  // CHECK: %{{.*}} = amp.matmul %{{.*}}, %{{.*}} {transpose_lhs, transpose_rhs} : (tensor<3x1x8x4xf16>, tensor<5x2x8xf16>) -> tensor<3x5x4x2xf16>
  %0 = amp.matmul %a, %b {transpose_lhs, transpose_rhs} : (tensor<3x1x8x4xf16>, tensor<5x2x8xf16>) -> tensor<3x5x4x2xf16>
  // CHECK: %{{.*}} = amp.matmul %{{.*}}, %{{.*}} {transpose_lhs, transpose_rhs} : (tensor<3x1x8x4xf16>, tensor<5x2x8xf16>) -> tensor<3x5x4x2xf32>
  %1 = amp.matmul %a, %b {transpose_lhs, transpose_rhs} : (tensor<3x1x8x4xf16>, tensor<5x2x8xf16>) -> tensor<3x5x4x2xf32>
  // CHECK: %{{.*}} = amp.matmul %{{.*}}, %{{.*}} : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi8>
  %2 = amp.matmul %i, %j : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi8>
  return
}

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x4x8x8xf32>, %y: tensor<1x8x8x4xbf16>, %w: tensor<16x4x3x3xf32>, %d: tensor<4x1x3x3xbf16>, %bias: tensor<16xf32>) {
  // CHECK: %{{.*}} = amp.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x4x4xf32>
  %0 = amp.conv %x, %w {dilations = array<i64: 1, 1>, group = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<1x16x4x4xf32>
  // CHECK: %{{.*}} = amp.conv %{{.*}}, %{{.*}}, %{{.*}} {dilations = array<i64: 2, 2>, group = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<16x4x3x3xf32>, tensor<16xf32>) -> tensor<1x16x4x4xf32>
  %1 = amp.conv %x, %w, %bias {dilations = array<i64: 2, 2>, group = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<16x4x3x3xf32>, tensor<16xf32>) -> tensor<1x16x4x4xf32>
  // CHECK: %{{.*}} = amp.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, group = 4 : i64, layout = #amp.layout<channels_last>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x4xbf16>, tensor<4x1x3x3xbf16>) -> tensor<1x8x8x4xf32>
  %2 = amp.conv %y, %d {dilations = array<i64: 1, 1>, group = 4 : i64, layout = #amp.layout<channels_last>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x8x8x4xbf16>, tensor<4x1x3x3xbf16>) -> tensor<1x8x8x4xf32>
  return
}

// CHECK-LABEL: func.func @conv_dimensions
func.func @conv_dimensions(%x1: tensor<2x3x9xf32>, %w1: tensor<5x3x3xf32>, %x3: tensor<1x2x4x4x4xf32>, %w3: tensor<2x1x1x2x3xf32>) {
  // CHECK: %{{.*}} = amp.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1>, group = 1 : i64, pads = array<i64: 0, 2>, strides = array<i64: 1>} : (tensor<2x3x9xf32>, tensor<5x3x3xf32>) -> tensor<2x5x9xf32>
  %0 = amp.conv %x1, %w1 {dilations = array<i64: 1>, group = 1 : i64, pads = array<i64: 0, 2>, strides = array<i64: 1>} : (tensor<2x3x9xf32>, tensor<5x3x3xf32>) -> tensor<2x5x9xf32>
  // CHECK: %{{.*}} = amp.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1, 1>, group = 2 : i64, pads = array<i64: 0, 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<1x2x4x4x4xf32>, tensor<2x1x1x2x3xf32>) -> tensor<1x2x4x3x2xf32>
  %1 = amp.conv %x3, %w3 {dilations = array<i64: 1, 1, 1>, group = 2 : i64, pads = array<i64: 0, 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<1x2x4x4x4xf32>, tensor<2x1x1x2x3xf32>) -> tensor<1x2x4x3x2xf32>
  return
}

// CHECK-LABEL: func.func @conv_transpose
func.func @conv_transpose(%x: tensor<1x4x8x8xf32>, %y: tensor<1x8x8x4xf32>, %w: tensor<4x3x2x2xf32>, %bias: tensor<6xf32>) {
  // CHECK: %{{.*}} = amp.conv_transpose %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, group = 1 : i64, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  %0 = amp.conv_transpose %x, %w {dilations = array<i64: 1, 1>, group = 1 : i64, output_padding = array<i64: 0, 0>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<4x3x2x2xf32>) -> tensor<1x3x16x16xf32>
  // CHECK: %{{.*}} = amp.conv_transpose %{{.*}}, %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, group = 2 : i64, layout = #amp.layout<channels_last>, output_padding = array<i64: 1, 0>, pads = array<i64: 1, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>, tensor<4x3x2x2xf32>, tensor<6xf32>) -> tensor<1x16x16x6xf32>
  %1 = amp.conv_transpose %y, %w, %bias {dilations = array<i64: 1, 1>, group = 2 : i64, layout = #amp.layout<channels_last>, output_padding = array<i64: 1, 0>, pads = array<i64: 1, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>, tensor<4x3x2x2xf32>, tensor<6xf32>) -> tensor<1x16x16x6xf32>
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<1x12x16x64xf32>, %k: tensor<1x4x20x64xf32>, %v: tensor<1x4x20x32xf32>, %m: tensor<16x20xf32>, %p: tensor<1x1x16x20xi1>) {
  // CHECK: %{{.*}} = amp.attention %{{.*}}, %{{.*}}, %{{.*}} {causal = false, scale = 1.250000e-01 : f64} : (tensor<1x12x16x64xf32>, tensor<1x4x20x64xf32>, tensor<1x4x20x32xf32>) -> tensor<1x12x16x32xf32>
  %0 = amp.attention %q, %k, %v {causal = false, scale = 1.250000e-01 : f64} : (tensor<1x12x16x64xf32>, tensor<1x4x20x64xf32>, tensor<1x4x20x32xf32>) -> tensor<1x12x16x32xf32>
  // CHECK: %{{.*}} = amp.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {causal = true, causal_align_end = true, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64} : (tensor<1x12x16x64xf32>, tensor<1x4x20x64xf32>, tensor<1x4x20x32xf32>, tensor<16x20xf32>) -> tensor<1x12x16x32xf32>
  %1 = amp.attention %q, %k, %v, %m {causal = true, causal_align_end = true, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64} : (tensor<1x12x16x64xf32>, tensor<1x4x20x64xf32>, tensor<1x4x20x32xf32>, tensor<16x20xf32>) -> tensor<1x12x16x32xf32>
  // CHECK: %{{.*}} = amp.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {causal = false, scale = 1.000000e+00 : f64} : (tensor<1x12x16x64xf32>, tensor<1x4x20x64xf32>, tensor<1x4x20x32xf32>, tensor<1x1x16x20xi1>) -> tensor<1x12x16x32xf32>
  %2 = amp.attention %q, %k, %v, %p {causal = false, scale = 1.000000e+00 : f64} : (tensor<1x12x16x64xf32>, tensor<1x4x20x64xf32>, tensor<1x4x20x32xf32>, tensor<1x1x16x20xi1>) -> tensor<1x12x16x32xf32>
  return
}

// CHECK-LABEL: func.func @pack
func.func @pack(%w: tensor<64x40xf32>, %c: tensor<20x3x5x5xbf16>) {
  // CHECK: %{{.*}} = amp.pack %{{.*}} {dimension = 1 : i64, inner = array<i64: 0>, outer = array<i64>, panel = 16 : i64} : (tensor<64x40xf32>) -> tensor<3x64x16xf32>
  %0 = amp.pack %w {dimension = 1 : i64, inner = array<i64: 0>, outer = array<i64>, panel = 16 : i64} : (tensor<64x40xf32>) -> tensor<3x64x16xf32>
  // CHECK: %{{.*}} = amp.unpack %{{.*}} {dimension = 1 : i64, inner = array<i64: 0>, outer = array<i64>, panel = 16 : i64} : (tensor<3x64x16xf32>) -> tensor<64x40xf32>
  %1 = amp.unpack %0 {dimension = 1 : i64, inner = array<i64: 0>, outer = array<i64>, panel = 16 : i64} : (tensor<3x64x16xf32>) -> tensor<64x40xf32>
  // CHECK: %{{.*}} = amp.pack %{{.*}} {dimension = 0 : i64, inner = array<i64: 2, 3, 1>, outer = array<i64>, panel = 16 : i64} : (tensor<20x3x5x5xbf16>) -> tensor<2x5x5x3x16xbf16>
  %2 = amp.pack %c {dimension = 0 : i64, inner = array<i64: 2, 3, 1>, outer = array<i64>, panel = 16 : i64} : (tensor<20x3x5x5xbf16>) -> tensor<2x5x5x3x16xbf16>
  return
}
