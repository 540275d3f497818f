// On sm_80 the sums of %c are split among blocks; on sm_90a %y takes tensor maps.
func.func @main(%a: tensor<16x4096xf16> {amp.name = "a"}, %b: tensor<4096x16xf16> {amp.name = "b"},
                %d: tensor<1024x512xf16> {amp.name = "d"}, %e: tensor<512x1024xf16> {amp.name = "e"})
    -> (tensor<16x16xf32> {amp.name = "c"}, tensor<1024x1024xf16> {amp.name = "y"}) {
  %c = amp.matmul %a, %b : (tensor<16x4096xf16>, tensor<4096x16xf16>) -> tensor<16x16xf32>
  %0 = amp.matmul %d, %e : (tensor<1024x512xf16>, tensor<512x1024xf16>) -> tensor<1024x1024xf32>
  %y = amp.cast %0 : (tensor<1024x1024xf32>) -> tensor<1024x1024xf16>
  return %c, %y : tensor<16x16xf32>, tensor<1024x1024xf16>
}
