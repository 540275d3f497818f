//===- Passes.td - The passes of the graph phase --------------------------===//
#ifndef AMPC_PASSES_GRAPH_PASSES_TD
#define AMPC_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

class GraphPass<string flag> : InterfacePass<flag, "::mlir::FunctionOpInterface"> {
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def GraphRaisePass : GraphPass<"graph-raise"> {
  let summary = "Raise decomposed operations to the one op they are";
  let description = [{
    *Does*: recognises what exporters and hands write in several ops and
    replaces it by one:

    * layer and RMS normalization, with every spelling of the mean and of the
      inverse root; their scale, bias and surrounding casts;
    * GELU (erf and tanh), SiLU, hard swish and sigmoid in any order of factors:
      expressions are compared as polynomials in x and one function of x;
    * softmax and its logarithm, where the maximum is taken off;
    * attention, with any scale on scores, queries or keys, added and selected
      masks, a soft cap, transposed keys, repeated heads.

    Constants may differ from the exact ones by an exporter's rounding. A value
    that something else reads keeps its ops.

    *Guarantees*: what is replaced computes the same function of the same
    operands; a raised op has its own rounding: one, where the written form had
    several. The new location unites those of all matched ops.

    ```mlir
    %0 = amp.div %x, %sqrt2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = amp.erf %0 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = amp.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = amp.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4 = amp.mul %3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // becomes
    %4 = amp.gelu %x {form = #amp.gelu_form<erf>} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

#endif // AMPC_PASSES_GRAPH_PASSES_TD
