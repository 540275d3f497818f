// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/encodr/*:fp32 2>&1 | FileCheck %s --check-prefix=NODE
// RUN: not ampc-opt %s --precision-autocast=op-precisions=Sofmax:fp32 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/encoder/MatMul 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/encoder/MatMul:int8 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=[:fp32 2>&1 | FileCheck %s --check-prefix=GLOB
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/encoder/MatMul:fp64 2>&1 | FileCheck %s --check-prefix=FP64
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/encoder/*:fp32,/encoder/*:bf16 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not ampc-opt %s --precision-autocast=op-precisions=MatMul:fp32,matmul:bf16 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/encoder/*:fp32,*MatMul:bf16 2>&1 | FileCheck %s --check-prefix=GLOBS
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/a:fp32,/b:bf16 2>&1 | FileCheck %s --check-prefix=FUSED
// RUN: not ampc-opt %s --precision-autocast=op-precisions=local::unit:fp32,local::other:bf16 2>&1 | FileCheck %s --check-prefix=UNITS
// RUN: not ampc-opt %s --precision-autocast=op-precisions=unt:fp32 2>&1 | FileCheck %s --check-prefix=NOUNIT
// RUN: not ampc-opt %s --precision-autocast=report=%t.folder/none/report.json 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not ampc-opt %s --precision-autocast=type=f8 2>&1 | FileCheck %s --check-prefix=OPTION

// NODE: error: no node matches '/encodr/*' of layer-precisions; nearest: '/encoder/Exp', '/encoder/MatMul', '/a'{{$}}
// OP: error: no operator or function is 'Sofmax' of op-precisions; nearest: 'softmax', 'matmul', 'Add'{{$}}
// FORM: error: expected NAME:TYPE in layer-precisions, got '/encoder/MatMul'{{$}}
// TYPE: error: expected one of fp32, tf32, fp16 and bf16 in layer-precisions, got 'int8' in '/encoder/MatMul:int8'{{$}}
// GLOB: error: cannot read the pattern '[' of layer-precisions: invalid glob pattern, unmatched '['{{$}}
// FP64: error: cannot choose fp64 in layer-precisions, as '/encoder/MatMul:fp64' asks: a tensor is f64 where the model declares it, and nowhere else{{$}}
// TWICE: error: contradictory rules in layer-precisions: '/encoder/*:fp32' and '/encoder/*:bf16'{{$}}
// SAME: error: contradictory rules in op-precisions: 'MatMul:fp32' and 'matmul:bf16'{{$}}
// GLOBS: error: loc("/encoder/MatMul"): '/encoder/*:fp32' and '*MatMul:bf16' of layer-precisions both match this node{{$}}
// GLOBS: hint: name the node without wildcards, narrow one of the patterns, or move the general one into a policy file{{$}}
// FUSED: error: loc({{.*}}): '/a:fp32' and '/b:bf16' of layer-precisions both match this node{{$}}
// UNITS: error: loc({{.*}}): 'local::unit:fp32' and 'local::other:bf16' of op-precisions both match this node{{$}}
// UNITS: hint: name the node in layer-precisions, which goes before operators{{$}}
// NOUNIT: error: no operator or function is 'unt' of op-precisions; nearest:
// FILE: error: cannot open output file '{{.*}}report.json': No such file or directory{{$}}
// OPTION: Cannot find option named 'f8'!

func.func @negative_overrides(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("/encoder/MatMul")
  %b = amp.exp %a : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/encoder/Exp")
  %c = amp.softmax %b {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/head/Softmax")
  %d = amp.add %c, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc(fused["/a"("1"("Add"("u"("0"("local::unit"))))), "/b"("2"("Add"("o"("0"("local::other")))))])
  return %d : tensor<2x2xf32>
}
