// What cannot be evaluated is named, and nothing is printed for it.
// RUN: split-file %s %t
// RUN: not ampc-eval %t/op.mlir 2>&1 | FileCheck %s --check-prefix=OP --implicit-check-not="@main#0"
// RUN: not ampc-eval --byte-budget=1000 %t/budget.mlir 2>&1 | FileCheck %s --check-prefix=BUDGET --implicit-check-not="@main#0"
// RUN: ampc-eval --byte-budget=1200 %t/budget.mlir
// RUN: not ampc-eval %t/resource.mlir 2>&1 | FileCheck %s --check-prefix=RESOURCE
// RUN: not ampc-eval %t/huge.mlir 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not ampc-eval %t/cycle.mlir 2>&1 | FileCheck %s --check-prefix=CYCLE

//--- op.mlir
// OP: op.mlir{{.*}}: error: 'arith.negf' op cannot be evaluated: it has no reference
func.func @main() -> tensor<4xf32> {
  %a = amp.constant dense<1.0> : tensor<4xf32>
  %y = arith.negf %a : tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- budget.mlir
// Each sum takes 400 bytes; two live at a time, three while the last is made.
// BUDGET: error: 'amp.add' op evaluation needs more than 1000 bytes
func.func @main() -> tensor<100xi32> {
  %a = amp.iota {dimension = 0 : i64} : () -> tensor<100xi32>
  %b = amp.add %a, %a : (tensor<100xi32>, tensor<100xi32>) -> tensor<100xi32>
  %c = amp.add %b, %a : (tensor<100xi32>, tensor<100xi32>) -> tensor<100xi32>
  %d = amp.add %c, %c : (tensor<100xi32>, tensor<100xi32>) -> tensor<100xi32>
  %e = amp.add %d, %d : (tensor<100xi32>, tensor<100xi32>) -> tensor<100xi32>
  return %e : tensor<100xi32>
}

//--- resource.mlir
// RESOURCE: error: 'amp.constant' op has no data: the resource is missing, or its size does not fit its type
func.func @main() -> tensor<4xf32> {
  %a = amp.constant dense_resource<short> : tensor<4xf32>
  return %a : tensor<4xf32>
}
{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F"
    }
  }
#-}

//--- huge.mlir
// HUGE: error: 'amp.concat' op cannot evaluate a result of type 'tensor<4611686018427387904x3xi8>'
func.func @main() -> tensor<4611686018427387904x3xi8> {
  %a = amp.constant dense<1> : tensor<2305843009213693952x3xi8>
  %y = amp.concat %a, %a {axis = 0 : i64} : (tensor<2305843009213693952x3xi8>, tensor<2305843009213693952x3xi8>) -> tensor<4611686018427387904x3xi8>
  return %y : tensor<4611686018427387904x3xi8>
}

//--- cycle.mlir
// CYCLE: error: 'amp.weight' op cannot evaluate: nested too deeply
amp.weight @w : tensor<1xf32> {
  %0 = amp.get_weight @w : tensor<1xf32>
  amp.yield %0 : tensor<1xf32>
}
func.func @main() -> tensor<1xf32> {
  %0 = amp.get_weight @w : tensor<1xf32>
  return %0 : tensor<1xf32>
}
