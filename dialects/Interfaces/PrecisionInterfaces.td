//===- PrecisionInterfaces.td - What the precision phase asks of an op ----===//
#ifndef AMPC_DIALECTS_INTERFACES_PRECISIONINTERFACES_TD
#define AMPC_DIALECTS_INTERFACES_PRECISIONINTERFACES_TD

include "mlir/IR/OpBase.td"
include "dialects/Interfaces/AutocastClass.td"

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::ampc";
  let description = [{
    The door through which the passes of `passes/Precision` see an op. They
    change the element types of an op's operands by inserting `amp.cast`, then
    ask the op for its result types; they never name a concrete op.
  }];
  let methods = [
    InterfaceMethod<"The op's autocast class.",
      "::ampc::AutocastClass", "getAutocastClass", (ins), [{}], [{
        return ConcreteOp::getDeclaredAutocastClass();
      }]>,
    InterfaceMethod<[{
        The class that PyTorch's autocast gives the op, where it differs from
        the one used by default: a normalization returns f32 there, and its
        input's type here, since its arithmetic is f32 in either case.
      }],
      "::ampc::AutocastClass", "getEagerAutocastClass", (ins), [{}], [{
        return $_op.getAutocastClass();
      }]>,
    InterfaceMethod<[{
        Whether a small relative error of the operand can be a large error of
        the result: the angle of a sine, a float that becomes an index. Ops that
        make such an operand from positions are not lowered.
      }],
      "bool", "needsExactOperand", (ins "unsigned":$operand), [{}], [{
        (void)operand;
        return false;
      }]>,
    InterfaceMethod<[{
        Whether the operand keeps the type it has whatever the class says:
        statistics of a normalization, a mask that is not a number, ...
        Operands that are not f32, f16 or bf16 tensors are never touched and
        need not be named here.
      }],
      "bool", "isPinnedOperand", (ins "unsigned":$operand), [{}], [{
        (void)operand;
        return false;
      }]>,
    InterfaceMethod<[{
        The operand whose type a `follow` op takes: its result has the element
        type of this operand, and its other unpinned float operands are cast to
        it. Ignored by the other classes.
      }],
      "unsigned", "getFollowedOperand", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{
        Sets the result types that follow from the current operand types. Ops
        with InferTypeOpInterface need no definition.
      }],
      "::mlir::LogicalResult", "updateResultTypes", (ins), [{}], [{
        return ::ampc::inferAndSetResultTypes($_op.getOperation());
      }]>,
  ];
}

#endif // AMPC_DIALECTS_INTERFACES_PRECISIONINTERFACES_TD
