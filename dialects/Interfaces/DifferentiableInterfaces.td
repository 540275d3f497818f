//===- DifferentiableInterfaces.td - What autodiff asks of an op ----------===//
#ifndef AMPC_DIALECTS_INTERFACES_DIFFERENTIABLEINTERFACES_TD
#define AMPC_DIALECTS_INTERFACES_DIFFERENTIABLEINTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::ampc";
  let description = [{
    The vector-Jacobian product of an op, built from ops of the same dialect.
    Forward values that the product reads are thereby saved for the backward
    pass. An op without this interface either has no float results or cannot be
    trained through.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the contribution of this op to the gradient of each operand that
        is wanted. At least one result has a gradient. Fails with a diagnostic
        where a form of the op has no gradient here.
      }],
      "::llvm::LogicalResult", "buildGradient",
      (ins "::ampc::GradientBuilder &":$gradients)>,
  ];
}

#endif // AMPC_DIALECTS_INTERFACES_DIFFERENTIABLEINTERFACES_TD
