//===- Passes.td - From tensor ops to kernels -----------------------------===//
#ifndef AMPC_PASSES_FUSION_PASSES_TD
#define AMPC_PASSES_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FusionSplitReductionsPass : Pass<"fusion-split-reductions", "mlir::ModuleOp"> {
  let summary = "Reduce few long rows in parts";
  let description = [{
    *Requires* `amp.target` on the module; does nothing without it, or for GPUs,
    whose blocks share a row by themselves.

    *Does*: a reduction with fewer rows than keep the target busy becomes one of
    many parts of each row, and one of their results. Sums of 16-bit floats are
    kept in f32 between the two. Rows are cut between reduced axes, or at a
    divisor of an axis; what computes the elements is computed in the new shape.

    *Guarantees*: the parts follow from shapes and target alone, so that results
    do not depend on the number of threads.

    ```mlir
    %y = amp.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<1048576xf32>) -> tensor<f32>
    // becomes
    %0 = amp.reshape %x : (tensor<1048576xf32>) -> tensor<32x32768xf32>
    %1 = amp.reduce_sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<32x32768xf32>) -> tensor<32x1xf32>
    %2 = amp.reshape %1 : (tensor<32x1xf32>) -> tensor<32xf32>
    %y = amp.reduce_sum %2 {axes = array<i64: 0>, keepdims = false} : (tensor<32xf32>) -> tensor<f32>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def FusionFormKernelsPass : Pass<"fusion-form-kernels", "mlir::ModuleOp"> {
  let summary = "Outline ops into kernels of one root with prologue and epilogue";
  let description = [{
    *Requires* composites inlined and batch norms rewritten.

    *Does*: groups the ops of `@main` so that each group holds at most one root
    (contraction, row reduction, attention, serial or indexed op) with the
    elementwise ops and views that can be computed on the elements it loads or
    holds, 64 ops together, and moves each group into an `amp.kernel`. Numbers of
    rank 0 that follow from a reduction join its group, with all their results. Ops on constants only stay
    behind: they are executed when the program is written. Reshapes at the edge
    of a group stay too: they move nothing.

    *Guarantees*: besides constants and reshapes, `@main` holds launches only, and
    what they compute is read.

    ```mlir
    %0 = amp.matmul %a, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = amp.relu %0 : (tensor<4x16xf32>) -> tensor<4x16xf32>
    // becomes
    %1 = amp.launch @matmul_relu(%a, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def FusionRetypeKernelsPass : Pass<"fusion-retype-kernels", "mlir::ModuleOp"> {
  let summary = "Give every value inside a kernel the type it is computed in";
  let description = [{
    *Does*: 16-bit values that a kernel computes become f32 and are rounded where
    they are stored or enter a contraction; contractions hand on their f32
    accumulators. A rounding that an `amp.cast` states is kept.

    *Guarantees*: each rounding inside a kernel is an `amp.cast`.

    ```mlir
    %0 = amp.matmul %a, %b : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
    %1 = amp.relu %0 : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
    // becomes
    %0 = amp.matmul %a, %b : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
    %1 = amp.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = amp.cast %1 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def FusionPackWeightsPass : Pass<"fusion-pack-weights", "mlir::ModuleOp"> {
  let summary = "Store right-hand operands of contractions in panels";
  let description = [{
    *Requires* `amp.target` on the module; does nothing without it.

    *Does*: where every launch of a contraction kernel passes a constant as its
    weight, the launches pass `amp.pack` of it and the kernel reads it through
    `amp.unpack`. What is no constant, but computed or trained, is packed by a
    launch of its own: a convolution's weight, and a right-hand matrix where many
    rows meet it.

    *Guarantees*: a packed operand is the constant alone, and the kernel computes
    on the same values as before.

    ```mlir
    amp.launch @k(%x, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    // becomes
    %p = amp.pack %w {dimension = 1 : i64, panel = 16 : i64, outer = array<i64>, inner = array<i64: 0>}
       : (tensor<8x16xf32>) -> tensor<1x8x16xf32>
    amp.launch @k(%x, %p) : (tensor<4x8xf32>, tensor<1x8x16xf32>) -> tensor<4x16xf32>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def FusionTransposeWeightsPass : Pass<"fusion-transpose-weights", "mlir::ModuleOp"> {
  let summary = "Store convolutions' weights with their channels last";
  let description = [{
    *Requires* `amp.target` on the module, with no panels; does nothing without
    it.

    *Does*: launches of a convolution of channels-last tensors pass its weight
    transposed, and the kernel reads it through the inverse: output channels,
    taps, input channels, so that what a sum runs along lies side by side. Where
    each channel is convolved by itself: taps, then channels. A weight that is no
    constant is transposed by a launch of its own.

    *Guarantees*: the kernel computes on the same values as before.

    ```mlir
    amp.launch @k(%x, %w) : (tensor<1x6x6x4xf16>, tensor<8x4x3x3xf16>) -> tensor<1x4x4x8xf16>
    // becomes
    %t = amp.transpose %w {permutation = array<i64: 0, 2, 3, 1>} : (tensor<8x4x3x3xf16>) -> tensor<8x3x3x4xf16>
    amp.launch @k(%x, %t) : (tensor<1x6x6x4xf16>, tensor<8x3x3x4xf16>) -> tensor<1x4x4x8xf16>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def FusionOutlineWeightsPass : Pass<"fusion-outline-weights", "mlir::ModuleOp"> {
  let summary = "Move constants and the ops on them into weights";
  let description = [{
    *Does*: each constant value that a launch, a reshape or the return of `@main`
    uses becomes an `amp.weight` whose body computes it. Equal ones are shared.

    *Guarantees*: `@main` holds launches, reshapes and `amp.get_weight` only.

    ```mlir
    %c = amp.constant dense_resource<w> : tensor<8x16xf32>
    %d = amp.cast %c : (tensor<8x16xf32>) -> tensor<8x16xbf16>
    // becomes
    %d = amp.get_weight @w0 : tensor<8x16xbf16>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def FusionDeduplicateKernelsPass : Pass<"fusion-deduplicate-kernels", "mlir::ModuleOp"> {
  let summary = "Merge kernels with equal bodies and name each by what it does";
  let description = [{
    *Does*: kernels that print alike (without names and locations) become one.
    A kernel is named after its root, the shapes of that, its types and a hash
    of its body, so that its name does not depend on the model around it.

    *Guarantees*: no two kernels have equal bodies.

    ```mlir
    amp.launch @k0(%x) ... amp.launch @k7(%y)
    // becomes
    amp.launch @relu_8_f32_f32_1f0c(%x) ... amp.launch @relu_8_f32_f32_1f0c(%y)
    ```
  }];
}

#endif // AMPC_PASSES_FUSION_PASSES_TD
