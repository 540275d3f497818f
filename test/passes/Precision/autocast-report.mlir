// RUN: ampc-opt %s --precision-autocast='type=f16 report=%t.json' -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: ampc-opt %s --precision-autocast='type=f16 report=-' -o /dev/null | FileCheck %s --check-prefix=TABLE --strict-whitespace --match-full-lines
// RUN: ampc-opt %s --precision-autocast=type=f16 --remarks-filter='precision-.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

func.func @main(%x: tensor<2x4xf32> loc("input"("/input"))) -> tensor<2x2xf32> {
  %w = amp.constant dense<[[1.0, 2.0], [1.0e-9, 1.0e-6], [0.0, 3.0], [4.0, 5.0]]> : tensor<4x2xf32> loc("weight")
  %y = amp.matmul %x, %w : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32> loc("/MatMul"("/0"("MatMul")))
  %r = amp.relu %y : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/Relu")
  %e = amp.constant dense<1.0e-8> : tensor<f32> loc("eps")
  %a = amp.add %r, %e : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("/Add")
  %c = amp.cast %a {from_model} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/Cast")
  return %c : tensor<2x2xf32>
}

/// A cast names the value, what reads it and why; constants say what they lose.
// JSON: "casts": [
// JSON: "bytes": 16,
// JSON-NEXT: "constant": false,
// JSON-NEXT: "elements": 8,
// JSON-NEXT: "from": "f32",
// JSON-NEXT: "reason": "runs in the 16-bit type",
// JSON-NEXT: "to": "f16",
// JSON-NEXT: "uses": [
// JSON-NEXT: {
// JSON-NEXT: "nodes": [
// JSON-NEXT: "/MatMul"
// JSON-NEXT: ],
// JSON-NEXT: "op": "matmul",
// JSON-NEXT: "operand": 0,
// JSON-NEXT: "paths": [
// JSON-NEXT: "/0"
// JSON: "value": [
// JSON-NEXT: "input"
// JSON-NEXT: ],
// JSON-NEXT: "value_paths": [
// JSON-NEXT: "/input"
// JSON: "constants": [
// JSON-NEXT: {
// JSON-NEXT: "elements": 8,
// JSON-NEXT: "flushed": 1,
// JSON-NEXT: "overflow": 0,
// JSON-NEXT: "subnormal": 1,
// JSON-NEXT: "to": "f16",
// JSON-NEXT: "value": [
// JSON-NEXT: "weight"
// JSON: "ops": [
// JSON-NEXT: {
// JSON-NEXT: "class": "lower",
// JSON-NEXT: "function": "main",
// JSON-NEXT: "nodes": [
// JSON-NEXT: "/MatMul"
// JSON-NEXT: ],
// JSON-NEXT: "op": "matmul",
// JSON-NEXT: "operands": [
// JSON-NEXT: "f16",
// JSON-NEXT: "f16"
// JSON-NEXT: ],
// JSON-NEXT: "paths": [
// JSON-NEXT: "/0"
// JSON-NEXT: ],
// JSON-NEXT: "reason": "runs in the 16-bit type",
// JSON-NEXT: "result": "f16",
// JSON-NEXT: "rule": "lower",
// JSON-NEXT: "type": "f16"
// JSON: "totals": {
// JSON-NEXT: "activation_bytes": 32,
// JSON-NEXT: "cast_bytes": 48,
// JSON-NEXT: "casts": 3,
// JSON-NEXT: "constant_casts": 1,
// JSON-NEXT: "ops": {
// JSON-NEXT: "f16": 2,
// JSON-NEXT: "f32": 2
// JSON-NEXT: },
// JSON-NEXT: "saved_bytes": 16,
// JSON-NEXT: "saved_constant_bytes": 16

// TABLE:node     op      type  rule      reason
// TABLE-NEXT:/MatMul  matmul  f16   lower     runs in the 16-bit type
// TABLE-NEXT:/Relu    relu    f16   follow    follows an operand of f16
// TABLE-NEXT:/Add     add     f32   constant  a constant is too small for f16
// TABLE-NEXT:/Cast    cast    f32   pinned    keeps the types that the model gives it
// TABLE-NEXT:constant weight in f16: of 8 elements 0 saturate, 1 become subnormal, 1 become zero
// TABLE-NEXT:operations: 2 in f16, 2 in f32
// TABLE-NEXT:casts: 3 at run time writing 48 bytes, 1 of constants
// TABLE-NEXT:activations: 32 bytes, 16 less than in f32
// TABLE-NEXT:constants: 16 bytes less than in f32

// REMARK: loc("/MatMul"("/0"("MatMul"))): [Passed] lower | Category:precision-autocast | Remark=matmul, Remark=" in ", Remark=f16
// REMARK: loc("/Relu"): [Passed] follow | {{.*}}"follows an operand of f16"
// REMARK: loc("/Add"): [Passed] constant | {{.*}}Remark=f32, {{.*}}"a constant is too small for f16"
