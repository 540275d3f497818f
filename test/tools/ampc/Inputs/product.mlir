func.func @main(%a: tensor<256x64xf32> {amp.name = "a"}, %b: tensor<64x256xf32> {amp.name = "b"}) -> (tensor<256x256xf32> {amp.name = "y"}) {
  %0 = amp.matmul %a, %b : (tensor<256x64xf32>, tensor<64x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
