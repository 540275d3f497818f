//===- Passes.td - From launches to a program with static memory ----------===//
#ifndef AMPC_PASSES_MEMORY_PASSES_TD
#define AMPC_PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def MemoryBuildProgramPass : Pass<"memory-build-program", "mlir::ModuleOp"> {
  let summary = "Place all buffers and turn the host functions into an rt.program";
  let description = [{
    *Requires* a `@main` (a trainer's `@predict`) of launches, reshapes and
    `amp.get_weight`; other functions of such become entries of the program.

    *Does*: weights get an `offset` in the constant section; intermediate values
    share one arena by liveness (largest first, lowest offset that fits); results
    of the graph are written where the caller wants them, and copied when they
    are an input, a weight or another result. Arguments and results with
    `train.state` are places in a region that outlives a run: a result is written
    over the old value where the launch that writes it is the last to read that
    and reads it element by element, and copied at the end elsewhere. Launches of
    empty results vanish, and kernels that nothing launches.

    *Guarantees*: the functions are gone; `rt.program` holds all that runs, and
    its `arena` is the peak of activations. Arguments of kernels that a launch
    overwrites have the attribute `amp.updated`.

    ```mlir
    func.func @main(%x: tensor<4xf32> {amp.name = "x"}) -> (tensor<4xf32> {amp.name = "y"}) {
      %y = amp.launch @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // becomes
    rt.program @main inputs ["x"] : [tensor<4xf32>] outputs ["y"] : [tensor<4xf32>] arena <0> weights <0> {
      rt.launch @relu [#rt.buffer<input, 0, <0>>, #rt.buffer<output, 0, <0>>] label "Relu_0"
    }
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect", "::ampc::rt::RtDialect"];
}

#endif // AMPC_PASSES_MEMORY_PASSES_TD
