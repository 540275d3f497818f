// RUN: ampc-opt %s --memory-build-program --split-input-file | FileCheck %s

/// Intermediate values share bytes once nobody reads them: %1 lies where %0
/// is still read, %2 where it no longer is. Each offset is a multiple of 64, the
/// arena ends with 64 bytes that a kernel may read in vain.
// CHECK: rt.program @main inputs ["x"] : [tensor<20xf32>] outputs ["y"] : [tensor<20xf32>] arena <320> weights <0> {
// CHECK-NEXT: rt.launch @k [#rt.buffer<input, 0, <0>>, #rt.buffer<arena, 0, <[[A:0|128]]>>] label "first"
// CHECK-NEXT: rt.launch @k [#rt.buffer<arena, 0, <[[A]]>>, #rt.buffer<arena, 0, <[[B:0|128]]>>] label "second"
// CHECK-NEXT: rt.launch @k [#rt.buffer<arena, 0, <[[B]]>>, #rt.buffer<arena, 0, <[[A]]>>] label ""
// CHECK-NEXT: rt.launch @k [#rt.buffer<arena, 0, <[[A]]>>, #rt.buffer<output, 0, <0>>] label "last + relu"
// CHECK-NOT: func.func
func.func @main(%x: tensor<20xf32> {amp.name = "x"}) -> (tensor<20xf32> {amp.name = "y"}) {
  %0 = amp.launch @k(%x) : (tensor<20xf32>) -> tensor<20xf32> loc("first")
  %1 = amp.launch @k(%0) : (tensor<20xf32>) -> tensor<20xf32> loc(fused["second", "second"])
  %2 = amp.launch @k(%1) : (tensor<20xf32>) -> tensor<20xf32>
  %3 = amp.launch @k(%2) : (tensor<20xf32>) -> tensor<20xf32> loc(fused["last", fused["relu", "last"]])
  return %3 : tensor<20xf32>
}
amp.kernel private @k(%a: tensor<20xf32>) -> tensor<20xf32> {
  %0 = amp.relu %a : (tensor<20xf32>) -> tensor<20xf32>
  amp.yield %0 : tensor<20xf32>
}

// -----

/// A value lives until its last reader, through reshapes too.
// CHECK: rt.program @main
// CHECK-SAME: arena <256>
// CHECK-NEXT: rt.launch @k [#rt.buffer<input, 0, <0>>, #rt.buffer<arena, 0, <[[A:[0-9]+]]>>]
// CHECK-NEXT: rt.launch @k [#rt.buffer<arena, 0, <[[A]]>>, #rt.buffer<arena, 0, <[[B:[0-9]+]]>>]
// CHECK-NEXT: rt.launch @k [#rt.buffer<arena, 0, <[[B]]>>, #rt.buffer<arena, 0, <[[C:[0-9]+]]>>]
// CHECK-NEXT: rt.launch @add [#rt.buffer<arena, 0, <[[A]]>>, #rt.buffer<arena, 0, <[[C]]>>, #rt.buffer<output, 0, <0>>]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = amp.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
  %w = amp.reshape %v : (tensor<2x2xf32>) -> tensor<4xf32>
  %1 = amp.launch @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.launch @k(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.launch @add(%w, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
amp.kernel private @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
amp.kernel private @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}

// -----

/// Results that are an input, a weight or another result are copied; one that is
/// read on is read where it was returned. Names count up where the model has none.
// CHECK: rt.program @main inputs ["input0"] : [tensor<4xf32>] outputs ["output0", "output1", "output2", "output3", "output4"]
// CHECK-SAME: arena <0> weights <64>
// CHECK-NEXT: rt.launch @k [#rt.buffer<input, 0, <0>>, #rt.buffer<output, 0, <0>>]
// CHECK-NEXT: rt.launch @k [#rt.buffer<output, 0, <0>>, #rt.buffer<output, 4, <0>>]
// CHECK-NEXT: rt.copy <output, 0, <0>> to <output, 1, <0>> <16> label "output"
// CHECK-NEXT: rt.copy <input, 0, <0>> to <output, 2, <0>> <16> label "output"
// CHECK-NEXT: rt.copy <weights, 0, <0>> to <output, 3, <0>> <8> label "output"
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>) {
  %0 = amp.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.launch @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %v = amp.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
  %w = amp.get_weight @w : tensor<4xbf16>
  return %0, %v, %x, %w, %1 : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf32>
}
amp.kernel private @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
// CHECK: amp.weight @w : tensor<4xbf16> attributes {offset = 0 : i64}
amp.weight @w : tensor<4xbf16> {
  %0 = amp.constant dense<1.0> : tensor<4xbf16>
  amp.yield %0 : tensor<4xbf16>
}

// -----

/// Weights lie one behind the other, at multiples of 64; the arena of two results
/// of one launch holds both, even where nobody reads one of them.
// CHECK: rt.program @main
// CHECK-SAME: arena <192> weights <192>
// CHECK-NEXT: rt.launch @two [#rt.buffer<weights, 0, <0>>, #rt.buffer<weights, 0, <128>>, #rt.buffer<arena, 0, <[[A:0|64]]>>, #rt.buffer<arena, 0, <{{0|64}}>>]
// CHECK-NEXT: rt.launch @k [#rt.buffer<arena, 0, <[[A]]>>, #rt.buffer<output, 0, <0>>]
func.func @main() -> tensor<4xf32> {
  %v = amp.get_weight @v : tensor<17xf32>
  %w = amp.get_weight @w : tensor<4xf32>
  %0, %1 = amp.launch @two(%v, %w) : (tensor<17xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = amp.launch @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
amp.kernel private @two(%a: tensor<17xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = amp.relu %b : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.slice %a {starts = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<17xf32>) -> tensor<4xf32>
  amp.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
}
amp.kernel private @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
// CHECK: amp.weight @v : tensor<17xf32> attributes {offset = 0 : i64}
amp.weight @v : tensor<17xf32> {
  %0 = amp.constant dense<1.0> : tensor<17xf32>
  amp.yield %0 : tensor<17xf32>
}
// CHECK: amp.weight @w : tensor<4xf32> attributes {offset = 128 : i64}
amp.weight @w : tensor<4xf32> {
  %0 = amp.constant dense<1.0> : tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}

// -----

/// Nothing is launched or copied for an empty tensor, and its kernel is gone; one
/// that reads an empty tensor runs.
// CHECK: rt.program @main
// CHECK-NEXT: rt.launch @join
// CHECK-NEXT: }
// CHECK-NOT: @no_elements
func.func @main(%x: tensor<0x4xf32>, %y: tensor<2x4xf32>) -> (tensor<0x4xf32>, tensor<0x4xf32>, tensor<2x4xf32>) {
  %0 = amp.launch @no_elements(%x) : (tensor<0x4xf32>) -> tensor<0x4xf32>
  %1 = amp.launch @join(%0, %y) : (tensor<0x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %x, %1 : tensor<0x4xf32>, tensor<0x4xf32>, tensor<2x4xf32>
}
amp.kernel private @no_elements(%a: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = amp.relu %a : (tensor<0x4xf32>) -> tensor<0x4xf32>
  amp.yield %0 : tensor<0x4xf32>
}
amp.kernel private @join(%a: tensor<0x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = amp.concat %a, %b {axis = 0 : i64} : (tensor<0x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  amp.yield %0 : tensor<2x4xf32>
}
