//===- KernelInterfaces.td - What code generation asks of an op -----------===//
#ifndef AMPC_DIALECTS_INTERFACES_KERNELINTERFACES_TD
#define AMPC_DIALECTS_INTERFACES_KERNELINTERFACES_TD

include "mlir/IR/OpBase.td"

def ScalarBodyOpInterface : OpInterface<"ScalarBodyOpInterface"> {
  let cppNamespace = "::ampc";
  let description = [{
    The computation of an elementwise op on one element, as `arith` and `math`
    ops. Targets, epilogues and prologues of every kernel kind share it, so an
    elementwise result does not depend on where it is computed.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the op on `operands`: all scalars, or all vectors of one shape,
        of the element types the op has. 16-bit float operands never arrive:
        the caller widens them to f32 and rounds the result. Booleans are i1;
        unsigned integers arrive as signless integers of the same width.
      }],
      "::mlir::Value", "buildScalarBody",
      (ins "::mlir::OpBuilder &":$b, "::mlir::Location":$loc,
           "::mlir::ValueRange":$operands)>,
  ];
}

def IndexedOpInterface : OpInterface<"IndexedOpInterface"> {
  let cppNamespace = "::ampc";
  let description = [{
    An op whose result elements can each be computed from operand elements at
    indices derived from the result's index: views (transpose, slice,
    broadcast), gathers, padding, pooling windows, resizing. A kernel that
    contains such ops is emitted by pulling elements through them; see
    ElementBuilder.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the element (or the `eb.lanes` elements) of result `result` at
        `index`. Fails, having built no side effect, where the indices do not
        allow a vector; the kernel is then emitted with one lane.
      }],
      "::mlir::FailureOr<::mlir::Value>", "buildElement",
      (ins "::ampc::ElementBuilder &":$eb,
           "::llvm::ArrayRef<::ampc::LaneIndex>":$index, "unsigned":$result)>,
  ];
}

#endif // AMPC_DIALECTS_INTERFACES_KERNELINTERFACES_TD
