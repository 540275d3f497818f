// RUN: ampc-opt %s --training-expand-dropout --split-input-file | FileCheck %s

// CHECK-DAG: train.state control @train.seed : tensor<i64>
// CHECK-DAG: train.state @train.micro : tensor<i32>
// CHECK-DAG: train.state control @train.taken : tensor<i32>
// CHECK-DAG: train.state control @train.skipped : tensor<i32>
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xbf16>, %[[T:[a-z0-9]+]]: tensor<i32> {train.state = @train.taken}
// CHECK-SAME: %[[SEED:[a-z0-9]+]]: tensor<i64> {train.state = @train.seed}
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<i32> {train.state = @train.micro}
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<i32> {train.state = @train.skipped}
// CHECK: %[[N:.*]] = amp.add %[[T]], %[[S]]
// CHECK: %[[K:.*]] = train.bernoulli %[[SEED]], %[[N]], %[[M]] {probability = 7.500000e-01 : f64, stream = 2 : i64} : (tensor<i64>, tensor<i32>, tensor<i32>) -> tensor<8xi1>
// CHECK: %[[V:.*]] = amp.mul %[[X]], %{{.*}}
// CHECK: amp.select %[[K]], %[[V]], %{{.*}} : (tensor<8xi1>, tensor<8xbf16>, tensor<bf16>)
// The gradient draws the same again.
// CHECK: train.bernoulli %[[SEED]], %[[N]], %[[M]] {backward, probability = 7.500000e-01 : f64, stream = 2 : i64}
train.state control @train.taken : tensor<i32>
func.func @step(%x: tensor<8xbf16>, %t: tensor<i32> {train.state = @train.taken}) -> (tensor<8xbf16>, tensor<8xbf16>) {
  %0 = train.dropout %x {ratio = 0.25 : f64, stream = 2 : i64} : (tensor<8xbf16>) -> tensor<8xbf16>
  %1 = train.dropout %x {backward, ratio = 0.25 : f64, stream = 2 : i64} : (tensor<8xbf16>) -> tensor<8xbf16>
  return %0, %1 : tensor<8xbf16>, tensor<8xbf16>
}

// CHECK-LABEL: func.func @eval(%{{.*}}: tensor<8xf32>)
// CHECK-NEXT: return
func.func @eval(%x: tensor<8xf32>) -> tensor<8xf32> attributes {amp.inference} {
  %0 = train.dropout %x {ratio = 0.25 : f64, stream = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-NOT: train.state
// CHECK-LABEL: func.func @negative_no_dropout(%{{.*}}: tensor<8xf32>)
func.func @negative_no_dropout(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
