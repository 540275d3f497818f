//===- Passes.td - The passes of the example ------------------------------===//
#ifndef EXAMPLE_PASSES_TD
#define EXAMPLE_PASSES_TD

include "mlir/Pass/PassBase.td"

def NarrowIslandsPass : Pass<"example-narrow-islands", "mlir::func::FuncOp"> {
  let summary = "Compute elementwise f32 islands on their 16-bit operands";
  let description = [{
    *Does*: an elementwise op whose float operands are all widened from one
    16-bit type, and whose float results are all rounded back to it, takes the
    16-bit operands and gives the 16-bit results. An elementwise op on 16-bit
    floats is computed in f32 and rounded once, so no bit of a result changes.

    *Guarantees*: a second run changes nothing.

    ```mlir
    %0 = amp.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
    %1 = amp.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = amp.cast %1 : (tensor<4xf32>) -> tensor<4xbf16>
    // becomes
    %2 = amp.exp %x : (tensor<4xbf16>) -> tensor<4xbf16>
    ```
  }];
  let options = [
    Option<"minElements", "min-elements", "int64_t", "1",
           "Leave islands of fewer elements than this alone.">
  ];
}

#endif // EXAMPLE_PASSES_TD
