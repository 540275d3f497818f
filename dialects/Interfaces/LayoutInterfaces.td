//===- LayoutInterfaces.td - What layout assignment asks of an op ---------===//
#ifndef AMPC_DIALECTS_INTERFACES_LAYOUTINTERFACES_TD
#define AMPC_DIALECTS_INTERFACES_LAYOUTINTERFACES_TD

include "mlir/IR/OpBase.td"

def LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::ampc";
  let description = [{
    An op that can work on tensors whose channel dimension, the second one, has
    moved to the end. Asked by layout assignment, which chooses the ops that do
    and permutes their tensors. Elementwise ops need no definition: they take
    any permutation that all their operands share.
  }];
  let methods = [
    InterfaceMethod<[{
        Which tensors are permuted when the op works with channels last; nullopt
        when it cannot, or does so already.
      }],
      "::std::optional<::ampc::LayoutRule>", "getChannelsLastRule">,
    InterfaceMethod<[{
        Changes the attributes to those of the op with channels last. Called
        where getChannelsLastRule is not nullopt, before operands and results
        get their permuted types.
      }],
      "void", "setChannelsLast">,
    InterfaceMethod<"Whether the op is what channels are moved last for.",
      "bool", "wantsChannelsLast", (ins), [{}], [{ return false; }]>,
  ];
}

#endif // AMPC_DIALECTS_INTERFACES_LAYOUTINTERFACES_TD
