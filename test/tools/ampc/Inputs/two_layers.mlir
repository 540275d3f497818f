// Two layers with a weight, and a product whose sums are split among blocks.
func.func @main(%x: tensor<16x3xf32> {amp.name = "x"}, %a: tensor<16x4096xf32> {amp.name = "a"}, %b: tensor<4096x16xf32> {amp.name = "b"})
    -> (tensor<16x3xf32> {amp.name = "y"}, tensor<16x16xf32> {amp.name = "c"}) {
  %w = amp.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf32>
  %0 = amp.softmax %x {axis = 0 : i64} : (tensor<16x3xf32>) -> tensor<16x3xf32>
  %1 = amp.matmul %0, %w : (tensor<16x3xf32>, tensor<3x3xf32>) -> tensor<16x3xf32>
  %2 = amp.softmax %1 {axis = 1 : i64} : (tensor<16x3xf32>) -> tensor<16x3xf32>
  %c = amp.matmul %a, %b : (tensor<16x4096xf32>, tensor<4096x16xf32>) -> tensor<16x16xf32>
  return %2, %c : tensor<16x3xf32>, tensor<16x16xf32>
}
