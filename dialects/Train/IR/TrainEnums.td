//===- TrainEnums.td - Enumerations of the train dialect ------------------===//
#ifndef AMPC_DIALECTS_TRAIN_IR_TRAINENUMS_TD
#define AMPC_DIALECTS_TRAIN_IR_TRAINENUMS_TD

include "mlir/IR/EnumAttr.td"

// Numbered as ampc_state_role in runtime/include/ampc/abi.h.
def Train_Role : I32EnumAttr<"Role", "what a state is for", [
    I32EnumAttrCase<"Parameter", 0, "parameter">, I32EnumAttrCase<"Statistic", 1, "statistic">,
    I32EnumAttrCase<"Moment", 2, "moment">, I32EnumAttrCase<"Control", 3, "control">,
    I32EnumAttrCase<"Transient", 4, "transient">]> {
  let cppNamespace = "::ampc::train";
}

#endif // AMPC_DIALECTS_TRAIN_IR_TRAINENUMS_TD
