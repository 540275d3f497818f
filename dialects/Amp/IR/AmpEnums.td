//===- AmpEnums.td - Enumerations of the amp dialect ----------------------===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPENUMS_TD
#define AMPC_DIALECTS_AMP_IR_AMPENUMS_TD

include "mlir/IR/EnumAttr.td"

class Amp_EnumCase<string sym, int val, string str> : I32EnumAttrCase<sym, val, str>;
class Amp_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::ampc::amp";
  let genSpecializedAttr = 0;
}

def Amp_ComparePredicate : Amp_Enum<"ComparePredicate", "ordered comparison; "
    "any comparison with NaN is false except `ne`", [
    Amp_EnumCase<"EQ", 0, "eq">, Amp_EnumCase<"NE", 1, "ne">,
    Amp_EnumCase<"LT", 2, "lt">, Amp_EnumCase<"LE", 3, "le">,
    Amp_EnumCase<"GT", 4, "gt">, Amp_EnumCase<"GE", 5, "ge">]>;

def Amp_GeluForm : Amp_Enum<"GeluForm", "exact (erf) or tanh approximation", [
    Amp_EnumCase<"Erf", 0, "erf">, Amp_EnumCase<"Tanh", 1, "tanh">]>;

def Amp_PadMode : Amp_Enum<"PadMode", "what padding repeats", [
    Amp_EnumCase<"Constant", 0, "constant">, Amp_EnumCase<"Reflect", 1, "reflect">,
    Amp_EnumCase<"Edge", 2, "edge">, Amp_EnumCase<"Wrap", 3, "wrap">]>;

def Amp_ScatterReduction : Amp_Enum<"ScatterReduction", "how updates combine", [
    Amp_EnumCase<"None", 0, "none">, Amp_EnumCase<"Add", 1, "add">,
    Amp_EnumCase<"Mul", 2, "mul">, Amp_EnumCase<"Max", 3, "max">,
    Amp_EnumCase<"Min", 4, "min">]>;

def Amp_Layout : Amp_Enum<"Layout", "where the channel dimension lies", [
    Amp_EnumCase<"ChannelsFirst", 0, "channels_first">,
    Amp_EnumCase<"ChannelsLast", 1, "channels_last">]>;

def Amp_ResizeMode : Amp_Enum<"ResizeMode", "interpolation", [
    Amp_EnumCase<"Nearest", 0, "nearest">, Amp_EnumCase<"Linear", 1, "linear">,
    Amp_EnumCase<"Cubic", 2, "cubic">]>;

def Amp_CoordinateMode : Amp_Enum<"CoordinateMode", "output to input coordinate", [
    Amp_EnumCase<"HalfPixel", 0, "half_pixel">,
    Amp_EnumCase<"HalfPixelSymmetric", 1, "half_pixel_symmetric">,
    Amp_EnumCase<"PytorchHalfPixel", 2, "pytorch_half_pixel">,
    Amp_EnumCase<"AlignCorners", 3, "align_corners">,
    Amp_EnumCase<"Asymmetric", 4, "asymmetric">,
    Amp_EnumCase<"TfCropAndResize", 5, "tf_crop_and_resize">,
    Amp_EnumCase<"TfHalfPixelForNN", 6, "tf_half_pixel_for_nn">]>;

def Amp_NearestMode : Amp_Enum<"NearestMode", "rounding of a coordinate", [
    Amp_EnumCase<"RoundPreferFloor", 0, "round_prefer_floor">,
    Amp_EnumCase<"RoundPreferCeil", 1, "round_prefer_ceil">,
    Amp_EnumCase<"Floor", 2, "floor">, Amp_EnumCase<"Ceil", 3, "ceil">]>;

#endif // AMPC_DIALECTS_AMP_IR_AMPENUMS_TD
