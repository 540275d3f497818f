// RUN: ampc-opt %s --memory-build-program --split-input-file | FileCheck %s

/// A function beside the main one is an entry, with inputs and outputs counted
/// on. Numbers come first in the region of states, an arena is placed as a whole
/// and states inside of it. First values follow the weights that kernels read.
// CHECK: rt.program @main inputs ["x"] : [tensor<4xf32>] outputs ["y"] : [tensor<4xf32>] arena <0> weights <128>
// CHECK-SAME: constant_bytes = 64 : i64, control_bytes = 64 : i64, state_bytes = 320 : i64
// CHECK-NEXT: rt.launch @add [#rt.buffer<input, 0, <0>>, #rt.buffer<state, 0, <192>>, #rt.buffer<output, 0, <0>>]
// CHECK-NEXT: rt.state "w" parameter : tensor<4xf32> at 192 initial 64
// CHECK-NEXT: rt.state "n" control : tensor<i32> at 0{{$}}
// CHECK-NEXT: rt.entry "step" inputs ["z"] : [tensor<4xf32>] outputs ["old"] : [tensor<i32>] {
/// Each element of w is read for the same element of its new value.
// CHECK-NEXT: rt.launch @add [#rt.buffer<state, 0, <192>>, #rt.buffer<input, 1, <0>>, #rt.buffer<state, 0, <192>>]
/// The old value of n is returned: a copy comes before that of the new one.
// CHECK-NEXT: rt.copy <state, 0, <0>> to <output, 1, <0>> <4> label "output"
// CHECK-NEXT: rt.copy <weights, 0, <0>> to <state, 0, <0>> <4> label "state"
// CHECK: amp.kernel private @add(%{{.*}}: tensor<4xf32> {amp.updated}, %{{.*}}: tensor<4xf32>)
train.arena @parameters : tensor<64xf32>
train.state parameter @w : tensor<4xf32> in @parameters at 32 initial dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
train.state control @n : tensor<i32>
func.func @step(%w: tensor<4xf32> {train.state = @w}, %z: tensor<4xf32> {amp.name = "z"}, %n: tensor<i32> {train.state = @n})
    -> (tensor<4xf32> {train.state = @w}, tensor<i32> {amp.name = "old"}, tensor<i32> {train.state = @n}) {
  %0 = amp.launch @add(%w, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.get_weight @one : tensor<i32>
  return %0, %n, %1 : tensor<4xf32>, tensor<i32>, tensor<i32>
}
func.func @main(%x: tensor<4xf32> {amp.name = "x"}, %w: tensor<4xf32> {train.state = @w}) -> (tensor<4xf32> {amp.name = "y"}) {
  %0 = amp.launch @add(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
amp.weight @one : tensor<i32> {
  %0 = amp.constant dense<1> : tensor<i32>
  amp.yield %0 : tensor<i32>
}
amp.kernel private @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}

// -----

/// What reads elements from elsewhere, or is read again later, is copied.
// CHECK: rt.program @main
// CHECK-SAME: arena <[[SIZE:[0-9]+]]>
// CHECK-NEXT: rt.launch @softmax [#rt.buffer<state, 0, <0>>, #rt.buffer<arena, 0, <[[A:[0-9]+]]>>]
// CHECK-NEXT: rt.launch @relu [#rt.buffer<state, 0, <64>>, #rt.buffer<arena, 0, <[[B:[0-9]+]]>>]
// CHECK-NEXT: rt.launch @relu [#rt.buffer<state, 0, <64>>, #rt.buffer<output, 0, <0>>]
/// A later result may overwrite what earlier launches read.
// CHECK-NEXT: rt.launch @relu [#rt.buffer<state, 0, <128>>, #rt.buffer<output, 1, <0>>]
// CHECK-NEXT: rt.launch @relu [#rt.buffer<state, 0, <128>>, #rt.buffer<state, 0, <128>>]
// CHECK-DAG: rt.copy <arena, 0, <[[A]]>> to <state, 0, <0>> <16> label "state"
// CHECK-DAG: rt.copy <arena, 0, <[[B]]>> to <state, 0, <64>> <16> label "state"
// CHECK: amp.kernel private @softmax(%{{[a-z0-9]+}}: tensor<4xf32>) ->
train.state moment @s : tensor<4xf32>
train.state moment @t : tensor<4xf32>
train.state moment @u : tensor<4xf32>
func.func @main(%s: tensor<4xf32> {train.state = @s}, %t: tensor<4xf32> {train.state = @t}, %u: tensor<4xf32> {train.state = @u})
    -> (tensor<4xf32> {train.state = @s}, tensor<4xf32> {train.state = @t}, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {train.state = @u}) {
  %0 = amp.launch @softmax(%s) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.launch @relu(%t) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.launch @relu(%t) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.launch @relu(%u) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = amp.launch @relu(%u) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
amp.kernel private @softmax(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.softmax %a {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
amp.kernel private @relu(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
