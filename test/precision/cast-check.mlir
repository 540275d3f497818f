// RUN: split-file %s %t
// RUN: not ampc-cast-check %t/found.mlir | FileCheck %s --check-prefix=FOUND
// RUN: ampc-cast-check %t/needed.mlir | FileCheck %s --check-prefix=NEEDED
// RUN: ampc-cast-check %t/typed.mlir --amp=bf16 | FileCheck %s --check-prefix=TYPED

/// What the tool that the tests use must find, once each, ...
//--- found.mlir
// FOUND-DAG: unread: tensor<4xf32> -> tensor<4xf16>
// FOUND-DAG: exact: tensor<4xf16> -> tensor<4xf32>
// FOUND-DAG: exact: tensor<2xf16> -> tensor<2xf32>
// FOUND-DAG: pair: tensor<3xf32> -> tensor<3xbf16>
// FOUND-DAG: duplicate: tensor<5xf32> -> tensor<5xf16>
// FOUND: 9 casts, 5 not needed
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf16>, %c: tensor<3xbf16>, %d: tensor<5xf32>, %e: tensor<2xf16>)
    -> (tensor<4xi1>, tensor<3xbf16>, tensor<3xf32>, tensor<5xf16>, tensor<5xf16>, tensor<2xf64>) {
  %unread = amp.cast %a : (tensor<4xf32>) -> tensor<4xf16>
  %wide = amp.cast %b : (tensor<4xf16>) -> tensor<4xf32>
  %nan = amp.is_nan %wide : (tensor<4xf32>) -> tensor<4xi1>
  %up = amp.cast %c : (tensor<3xbf16>) -> tensor<3xf32>
  %exp = amp.exp %up : (tensor<3xf32>) -> tensor<3xf32>
  %down = amp.cast %up : (tensor<3xf32>) -> tensor<3xbf16>
  %first = amp.cast %d : (tensor<5xf32>) -> tensor<5xf16>
  %second = amp.cast %d : (tensor<5xf32>) -> tensor<5xf16>
  %single = amp.cast %e : (tensor<2xf16>) -> tensor<2xf32>
  %double = amp.cast %single : (tensor<2xf32>) -> tensor<2xf64>
  %saturated = amp.cast %d {saturate} : (tensor<5xf32>) -> tensor<5xf16>
  %sum = amp.add %second, %saturated : (tensor<5xf16>, tensor<5xf16>) -> tensor<5xf16>
  return %nan, %down, %exp, %first, %sum, %double : tensor<4xi1>, tensor<3xbf16>, tensor<3xf32>, tensor<5xf16>, tensor<5xf16>, tensor<2xf64>
}

/// ... and what it must not: roundings, and types that a reader or the signature
/// needs.
//--- needed.mlir
// NEEDED: 4 casts, 0 not needed
func.func @main(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %n = amp.cast %a : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  %p = amp.matmul %n, %n : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %w = amp.cast %p : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  %s = amp.add %w, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = amp.cast %s : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %x = amp.cast %r : (tensor<4x4xf16>) -> tensor<4x4xf32>
  return %s, %x : tensor<4x4xf32>, tensor<4x4xf32>
}

//--- typed.mlir
// TYPED: 4 casts, 0 not needed
func.func @main(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %p = amp.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = amp.exp %p : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = amp.matmul %e, %p : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e, %q : tensor<4x4xf32>, tensor<4x4xf32>
}
