//===- RtEnums.td - Enumerations of the rt dialect ------------------------===//
#ifndef AMPC_DIALECTS_RT_IR_RTENUMS_TD
#define AMPC_DIALECTS_RT_IR_RTENUMS_TD

include "mlir/IR/EnumAttr.td"

// Numbered as ampc_region in runtime/include/ampc/abi.h.
def Rt_Region : I32EnumAttr<"BufferRegion", "where a buffer lives", [
    I32EnumAttrCase<"Arena", 0, "arena">, I32EnumAttrCase<"Weights", 1, "weights">,
    I32EnumAttrCase<"Input", 2, "input">, I32EnumAttrCase<"Output", 3, "output">,
    I32EnumAttrCase<"State", 4, "state">]> {
  let cppNamespace = "::ampc::rt";
  let genSpecializedAttr = 0;
}

#endif // AMPC_DIALECTS_RT_IR_RTENUMS_TD
