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
  let options = [
    Option<"attention", "attention", "bool", /*default=*/"true",
           "Raise attention, too. Without it, each product, the softmax and the mask are operations of their own, "
           "which round where they are written.">,
  ];
}

def GraphFoldConstantsPass : GraphPass<"graph-fold-constants"> {
  let summary = "Compute what small constants determine";
  let description = [{
    *Does*: evaluates ops whose operands are all `dense` constants, in order, and
    puts constants in place of those results that something else reads. Floats
    are computed in f64 and rounded once to each result's type; integers are
    exact. Values between folded ops never become attributes.

    Ops on `dense_resource` constants stay: they are executed when the program
    is written. So do ops whose results are larger than the budgets allow,
    though a splat, which is stored once, is never too large.

    *Guarantees*: no constant larger than `tensor-bytes` is made, nor more than
    `total-bytes` in a function, in time bounded by a number of elements.

    ```mlir
    %0 = amp.constant dense<[2, 3]> : tensor<2xi64>
    %1 = amp.constant dense<4> : tensor<1xi64>
    %2 = amp.concat %0, %1 {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
    // becomes
    %2 = amp.constant dense<[2, 3, 4]> : tensor<3xi64>
    ```
  }];
  let options = [
    Option<"tensorBytes", "tensor-bytes", "uint64_t", /*default=*/"64 * 1024",
           "The most bytes that one computed constant may take.">,
    Option<"totalBytes", "total-bytes", "uint64_t", /*default=*/"16 * 1024 * 1024",
           "The most bytes that all values computed in a function may take.">,
  ];
}

def GraphFoldBatchNormPass : GraphPass<"graph-fold-batch-norm"> {
  let summary = "Fold batch normalizations and per-channel constants into contractions";
  let description = [{
    *Does*: where a convolution, transposed convolution or matrix product of a
    constant weight is read by one op alone, and that is a batch normalization
    with constant parameters, or a sum, difference, product or quotient with a
    constant per output channel, changes the weight and the bias instead. They
    become ops on constants, computed in f32 (f64 for f64) and rounded once to
    the weight's type; they run when the program is written.

    Weights that others read as well are copied up to 4 MiB.

    *Guarantees*: only constants change; parameters of training stay. A batch
    normalization that cannot be folded is left to `graph-expand-batch-norm`.

    ```mlir
    %0 = amp.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %1 = amp.batch_norm %0, %g, %b, %m, %v {epsilon = 1.0e-5 : f64} : ...
    // becomes, with constant %s and %t
    %s0 = amp.reshape %s : (tensor<2xf32>) -> tensor<1x2xf32>
    %w0 = amp.mul %w, %s0 : (tensor<8x2xf32>, tensor<1x2xf32>) -> tensor<8x2xf32>
    %1 = amp.matmul %x, %w0, %t : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```
  }];
}

def GraphExpandBatchNormPass : GraphPass<"graph-expand-batch-norm"> {
  let summary = "Expand batch normalizations to a product and a sum";
  let description = [{
    *Requires*: precision has been decided, since the ops this pass creates have
    other autocast classes than the normalization.

    *Does*: x * s + t with s = scale / sqrt(variance + eps) and
    t = bias - mean * s. 16-bit inputs are widened to f32 before and the result
    is rounded once.

    *Guarantees*: no `amp.batch_norm` is left.

    ```mlir
    %1 = amp.batch_norm %x, %g, %b, %m, %v {epsilon = 1.0e-5 : f64} : ...
    // becomes, with vectors %s and %t computed from the parameters
    %s0 = amp.reshape %s : (tensor<8xf32>) -> tensor<8x1x1xf32>
    %0 = amp.mul %x, %s0 : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
    %t0 = amp.reshape %t : (tensor<8xf32>) -> tensor<8x1x1xf32>
    %1 = amp.add %0, %t0 : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
}

def GraphAssignLayoutPass : GraphPass<"graph-assign-layout"> {
  let summary = "Move channels last where convolutions are";
  let description = [{
    *Does*: gives every convolution the layout channels_last, and with it those
    ops around it for which the fewest bytes are transposed at run time: a
    minimum cut, where what ops can do comes from `LayoutOpInterface`. Axes,
    paddings, slices and broadcast operands follow; constants are transposed
    when the program is written. A transposition that moves no data is a reshape;
    one beside a transposition of the model becomes one with it.

    *Guarantees*: the function's own arguments and results keep their order; a
    function without convolutions is not touched; between convolutions that only
    ops of free layout connect, no transposition is left.

    ```mlir
    %0 = amp.conv %x, %w {...} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
    %1 = amp.relu %0 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    // becomes
    %t = amp.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x8x8x3xf32>
    %0 = amp.conv %t, %w {layout = #amp.layout<channels_last>, ...} : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<1x8x8x4xf32>
    %r = amp.relu %0 : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
    %1 = amp.transpose %r {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
}

def GraphSimplifyPass : GraphPass<"graph-simplify"> {
  let summary = "Simplify what needs new ops or context to be simpler";
  let description = [{
    *Does*: what folds cannot:

    * drops elementwise ops and reductions that return an operand bit for bit,
      and broadcasts that the reading op does itself;
    * joins slices, concatenations and the transpositions on both sides of a
      reshape; turns transpositions that move no data, and gathers of one
      constant index, into views;
    * moves transposed matrices and biases into matrix products, biases into
      convolutions.

    *Guarantees*: no value changes, but that a bias is added before the rounding
    of its product instead of after. Casts are left alone, and no op of one
    autocast class becomes one of another.

    ```mlir
    %t = amp.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x6x8xf32>) -> tensor<2x8x6xf32>
    %0 = amp.matmul %q, %t : (tensor<2x4x8xf32>, tensor<2x8x6xf32>) -> tensor<2x4x6xf32>
    // becomes
    %0 = amp.matmul %q, %k {transpose_rhs} : (tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x6xf32>
    ```
  }];
}

def GraphExposeResultsPass : Pass<"graph-expose-results", "::mlir::ModuleOp"> {
  let summary = "Return intermediate values beside the results of the graph";
  let description = [{
    *Does*: appends float values that ops of `@main` compute at run time to its
    results, so that two precisions of a program can be compared op by op. The
    values are counted in the order of the program; `positions` chooses among
    them. Each new result is named after the op's place in the graph. With
    `rounding`, each is followed by what the same op makes of operands rounded
    to that type, rounded itself: the error that the op alone would make.

    *Guarantees*: what was returned before keeps its place. The phases that
    follow see a value that is read once more: an op that is exposed is rounded
    to its type, even where fusion would have kept it wider.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = amp.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = amp.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    // becomes, with positions=0
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {amp.name = "main/0:0"}) {
      %0 = amp.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = amp.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
      return %1, %0 : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    ListOption<"positions", "positions", "int64_t", "Which of the values to return; all of them when empty.">,
    Option<"rounding", "rounding", "std::string", "\"\"",
           "Also return what each op makes of rounded operands: f16 or bf16; empty for none.">
  ];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

#endif // AMPC_PASSES_GRAPH_PASSES_TD
