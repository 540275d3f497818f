//===- AutocastClass.td - How autocast treats an operation ----------------===//
#ifndef AMPC_DIALECTS_INTERFACES_AUTOCASTCLASS_TD
#define AMPC_DIALECTS_INTERFACES_AUTOCASTCLASS_TD

include "mlir/IR/EnumAttr.td"

// The four behaviours of PyTorch's autocast, made whole for a static graph
// that has no implicit type promotion.
def AutocastLower : I32EnumAttrCase<"Lower", 0, "lower">;
def AutocastFp32 : I32EnumAttrCase<"Fp32", 1, "fp32">;
def AutocastPromote : I32EnumAttrCase<"Promote", 2, "promote">;
def AutocastFollow : I32EnumAttrCase<"Follow", 3, "follow">;

def AutocastClassEnum : I32EnumAttr<"AutocastClass",
    "how autocast types an operation: lower = 16-bit operands; fp32 = f32 "
    "operands; promote = the widest of its operands; follow = its operand's",
    [AutocastLower, AutocastFp32, AutocastPromote, AutocastFollow]> {
  let cppNamespace = "::ampc";
  let genSpecializedAttr = 0;
}

#endif // AMPC_DIALECTS_INTERFACES_AUTOCASTCLASS_TD
