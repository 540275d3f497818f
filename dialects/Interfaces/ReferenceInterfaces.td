//===- ReferenceInterfaces.td - What the reference evaluator asks ---------===//
#ifndef AMPC_DIALECTS_INTERFACES_REFERENCEINTERFACES_TD
#define AMPC_DIALECTS_INTERFACES_REFERENCEINTERFACES_TD

include "mlir/IR/OpBase.td"

def ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::ampc";
  let description = [{
    The value of an op on known tensors, exact but for one rounding to each
    result's element type. Asked by the evaluator behind constant folding, the
    execution of weights and the tests of phases.
  }];
  let methods = [
    InterfaceMethod<[{
        Appends one tensor per result, of the result's type, computed from one
        tensor per operand, of the operand's type. Floats are computed in f64,
        integers in two's complement of their width. Fails, having said nothing,
        when memory is exhausted.
      }],
      "::llvm::LogicalResult", "evaluate",
      (ins "::llvm::ArrayRef<::ampc::ref::Tensor>":$operands,
           "::llvm::SmallVectorImpl<::ampc::ref::Tensor> &":$results)>,
  ];
}

#endif // AMPC_DIALECTS_INTERFACES_REFERENCEINTERFACES_TD
