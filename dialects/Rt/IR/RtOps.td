//===- RtOps.td - What the host program does ------------------------------===//
#ifndef AMPC_DIALECTS_RT_IR_RTOPS_TD
#define AMPC_DIALECTS_RT_IR_RTOPS_TD

include "dialects/Rt/IR/RtEnums.td"
include "dialects/Train/IR/TrainEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::ampc::rt";
  let summary = "the host program: what runs, in which order, on which bytes";
  let description = [{
    The exit dialect of the compiler's host side. It mirrors
    `runtime/include/ampc/abi.h` so closely that emission holds no logic: a
    program is a list of nodes, a buffer is a region and an offset. All sizes
    have a fixed part and a part per sample of a free batch dimension.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Rt_RegionAttr : EnumAttr<Rt_Dialect, Rt_Region, "region"> {
  let assemblyFormat = "`<` $value `>`";
}

def Rt_SizeAttr : AttrDef<Rt_Dialect, "Size"> {
  let mnemonic = "size";
  let summary = "bytes: fixed + per_sample * N";
  let assemblyFormat = "`<` $fixed (`+` $per_sample^ `*` `N`)? `>`";
  let parameters = (ins "int64_t":$fixed, DefaultValuedParameter<"int64_t", "0">:$per_sample);
}

def Rt_BufferAttr : AttrDef<Rt_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a buffer: its region, the graph input or output it is, its offset in bytes";
  let parameters = (ins "::ampc::rt::BufferRegion":$region, "int64_t":$index, "::ampc::rt::SizeAttr":$offset);
  let assemblyFormat = "`<` $region `,` $index `,` $offset `>`";
}

def Rt_BufferArrayAttr : TypedArrayAttrBase<Rt_BufferAttr, "array of buffers">;

class Rt_Op<string mnemonic, list<Trait> traits = []> : Op<Rt_Dialect, mnemonic, traits>;

def Rt_ProgramOp : Rt_Op<"program", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "the whole host program";
  let description = [{
    `inputs` and `outputs` are the tensors of the graph in order, with their
    names. `arena` is the static peak of activations and workspace, `weights`
    the size of the constant section. The body holds the nodes in the order in
    which they run.

    A trainer has other entries as well, as ops of the body, and states, which
    outlive a run. `state_bytes` is the size of their region, whose first
    `control_bytes` hold all that are numbers; `constant_bytes` is the part of
    the weights that kernels read, before the first values of states.

    ```mlir
    rt.program @main inputs ["x"] : [tensor<4xf32>] outputs ["y"] : [tensor<4xf32>]
        arena #rt.size<0> weights #rt.size<0> {
      rt.launch @relu [#rt.buffer<input, 0, <0>>, #rt.buffer<output, 0, <0>>] label "Relu_0"
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$input_names, TypeArrayAttr:$input_types,
                       StrArrayAttr:$output_names, TypeArrayAttr:$output_types,
                       Rt_SizeAttr:$arena, Rt_SizeAttr:$weights,
                       OptionalAttr<I64Attr>:$constant_bytes, OptionalAttr<I64Attr>:$state_bytes,
                       OptionalAttr<I64Attr>:$control_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `inputs` $input_names `:` $input_types `outputs` $output_names `:` $output_types
    `arena` $arena `weights` $weights attr-dict-with-keyword $body
  }];
}

def Rt_StateOp : Rt_Op<"state", [HasParent<"ProgramOp">]> {
  let summary = "a tensor of the state region, and what it is for";
  let description = [{
    It lies at `offset` bytes of the region. `initial` is the offset of its first
    value in the weights; without one it begins with zeros.

    ```mlir
    rt.state "w" parameter : tensor<4x2xf32> at 128 initial 64
    ```
  }];
  let arguments = (ins StrAttr:$name, Train_Role:$role, TypeAttrOf<AnyRankedTensor>:$type, I64Attr:$offset,
                       OptionalAttr<I64Attr>:$initial);
  let assemblyFormat = "$name $role `:` $type `at` $offset (`initial` $initial^)? attr-dict";
}

def Rt_EntryOp : Rt_Op<"entry", [HasParent<"ProgramOp">, NoTerminator, SingleBlock]> {
  let summary = "nodes that run by themselves, on inputs and outputs of their own";
  let description = [{
    Buffers refer to inputs and outputs by their number in the whole program,
    where those of the entries follow those of the program in order.

    ```mlir
    rt.entry "step" inputs ["x"] : [tensor<4xf32>] outputs [] : [] {
      rt.launch @k [#rt.buffer<input, 1, <0>>, #rt.buffer<state, 0, <64>>] label "Relu_0"
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, StrArrayAttr:$input_names, TypeArrayAttr:$input_types,
                       StrArrayAttr:$output_names, TypeArrayAttr:$output_types);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `inputs` $input_names `:` $input_types `outputs` $output_names `:` $output_types
    attr-dict-with-keyword $body
  }];
}

def Rt_LaunchOp : Rt_Op<"launch", [ParentOneOf<["ProgramOp", "EntryOp"]>]> {
  let summary = "one parallel run of a kernel over its work items";
  let description = [{
    `buffers` are the kernel's arguments, then its results. A result whose buffer
    is also that of an argument is changed in place. `label` names the ONNX nodes
    computed.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Rt_BufferArrayAttr:$buffers, StrAttr:$label);
  let assemblyFormat = "$kernel $buffers `label` $label attr-dict";
}

def Rt_CopyOp : Rt_Op<"copy", [ParentOneOf<["ProgramOp", "EntryOp"]>]> {
  let summary = "a copy of bytes between two buffers that do not overlap";
  let arguments = (ins Rt_BufferAttr:$source, Rt_BufferAttr:$target, Rt_SizeAttr:$bytes, StrAttr:$label);
  let assemblyFormat = "$source `to` $target $bytes `label` $label attr-dict";
}

#endif // AMPC_DIALECTS_RT_IR_RTOPS_TD
