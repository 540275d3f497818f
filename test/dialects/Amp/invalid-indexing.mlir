// RUN: ampc-opt %s --split-input-file --verify-diagnostics

/// What gathers, windows, scatters, reductions and normalizations reject.

func.func @gather_axis(%a: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error@+2 {{axis -1 is not a dimension of 'tensor<4xf32>'}}
  // expected-error@+1 {{'amp.gather' op failed to infer returned types}}
  %0 = amp.gather %a, %i {axis = -1 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_empty(%a: tensor<0xf32>, %i: tensor<2xi64>) {
  // expected-error@+2 {{cannot gather from an empty axis of 'tensor<0xf32>'}}
  // expected-error@+1 {{'amp.gather' op failed to infer returned types}}
  %0 = amp.gather %a, %i {axis = 0 : i64} : (tensor<0xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_float_indices(%a: tensor<4xf32>) {
  // expected-error@+1 {{'amp.gather' op operand #1 must be statically shaped tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xf32>'}}
  %0 = amp.gather %a, %a {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_elements(%a: tensor<4x2xf32>, %i: tensor<3x3xi64>) {
  // expected-error@+2 {{indices 'tensor<3x3xi64>' do not fit 'tensor<4x2xf32>'}}
  // expected-error@+1 {{'amp.gather_elements' op failed to infer returned types}}
  %0 = amp.gather_elements %a, %i {axis = 0 : i64} : (tensor<4x2xf32>, tensor<3x3xi64>) -> tensor<3x3xf32>
  return
}

// -----

func.func @gather_nd_batch(%a: tensor<4x2xf32>, %i: tensor<4xi64>) {
  // expected-error@+2 {{batch_dims 1 does not fit 'tensor<4x2xf32>' and 'tensor<4xi64>'}}
  // expected-error@+1 {{'amp.gather_nd' op failed to infer returned types}}
  %0 = amp.gather_nd %a, %i {batch_dims = 1 : i64} : (tensor<4x2xf32>, tensor<4xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_nd_tuple(%a: tensor<4x2xf32>, %i: tensor<5x3xi64>) {
  // expected-error@+2 {{indices 'tensor<5x3xi64>' do not fit 'tensor<4x2xf32>'}}
  // expected-error@+1 {{'amp.gather_nd' op failed to infer returned types}}
  %0 = amp.gather_nd %a, %i {batch_dims = 0 : i64} : (tensor<4x2xf32>, tensor<5x3xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @gather_nd_empty(%a: tensor<0x2xf32>, %i: tensor<5x1xi64>) {
  // expected-error@+2 {{cannot gather from empty 'tensor<0x2xf32>'}}
  // expected-error@+1 {{'amp.gather_nd' op failed to infer returned types}}
  %0 = amp.gather_nd %a, %i {batch_dims = 0 : i64} : (tensor<0x2xf32>, tensor<5x1xi64>) -> tensor<5x2xf32>
  return
}

// -----

func.func @pool_attributes(%a: tensor<1x3x8x8xf32>) {
  // expected-error@+2 {{window attributes do not fit 'tensor<1x3x8x8xf32>'}}
  // expected-error@+1 {{'amp.max_pool' op failed to infer returned types}}
  %0 = amp.max_pool %a {kernel = array<i64: 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  return
}

// -----

func.func @pool_range(%a: tensor<1x3x8xf32>) {
  // expected-error@+2 {{window attributes of spatial dimension 0 are out of range}}
  // expected-error@+1 {{'amp.avg_pool' op failed to infer returned types}}
  %0 = amp.avg_pool %a {kernel = array<i64: 2>, strides = array<i64: 0>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x3x8xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

func.func @pool_span(%a: tensor<1x3x8xf32>) {
  // expected-error@+2 {{window spans 9 elements of spatial dimension 0, which has 8 with padding}}
  // expected-error@+1 {{'amp.avg_pool' op failed to infer returned types}}
  %0 = amp.avg_pool %a {kernel = array<i64: 5>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 2>} : (tensor<1x3x8xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

func.func @resize_scales(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'amp.resize' op expected a result, scales and region of the rank of 'tensor<2x4xf32>'}}
  %0 = amp.resize %a {scales = array<f64: 1.0>, mode = #amp.resize_mode<nearest>, coordinate_mode = #amp.coordinate_mode<asymmetric>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @resize_type(%a: tensor<2x4xf16>) {
  // expected-error@+1 {{'amp.resize' op expected the element type of 'tensor<2x4xf16>', got 'tensor<2x8xf32>'}}
  %0 = amp.resize %a {scales = array<f64: 1.0, 2.0>, mode = #amp.resize_mode<nearest>, coordinate_mode = #amp.coordinate_mode<asymmetric>} : (tensor<2x4xf16>) -> tensor<2x8xf32>
  return
}

// -----

func.func @resize_negative(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'amp.resize' op expected positive scales, got -2.000000e+00}}
  %0 = amp.resize %a {scales = array<f64: 1.0, -2.0>, mode = #amp.resize_mode<nearest>, coordinate_mode = #amp.coordinate_mode<asymmetric>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @resize_empty(%a: tensor<2x0xf32>) {
  // expected-error@+1 {{'amp.resize' op cannot resize an empty dimension of 'tensor<2x0xf32>'}}
  %0 = amp.resize %a {scales = array<f64: 1.0, 2.0>, mode = #amp.resize_mode<nearest>, coordinate_mode = #amp.coordinate_mode<asymmetric>} : (tensor<2x0xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @scatter_elements(%a: tensor<4x8xf32>, %i: tensor<2x8xi64>, %u: tensor<2x7xf32>) {
  // expected-error@+2 {{indices 'tensor<2x8xi64>' and updates 'tensor<2x7xf32>' do not fit 'tensor<4x8xf32>'}}
  // expected-error@+1 {{'amp.scatter_elements' op failed to infer returned types}}
  %0 = amp.scatter_elements %a, %i, %u {axis = 0 : i64, reduction = #amp.scatter_reduction<none>} : (tensor<4x8xf32>, tensor<2x8xi64>, tensor<2x7xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scatter_axis(%a: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error@+2 {{axis 2 is not a dimension of 'tensor<4xf32>'}}
  // expected-error@+1 {{'amp.scatter_elements' op failed to infer returned types}}
  %0 = amp.scatter_elements %a, %i, %u {axis = 2 : i64, reduction = #amp.scatter_reduction<none>} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scatter_nd_indices(%a: tensor<4xf32>, %i: tensor<2x2xi64>, %u: tensor<2xf32>) {
  // expected-error@+2 {{indices 'tensor<2x2xi64>' do not fit 'tensor<4xf32>'}}
  // expected-error@+1 {{'amp.scatter_nd' op failed to infer returned types}}
  %0 = amp.scatter_nd %a, %i, %u {reduction = #amp.scatter_reduction<none>} : (tensor<4xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scatter_nd_updates(%a: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<3xf32>) {
  // expected-error@+2 {{updates 'tensor<3xf32>' do not fit 'tensor<4xf32>' at 'tensor<2x1xi64>'}}
  // expected-error@+1 {{'amp.scatter_nd' op failed to infer returned types}}
  %0 = amp.scatter_nd %a, %i, %u {reduction = #amp.scatter_reduction<none>} : (tensor<4xf32>, tensor<2x1xi64>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @cumsum_axis(%a: tensor<4xf32>) {
  // expected-error@+1 {{'amp.cumsum' op axis 1 is not a dimension of 'tensor<4xf32>'}}
  %0 = amp.cumsum %a {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @top_k(%a: tensor<4xf32>) {
  // expected-error@+2 {{cannot take 5 elements of axis 0 of 'tensor<4xf32>'}}
  // expected-error@+1 {{'amp.top_k' op failed to infer returned types}}
  %0:2 = amp.top_k %a {k = 5 : i64, axis = 0 : i64, largest = true} : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  return
}

// -----

func.func @arg_max_axis(%a: tensor<4xf32>) {
  // expected-error@+2 {{axis 1 is not a dimension of 'tensor<4xf32>'}}
  // expected-error@+1 {{'amp.arg_max' op failed to infer returned types}}
  %0 = amp.arg_max %a {axis = 1 : i64, keepdims = false, select_last = false} : (tensor<4xf32>) -> tensor<4xi64>
  return
}

// -----

func.func @reduce_axes(%a: tensor<4x8xf32>) {
  // expected-error@+2 {{expected sorted axes of 'tensor<4x8xf32>'}}
  // expected-error@+1 {{'amp.reduce_sum' op failed to infer returned types}}
  %0 = amp.reduce_sum %a {axes = array<i64: 1, 0>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @softmax_axis(%a: tensor<4xf32>) {
  // expected-error@+1 {{'amp.softmax' op axis -1 is not a dimension of 'tensor<4xf32>'}}
  %0 = amp.softmax %a {axis = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @log_softmax_axis(%a: tensor<4xf32>) {
  // expected-error@+1 {{'amp.log_softmax' op axis 1 is not a dimension of 'tensor<4xf32>'}}
  %0 = amp.log_softmax %a {axis = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @layer_norm_axis(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{'amp.layer_norm' op axis 2 is not a dimension of 'tensor<4x8xf32>'}}
  %0 = amp.layer_norm %a {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_scale(%a: tensor<4x8xf32>, %g: tensor<4x8xf32>) {
  // expected-error@+1 {{'amp.layer_norm' op expected a scale that broadcasts to the dimensions from 1 of 'tensor<4x8xf32>', got 'tensor<4x8xf32>'}}
  %0 = amp.layer_norm %a scale %g {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_bias(%a: tensor<4x8xf32>, %g: tensor<7xf32>) {
  // expected-error@+1 {{'amp.layer_norm' op expected a bias that broadcasts to the dimensions from 1 of 'tensor<4x8xf32>', got 'tensor<7xf32>'}}
  %0 = amp.layer_norm %a bias %g {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<7xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @rms_norm_scale(%a: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'amp.rms_norm' op expected a scale that broadcasts to the dimensions from 1 of 'tensor<4x8xf32>', got 'tensor<4xf32>'}}
  %0 = amp.rms_norm %a, %g {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @group_norm_rank(%a: tensor<8xf32>) {
  // expected-error@+1 {{'amp.group_norm' op expected an input of rank 2 or more, got 'tensor<8xf32>'}}
  %0 = amp.group_norm %a {groups = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @group_norm_groups(%a: tensor<1x8x4xf32>) {
  // expected-error@+1 {{'amp.group_norm' op cannot split 8 channels into 3 groups}}
  %0 = amp.group_norm %a {groups = 3 : i64, epsilon = 1.0e-5 : f64} : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return
}

// -----

func.func @batch_norm_channels(%a: tensor<1x4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'amp.batch_norm' op expected parameters of 8 channels, got 'tensor<4xf32>'}}
  %0 = amp.batch_norm %a, %g, %g, %g, %g {epsilon = 1.0e-5 : f64, layout = #amp.layout<channels_last>} : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  return
}
