// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// One rounding to nearest even straight from the source format.

// 1 + 2^-8 lies between two bf16 numbers and ties to the even one; a little
// more goes up, although in f32 both would be the same.
// CHECK:@f64_to_bf16_once#0: tensor<2xbf16> = [1, 1.0078]
func.func @f64_to_bf16_once() -> tensor<2xbf16> {
  %a = amp.constant dense<[1.00390625, 1.00390625000001]> : tensor<2xf64>
  %y = amp.cast %a : (tensor<2xf64>) -> tensor<2xbf16>
  return %y : tensor<2xbf16>
}

// CHECK:@f64_to_f16_once#0: tensor<2xf16> = [1, 1.001]
func.func @f64_to_f16_once() -> tensor<2xf16> {
  %a = amp.constant dense<[1.00048828125, 1.0004882812500002]> : tensor<2xf64>
  %y = amp.cast %a : (tensor<2xf64>) -> tensor<2xf16>
  return %y : tensor<2xf16>
}

// 2^54 + 2^30 + 1 is just above a tie of f32, which an f64 does not hold.
// CHECK:@i64_to_f32_once#0: tensor<2xf32> = [1.80144007e+16, -1.80144007e+16]
// CHECK:@i64_to_f32_once#1: tensor<2xf64> = [18014399583223808, -18014399583223808]
func.func @i64_to_f32_once() -> (tensor<2xf32>, tensor<2xf64>) {
  %a = amp.constant dense<[18014399583223809, -18014399583223809]> : tensor<2xi64>
  %0 = amp.cast %a : (tensor<2xi64>) -> tensor<2xf32>
  %1 = amp.cast %a : (tensor<2xi64>) -> tensor<2xf64>
  return %0, %1 : tensor<2xf32>, tensor<2xf64>
}

// CHECK:@f16_range#0: tensor<6xf16> = [65504, inf, -inf, 5.9605e-08, 0, nan]
// CHECK:@f16_range#1: tensor<6xf16> = [65504, 65504, -65504, 5.9605e-08, 0, nan]
func.func @f16_range() -> (tensor<6xf16>, tensor<6xf16>) {
  %a = amp.constant dense<[65519.0, 65520.0, -1.0e6, 5.9604645e-8, 2.9802322e-8, 0x7fc00000]> : tensor<6xf32>
  %0 = amp.cast %a : (tensor<6xf32>) -> tensor<6xf16>
  %1 = amp.cast %a {saturate} : (tensor<6xf32>) -> tensor<6xf16>
  return %0, %1 : tensor<6xf16>, tensor<6xf16>
}

// Bounded to i32 for the narrow types, to i64 or 2^64 - 1 for the others, then
// wrapped; NaN is 0.
// CHECK:@float_to_integer#0: tensor<5xi32> = [2, -2, 300, 0, 2147483647]
// CHECK:@float_to_integer#1: tensor<5xi8> = [2, -2, 44, 0, -1]
// CHECK:@float_to_integer#2: tensor<5xui64> = [10000000000000000000, 18446744073709551615, 0, 18446744073709551615, 9223372036854775808]
// CHECK:@float_to_integer#3: tensor<5xui32> = [4294967295, 4294967295, 0, 4294967295, 0]
func.func @float_to_integer() -> (tensor<5xi32>, tensor<5xi8>, tensor<5xui64>, tensor<5xui32>) {
  %a = amp.constant dense<[2.9, -2.9, 300.0, 0x7fc00000, 1.0e30]> : tensor<5xf32>
  %0 = amp.cast %a : (tensor<5xf32>) -> tensor<5xi32>
  %1 = amp.cast %a : (tensor<5xf32>) -> tensor<5xi8>
  %b = amp.constant dense<[1.0e19, -1.0, 0.9, 1.0e20, -1.0e20]> : tensor<5xf64>
  %2 = amp.cast %b : (tensor<5xf64>) -> tensor<5xui64>
  %3 = amp.cast %b : (tensor<5xf64>) -> tensor<5xui32>
  return %0, %1, %2, %3 : tensor<5xi32>, tensor<5xi8>, tensor<5xui64>, tensor<5xui32>
}

// CHECK:@integers#0: tensor<3xi8> = [44, -1, 0]
// CHECK:@integers#1: tensor<3xi64> = [4294967295, 1, 0]
// CHECK:@integers#2: tensor<3xi1> = [true, true, false]
func.func @integers() -> (tensor<3xi8>, tensor<3xi64>, tensor<3xi1>) {
  %a = amp.constant dense<[300, -1, 0]> : tensor<3xi32>
  %0 = amp.cast %a : (tensor<3xi32>) -> tensor<3xi8>
  %b = amp.constant dense<[4294967295, 1, 0]> : tensor<3xui32>
  %1 = amp.cast %b : (tensor<3xui32>) -> tensor<3xi64>
  %2 = amp.cast %a : (tensor<3xi32>) -> tensor<3xi1>
  return %0, %1, %2 : tensor<3xi8>, tensor<3xi64>, tensor<3xi1>
}

// CHECK:@booleans#0: tensor<4xi1> = [false, false, true, true]
// CHECK:@booleans#1: tensor<4xf16> = [0, 0, 1, 1]
func.func @booleans() -> (tensor<4xi1>, tensor<4xf16>) {
  %a = amp.constant dense<[0.0, -0.0, 0.1, 0x7fc00000]> : tensor<4xf32>
  %0 = amp.cast %a : (tensor<4xf32>) -> tensor<4xi1>
  %1 = amp.cast %0 : (tensor<4xi1>) -> tensor<4xf16>
  return %0, %1 : tensor<4xi1>, tensor<4xf16>
}

// CHECK:@bf16_widens_exactly#0: tensor<3xf32> = [9.18354962e-41, inf, -1]
func.func @bf16_widens_exactly() -> tensor<3xf32> {
  %a = amp.constant dense<[0x0001, 0x7f80, 0xbf80]> : tensor<3xbf16>
  %y = amp.cast %a : (tensor<3xbf16>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
