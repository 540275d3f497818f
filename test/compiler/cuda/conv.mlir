// RUN: ampc %s --compile-from=graph --cuda-arch=sm_80 --amp=off --emit=ptx | FileCheck %s

/// The weight lies channels last: both operands are copied 16 bytes at a time,
/// zeros in the padding.
// CHECK-LABEL: .visible .entry k_conv_8x14x14x64_64x64x3x3_f16_
// CHECK-NOT: ld.global
// CHECK: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16, %r{{[0-9]+}};
// CHECK-NOT: ld.global
// CHECK: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16;
// CHECK-NOT: cp.async.ca
// CHECK-NOT: trans
// CHECK: mma.sync
func.func @main(%x: tensor<8x14x14x64xf16> {amp.name = "x"}) -> (tensor<8x14x14x64xf16> {amp.name = "y"}) {
  %w = amp.constant dense_resource<w> : tensor<64x64x3x3xf16>
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>}
     : (tensor<8x14x14x64xf16>, tensor<64x64x3x3xf16>) -> tensor<8x14x14x64xf16>
  return %0 : tensor<8x14x14x64xf16>
}
