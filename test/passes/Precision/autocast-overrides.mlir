// RUN: ampc-opt %s --precision-autocast='layer-precisions=/encoder/exp:bf16,/encoder/*:fp32,main/7:fp32,call:fp32,*/deep:f16 base-layer-precisions=/encoder/*:f16,based:fp32 base-op-precisions=exp:f16 op-precisions=Elu:fp32,softmax:f16,LayerNormalization:fp32,Gemm:fp32,MatMul:bf16,local::unit:fp32,inner:f16,com.microsoft::Gelu:f16' | FileCheck %s

/// A rule by name goes before one by operator, a name that is written out before
/// a glob, and any of the names of a fused operation counts.
// CHECK-LABEL: func.func @overrides
func.func @overrides(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.exp {{.*}} -> tensor<2x2xbf16>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: amp.composite "Elu" {{.*}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: amp.softmax {{.*}} -> tensor<2x2xf16>
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("/encoder/MatMul")
  %b = amp.exp %a : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/encoder/exp")
  %c = amp.matmul %b, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc(fused["/head/a", "/encoder/b"])
  %d = amp.matmul %c, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("/head/onnx::MatMul_12")
  %e = amp.composite "Elu" follow(%d) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%i: tensor<2x2xf32>):
    amp.yield %i : tensor<2x2xf32>
  } loc("/head/elu")
  %f = amp.softmax %e {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/head/softmax")
  return %f : tensor<2x2xf32>
}

/// An operator goes by the name that ONNX or this compiler gives it, and by
/// that of its node.
// CHECK-LABEL: func.func @operators
func.func @operators(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: amp.layer_norm {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("a"("/0"("MatMul")))
  %b = amp.layer_norm %a {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = amp.matmul %b, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("c"("/2"("Gemm")))
  return %c : tensor<2x2xf32>
}

/// With every operation in f32, 91000 between two of them stays finite.
// CHECK-LABEL: func.func @no_cast_where_all_is_fp32
// CHECK-NOT: amp.cast
// CHECK: return
func.func @no_cast_where_all_is_fp32(%x: tensor<1x6xf32>, %c: tensor<6x2xf32>) -> tensor<2xf32> {
  %h = amp.constant dense<100.0> : tensor<f32>
  %m = amp.matmul %x, %c : (tensor<1x6xf32>, tensor<6x2xf32>) -> tensor<1x2xf32> loc("/encoder/MatMul_2")
  %a = amp.mul %m, %h : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %r = amp.reshape %a : (tensor<1x2xf32>) -> tensor<2xf32>
  %d = amp.div %r, %h : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

/// A node without a name goes by its path.
// CHECK-LABEL: func.func @path
func.func @path(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("MatMul_7"("main/7"("MatMul")))
  return %a : tensor<2x2xf32>
}

/// A function of the model is one unit: its rule goes before those for the
/// operators inside, that of the outermost before the others, and the rule for
/// a call holds for all nodes of it. A node of it can still be named.
// CHECK-LABEL: func.func @functions
func.func @functions(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf16>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf16>
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("u/a"("main/0/0"("MatMul"("u"("main/0"("local::unit"))))))
  %b = amp.matmul %a, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("i/a"("main/1/0"("MatMul"("i"("main/1"("local::inner"))))))
  %c = amp.matmul %b, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("u/i/a"("main/2/0/0"("MatMul"("u/i"("main/2/0"("local::inner"("u"("main/2"("local::unit")))))))))
  %d = amp.matmul %c, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("call/a"("main/3/0"("MatMul"("call"("main/3"("local::other"))))))
  %e = amp.matmul %d, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("v/deep"("main/4/0"("MatMul"("v"("main/4"("local::unit"))))))
  return %e : tensor<2x2xf32>
}

/// An operator of another domain goes by its whole name, or without the domain.
// CHECK-LABEL: func.func @domains
func.func @domains(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.composite "Gelu" {{.*}} -> tensor<2x2xf16>
  %a = amp.composite "Gelu" follow(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%i: tensor<2x2xf32>):
    amp.yield %i : tensor<2x2xf32>
  } loc("g"("main/0"("com.microsoft::Gelu")))
  return %a : tensor<2x2xf32>
}

/// The base lists hold only where no other rule matches.
// CHECK-LABEL: func.func @base
func.func @base(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: amp.add {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.exp {{.*}} -> tensor<2x2xf16>
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("based"("/1"("MatMul")))
  %b = amp.add %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc(fused["based", "other"])
  %c = amp.exp %b : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("lonely")
  return %c : tensor<2x2xf32>
}
