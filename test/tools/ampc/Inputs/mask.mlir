// y = c ? x @ x : -1e9; f16 does not hold the number.
func.func @main(%x: tensor<2x2xf32> {amp.name = "x"}, %c: tensor<2x2xi1> {amp.name = "c"}) -> (tensor<2x2xf32> {amp.name = "y"}) {
  %m = amp.constant dense<-1.0e9> : tensor<f32>
  %p = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("product")
  %y = amp.select %c, %p, %m : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32> loc("fill")
  return %y : tensor<2x2xf32>
}
