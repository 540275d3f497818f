// RUN: ampc-opt %s --split-input-file --verify-diagnostics

/// What products, convolutions, attention and packing reject.

func.func @matmul_rank(%a: tensor<8xf32>, %b: tensor<8x2xf32>) {
  // expected-error@+2 {{expected operands of rank 2 or more, got 'tensor<8xf32>' and 'tensor<8x2xf32>'}}
  // expected-error@+1 {{'amp.matmul' op failed to infer returned types}}
  %0 = amp.matmul %a, %b : (tensor<8xf32>, tensor<8x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @matmul_inner(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error@+2 {{cannot multiply 'tensor<4x8xf32>' by 'tensor<8x2xf32>'}}
  // expected-error@+1 {{'amp.matmul' op failed to infer returned types}}
  %0 = amp.matmul %a, %b {transpose_rhs} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @matmul_result(%a: tensor<4x8xf16>, %b: tensor<8x2xf16>) {
  // expected-error@+2 {{'amp.matmul' op inferred type(s) 'tensor<4x2xf16>' are incompatible with return type(s) of operation 'tensor<4x2xbf16>'}}
  // expected-error@+1 {{'amp.matmul' op failed to infer returned types}}
  %0 = amp.matmul %a, %b : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xbf16>
  return
}

// -----

func.func @matmul_types(%a: tensor<4x8xf16>, %b: tensor<8x2xf32>) {
  // expected-error@+1 {{'amp.matmul' op expected operands of one element type, got 'tensor<4x8xf16>' and 'tensor<8x2xf32>'}}
  %0 = amp.matmul %a, %b : (tensor<4x8xf16>, tensor<8x2xf32>) -> tensor<4x2xf16>
  return
}

// -----

func.func @matmul_bias(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<3x4x2xf32>) {
  // expected-error@+1 {{'amp.matmul' op expected a bias that broadcasts to 'tensor<4x2xf32>', got 'tensor<3x4x2xf32>'}}
  %0 = amp.matmul %a, %b, %c : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<3x4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @conv_rank(%x: tensor<3x8xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+2 {{expected an input and a weight of equal rank 3 or more, got 'tensor<3x8xf32>' and 'tensor<4x3xf32>'}}
  // expected-error@+1 {{'amp.conv' op failed to infer returned types}}
  %0 = amp.conv %x, %w {strides = array<i64>, pads = array<i64>, dilations = array<i64>, group = 1 : i64} : (tensor<3x8xf32>, tensor<4x3xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @conv_attributes(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+2 {{expected 1 strides and dilations and 2 pads}}
  // expected-error@+1 {{'amp.conv' op failed to infer returned types}}
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 1>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @conv_stride(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+2 {{stride, dilation, pad or kernel size of spatial dimension 0 is out of range}}
  // expected-error@+1 {{'amp.conv' op failed to infer returned types}}
  %0 = amp.conv %x, %w {strides = array<i64: 0>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @conv_huge(%x: tensor<1x3x9223372036854775807xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+2 {{stride, dilation, pad or kernel size of spatial dimension 0 is out of range}}
  // expected-error@+1 {{'amp.conv' op failed to infer returned types}}
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x3x9223372036854775807xf32>, tensor<4x3x3xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @conv_group(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+2 {{expected a positive group, got 0}}
  // expected-error@+1 {{'amp.conv' op failed to infer returned types}}
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, group = 0 : i64} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @conv_channels(%x: tensor<1x3x8xf32>, %w: tensor<4x2x3xf32>) {
  // expected-error@+2 {{weight 'tensor<4x2x3xf32>' does not fit input 'tensor<1x3x8xf32>' in 1 groups}}
  // expected-error@+1 {{'amp.conv' op failed to infer returned types}}
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<4x2x3xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @conv_span(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+2 {{kernel spans 9 elements of spatial dimension 0, which has 8 with padding}}
  // expected-error@+1 {{'amp.conv' op failed to infer returned types}}
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 4>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @conv_types(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf16>) {
  // expected-error@+1 {{'amp.conv' op expected an input and a weight of one element type, got 'tensor<1x3x8xf32>' and 'tensor<4x3x3xf16>'}}
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<4x3x3xf16>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @conv_bias(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'amp.conv' op expected one bias per output channel, got 'tensor<3xf32>'}}
  %0 = amp.conv %x, %w, %b {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>, tensor<3xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @conv_transpose_channels(%x: tensor<1x3x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+2 {{weight 'tensor<4x3x3xf32>' does not fit input 'tensor<1x3x8xf32>' in 1 groups}}
  // expected-error@+1 {{'amp.conv_transpose' op failed to infer returned types}}
  %0 = amp.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<1x3x8xf32>
  return
}

// -----

func.func @conv_transpose_padding(%x: tensor<1x3x8xf32>, %w: tensor<3x3x3xf32>) {
  // expected-error@+2 {{output padding 9223372036854775807 of spatial dimension 0 is out of range}}
  // expected-error@+1 {{'amp.conv_transpose' op failed to infer returned types}}
  %0 = amp.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, output_padding = array<i64: 9223372036854775807>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<3x3x3xf32>) -> tensor<1x3x8xf32>
  return
}

// -----

func.func @conv_transpose_size(%x: tensor<1x3x1xf32>, %w: tensor<3x3x1xf32>) {
  // expected-error@+2 {{spatial dimension 0 of the result has -1 elements}}
  // expected-error@+1 {{'amp.conv_transpose' op failed to infer returned types}}
  %0 = amp.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x3x1xf32>, tensor<3x3x1xf32>) -> tensor<1x3x8xf32>
  return
}

// -----

func.func @conv_transpose_types(%x: tensor<1x3x8xf32>, %w: tensor<3x3x3xf16>) {
  // expected-error@+1 {{'amp.conv_transpose' op expected an input and a weight of one element type, got 'tensor<1x3x8xf32>' and 'tensor<3x3x3xf16>'}}
  %0 = amp.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<3x3x3xf16>) -> tensor<1x3x8xf32>
  return
}

// -----

func.func @conv_transpose_bias(%x: tensor<1x3x8xf32>, %w: tensor<3x3x3xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'amp.conv_transpose' op expected one bias per output channel, got 'tensor<4xf32>'}}
  %0 = amp.conv_transpose %x, %w, %b {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x3x8xf32>, tensor<3x3x3xf32>, tensor<4xf32>) -> tensor<1x3x8xf32>
  return
}

// -----

func.func @attention_shapes(%q: tensor<1x4x8x16xf32>, %k: tensor<1x3x8x16xf32>) {
  // expected-error@+2 {{cannot attend with query 'tensor<1x4x8x16xf32>', key 'tensor<1x3x8x16xf32>' and value 'tensor<1x3x8x16xf32>'}}
  // expected-error@+1 {{'amp.attention' op failed to infer returned types}}
  %0 = amp.attention %q, %k, %k {scale = 1.0 : f64, causal = false} : (tensor<1x4x8x16xf32>, tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_types(%q: tensor<1x4x8x16xf32>, %k: tensor<1x4x8x16xf16>) {
  // expected-error@+1 {{'amp.attention' op expected query, key and value of one element type}}
  %0 = amp.attention %q, %k, %k {scale = 1.0 : f64, causal = false} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_mask(%q: tensor<1x4x8x16xf32>, %m: tensor<8x7xf32>) {
  // expected-error@+1 {{'amp.attention' op expected a mask that broadcasts to the scores, got 'tensor<8x7xf32>'}}
  %0 = amp.attention %q, %q, %q, %m {scale = 1.0 : f64, causal = false} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<8x7xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_mask_type(%q: tensor<1x4x8x16xf32>, %m: tensor<8x8xi64>) {
  // expected-error@+1 {{'amp.attention' op expected a float or boolean mask, got 'tensor<8x8xi64>'}}
  %0 = amp.attention %q, %q, %q, %m {scale = 1.0 : f64, causal = false} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<8x8xi64>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @pack(%w: tensor<64x40xf32>) {
  // expected-error@+2 {{expected each dimension named once and a positive panel}}
  // expected-error@+1 {{'amp.pack' op failed to infer returned types}}
  %0 = amp.pack %w {dimension = 1 : i64, panel = 16 : i64, outer = array<i64: 1>, inner = array<i64: 0>} : (tensor<64x40xf32>) -> tensor<3x64x16xf32>
  return
}

// -----

func.func @unpack(%w: tensor<3x64x16xf32>) {
  // expected-error@+1 {{'amp.unpack' op input 'tensor<3x64x16xf32>' is not the packed form of 'tensor<64x50xf32>'}}
  %0 = amp.unpack %w {dimension = 1 : i64, panel = 16 : i64, outer = array<i64>, inner = array<i64: 0>} : (tensor<3x64x16xf32>) -> tensor<64x50xf32>
  return
}
