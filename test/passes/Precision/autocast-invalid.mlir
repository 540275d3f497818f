// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/encodr/*:fp32 2>&1 | FileCheck %s --check-prefix=NODE
// RUN: not ampc-opt %s --precision-autocast=op-precisions=Sofmax:fp32 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/encoder/MatMul 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=/encoder/MatMul:int8 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not ampc-opt %s --precision-autocast=layer-precisions=[:fp32 2>&1 | FileCheck %s --check-prefix=GLOB
// RUN: not ampc-opt %s --precision-autocast=report=%t.folder/none/report.json 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not ampc-opt %s --precision-autocast=type=f8 2>&1 | FileCheck %s --check-prefix=OPTION

// NODE: error: no node matches '/encodr/*' of layer-precisions; nearest: '/encoder/Exp', '/encoder/MatMul', '/head/Softmax'{{$}}
// OP: error: no operator is 'Sofmax' of op-precisions; nearest: 'softmax', 'matmul', 'exp'{{$}}
// FORM: error: expected NAME:TYPE in layer-precisions, got '/encoder/MatMul'{{$}}
// TYPE: error: expected one of fp32, fp16 and bf16 in layer-precisions, got 'int8' in '/encoder/MatMul:int8'{{$}}
// GLOB: error: cannot read the pattern '[' of layer-precisions: invalid glob pattern, unmatched '['{{$}}
// FILE: error: cannot open output file '{{.*}}report.json': No such file or directory{{$}}
// OPTION: Cannot find option named 'f8'!

func.func @negative_overrides(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("/encoder/MatMul")
  %b = amp.exp %a : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/encoder/Exp")
  %c = amp.softmax %b {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/head/Softmax")
  return %c : tensor<2x2xf32>
}
