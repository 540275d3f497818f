//===- FusionInterfaces.td - What kernel formation asks of an op ----------===//
#ifndef AMPC_DIALECTS_INTERFACES_FUSIONINTERFACES_TD
#define AMPC_DIALECTS_INTERFACES_FUSIONINTERFACES_TD

include "mlir/IR/OpBase.td"

def FusableOpInterface : OpInterface<"FusableOpInterface"> {
  let cppNamespace = "::ampc";
  let description = [{
    The part an op can play in a kernel. Asked by the passes of
    `passes/Fusion`, which form kernels of one root with its prologue and
    epilogue, and by targets to find the root again.
  }];
  let methods = [
    InterfaceMethod<"The part this op plays in a kernel; see FusionKind.",
      "::ampc::FusionKind", "getFusionKind", (ins), [{}], [{
        return ConcreteOp::getDeclaredFusionKind();
      }]>,
  ];
}

#endif // AMPC_DIALECTS_INTERFACES_FUSIONINTERFACES_TD
