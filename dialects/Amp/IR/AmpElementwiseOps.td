//===- AmpElementwiseOps.td - One element from one element of each operand ===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPELEMENTWISEOPS_TD
#define AMPC_DIALECTS_AMP_IR_AMPELEMENTWISEOPS_TD

include "dialects/Amp/IR/AmpBase.td"

class Amp_ElementwiseOp<string mnemonic, I32EnumAttrCase cls, list<Trait> traits = []>
    : Amp_ComputeOp<mnemonic, cls, "Elementwise",
                    [DeclareOpInterfaceMethods<ScalarBodyOpInterface>] # traits>;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class Amp_UnaryOp<string mnemonic, I32EnumAttrCase cls, string what, Type type = Amp_FloatTensor>
    : Amp_ElementwiseOp<mnemonic, cls, [SameOperandsAndResultType]> {
  let summary = what;
  let description = "Computes " # what # " of each element of `input`. 16-bit floats "
    "are computed in f32 and rounded once, to nearest even.\n\n"
    "```mlir\n%y = amp." # mnemonic # " %x : (tensor<4x8xf32>) -> tensor<4x8xf32>\n```";
  let arguments = (ins type:$input);
  let results = (outs type:$result);
}

/// A function of an angle, whose absolute error is what counts.
class Amp_AngleOp<string mnemonic, string what> : Amp_UnaryOp<mnemonic, AutocastFollow, what> {
  let extraClassDeclaration = declared # [{
    static bool needsExactOperand(unsigned) { return true; }
  }];
}

def Amp_AbsOp : Amp_UnaryOp<"abs", AutocastFollow, "the absolute value", Amp_NumberTensor>;
def Amp_NegOp : Amp_UnaryOp<"neg", AutocastFollow, "the negation", Amp_NumberTensor>;
def Amp_SignOp : Amp_UnaryOp<"sign", AutocastFollow, "the sign (-1, 0, 1; NaN of NaN)", Amp_NumberTensor>;
def Amp_CeilOp : Amp_UnaryOp<"ceil", AutocastFollow, "the smallest integer not below">;
def Amp_FloorOp : Amp_UnaryOp<"floor", AutocastFollow, "the largest integer not above">;
def Amp_RoundOp : Amp_UnaryOp<"round", AutocastFollow, "the nearest integer, ties to even,">;
def Amp_SqrtOp : Amp_UnaryOp<"sqrt", AutocastFollow, "the square root">;
def Amp_RsqrtOp : Amp_UnaryOp<"rsqrt", AutocastFp32, "the reciprocal square root, as 1/sqrt,">;
def Amp_ReciprocalOp : Amp_UnaryOp<"reciprocal", AutocastFp32, "the reciprocal">;
def Amp_ExpOp : Amp_UnaryOp<"exp", AutocastFp32, "e to the power">;
def Amp_LogOp : Amp_UnaryOp<"log", AutocastFp32, "the natural logarithm">;
def Amp_SinOp : Amp_AngleOp<"sin", "the sine">;
def Amp_CosOp : Amp_AngleOp<"cos", "the cosine">;
def Amp_TanOp : Amp_UnaryOp<"tan", AutocastFp32, "the tangent">;
def Amp_AsinOp : Amp_UnaryOp<"asin", AutocastFp32, "the arc sine">;
def Amp_AcosOp : Amp_UnaryOp<"acos", AutocastFp32, "the arc cosine">;
def Amp_AtanOp : Amp_UnaryOp<"atan", AutocastFollow, "the arc tangent">;
def Amp_SinhOp : Amp_UnaryOp<"sinh", AutocastFp32, "the hyperbolic sine">;
def Amp_CoshOp : Amp_UnaryOp<"cosh", AutocastFp32, "the hyperbolic cosine">;
def Amp_AsinhOp : Amp_UnaryOp<"asinh", AutocastFollow, "the inverse hyperbolic sine">;
def Amp_AcoshOp : Amp_UnaryOp<"acosh", AutocastFp32, "the inverse hyperbolic cosine">;
def Amp_AtanhOp : Amp_UnaryOp<"atanh", AutocastFp32, "the inverse hyperbolic tangent">;
def Amp_TanhOp : Amp_UnaryOp<"tanh", AutocastFollow, "the hyperbolic tangent">;
def Amp_ErfOp : Amp_UnaryOp<"erf", AutocastFollow, "the error function">;
def Amp_SigmoidOp : Amp_UnaryOp<"sigmoid", AutocastFollow, "1 / (1 + exp(-x))">;
def Amp_SoftplusOp : Amp_UnaryOp<"softplus", AutocastFp32, "log(1 + exp(x))">;
def Amp_SiluOp : Amp_UnaryOp<"silu", AutocastFollow, "x * sigmoid(x)">;
def Amp_HardSwishOp : Amp_UnaryOp<"hard_swish", AutocastFollow, "x * max(0, min(1, x / 6 + 0.5))">;
def Amp_ReluOp : Amp_UnaryOp<"relu", AutocastFollow, "max(x, 0), NaN of NaN,", Amp_NumberTensor>;
def Amp_BitwiseNotOp : Amp_UnaryOp<"bitwise_not", AutocastFollow, "the complement", Amp_IntTensor>;
def Amp_LogicalNotOp : Amp_UnaryOp<"logical_not", AutocastFollow, "the negation", Amp_BoolTensor>;

def Amp_GeluOp : Amp_UnaryOp<"gelu", AutocastFollow, "the Gaussian error linear unit"> {
  let arguments = (ins Amp_FloatTensor:$input, Amp_GeluFormAttr:$form);
  let description = [{
    `erf`: x * (1 + erf(x / sqrt 2)) / 2. `tanh`: x * (1 + tanh(sqrt(2 / pi) *
    (x + 0.044715 x^3))) / 2. Computed in f32 for 16-bit floats, rounded once.

    ```mlir
    %y = amp.gelu %x {form = #amp.gelu_form<erf>} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def Amp_LeakyReluOp : Amp_UnaryOp<"leaky_relu", AutocastFollow, "x where x >= 0, alpha * x elsewhere,"> {
  let arguments = (ins Amp_FloatTensor:$input, F64Attr:$alpha);
}

def Amp_HardSigmoidOp : Amp_UnaryOp<"hard_sigmoid", AutocastFollow, "max(0, min(1, alpha * x + beta))"> {
  let arguments = (ins Amp_FloatTensor:$input, F64Attr:$alpha, F64Attr:$beta);
}

def Amp_ClipOp : Amp_UnaryOp<"clip", AutocastFollow, "the value bounded to [min, max], NaN of NaN,", Amp_FloatTensor> {
  let arguments = (ins Amp_FloatTensor:$input, F64Attr:$min, F64Attr:$max);
  let description = [{
    min(max(x, min), max) with constant bounds, which may be infinite. Bounds
    beyond the range of the element type bound nothing. Bounds that are
    operands are written with `amp.max` and `amp.min`.

    ```mlir
    %y = amp.clip %x {min = 0.0 : f64, max = 6.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

class Amp_TestOp<string mnemonic, string what>
    : Amp_ElementwiseOp<mnemonic, AutocastFollow, [InferTypeOpAdaptor]> {
  let summary = what;
  let description = "Whether each element is " # what # ".\n\n"
    "```mlir\n%y = amp." # mnemonic # " %x : (tensor<4xf32>) -> tensor<4xi1>\n```";
  let arguments = (ins Amp_FloatTensor:$input);
  let results = (outs Amp_BoolTensor:$result);
}
def Amp_IsNanOp : Amp_TestOp<"is_nan", "not a number">;
def Amp_IsInfOp : Amp_TestOp<"is_inf", "an infinity"> {
  let arguments = (ins Amp_FloatTensor:$input, DefaultValuedAttr<BoolAttr, "true">:$positive,
                       DefaultValuedAttr<BoolAttr, "true">:$negative);
}

//===----------------------------------------------------------------------===//
// Binary and ternary, with NumPy broadcasting
//===----------------------------------------------------------------------===//

class Amp_BinaryOp<string mnemonic, I32EnumAttrCase cls, string what, Type type = Amp_NumberTensor,
                   list<Trait> traits = []>
    : Amp_ElementwiseOp<mnemonic, cls,
        [InferTypeOpAdaptor, AllElementTypesMatch<["lhs", "rhs", "result"]>] # traits> {
  let summary = what;
  let description = "Computes " # what # " element by element with NumPy's broadcasting. 16-bit "
    "floats are computed in f32 and rounded once; integers wrap.\n\n"
    "```mlir\n%y = amp." # mnemonic # " %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>\n```";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
}

def Amp_AddOp : Amp_BinaryOp<"add", AutocastPromote, "the sum", Amp_NumberTensor, [Commutative]>;
def Amp_SubOp : Amp_BinaryOp<"sub", AutocastPromote, "the difference">;
def Amp_MulOp : Amp_BinaryOp<"mul", AutocastPromote, "the product", Amp_NumberTensor, [Commutative]>;
def Amp_DivOp : Amp_BinaryOp<"div", AutocastPromote, "the quotient (integers: truncated; division by zero gives 0)">;
def Amp_PowOp : Amp_BinaryOp<"pow", AutocastFp32, "the power (integers: wrapping; a negative exponent gives 0, of 1 and -1 a unit)">;
def Amp_MaxOp : Amp_BinaryOp<"max", AutocastPromote, "the maximum, NaN if either is NaN,", Amp_NumberTensor, [Commutative]>;
def Amp_MinOp : Amp_BinaryOp<"min", AutocastPromote, "the minimum, NaN if either is NaN,", Amp_NumberTensor, [Commutative]>;
def Amp_AndOp : Amp_BinaryOp<"and", AutocastFollow, "the conjunction of bits or booleans", Amp_BitsTensor, [Commutative]>;
def Amp_OrOp : Amp_BinaryOp<"or", AutocastFollow, "the disjunction of bits or booleans", Amp_BitsTensor, [Commutative]>;
def Amp_XorOp : Amp_BinaryOp<"xor", AutocastFollow, "the exclusive or of bits or booleans", Amp_BitsTensor, [Commutative]>;
def Amp_ShiftLeftOp : Amp_BinaryOp<"shift_left", AutocastFollow, "the shift towards high bits (0 when beyond the width)", Amp_IntTensor>;
def Amp_ShiftRightOp : Amp_BinaryOp<"shift_right", AutocastFollow, "the logical shift towards low bits (0 when beyond the width)", Amp_IntTensor>;

def Amp_ModOp : Amp_BinaryOp<"mod", AutocastPromote, "the remainder"> {
  let arguments = (ins Amp_NumberTensor:$lhs, Amp_NumberTensor:$rhs, DefaultValuedAttr<BoolAttr, "false">:$fmod);
  let description = [{
    With `fmod`, the remainder of C's fmod (the dividend's sign); without, the
    remainder of Python's % (the divisor's sign). An integer divisor of zero
    gives 0.

    ```mlir
    %y = amp.mod %a, %b {fmod = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def Amp_CompareOp : Amp_ElementwiseOp<"compare", AutocastPromote,
    [InferTypeOpAdaptor, AllElementTypesMatch<["lhs", "rhs"]>]> {
  let summary = "comparison with NumPy's broadcasting";
  let description = [{
    ```mlir
    %y = amp.compare %a, %b {predicate = #amp.predicate<lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$lhs, Amp_AnyTensor:$rhs, Amp_ComparePredicateAttr:$predicate);
  let results = (outs Amp_BoolTensor:$result);
}

def Amp_SelectOp : Amp_ElementwiseOp<"select", AutocastPromote,
    [InferTypeOpAdaptor, AllElementTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "choice by a condition, with NumPy's broadcasting";
  let description = [{
    ```mlir
    %y = amp.select %c, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Amp_BoolTensor:$condition, Amp_AnyTensor:$on_true, Amp_AnyTensor:$on_false);
  let results = (outs Amp_AnyTensor:$result);
}

def Amp_CastOp : Amp_ElementwiseOp<"cast", AutocastFollow, [SameOperandsAndResultShape]> {
  let summary = "conversion to another element type";
  let description = [{
    Float to float rounds to nearest even; a value beyond the target's range
    becomes an infinity, or the largest finite value when `saturate` is set.
    Float to integer truncates towards zero, bounded to the range of i32, or of
    i64 for i64, ui32 and ui64 (there from -2^63 to 2^64 - 1), and then wraps to
    the width; NaN gives 0. Integer to integer wraps. To boolean: not equal to
    zero. There is one rounding, whatever the types. `from_model` marks a Cast that stands in the
    model: the precision phase keeps its target type as a barrier, and
    canonicalization leaves it alone until that phase has removed the mark.

    ```mlir
    %y = amp.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, UnitAttr:$saturate, UnitAttr:$from_model);
  let results = (outs Amp_AnyTensor:$result);
  let extraClassDeclaration = declared # [{
    ::mlir::LogicalResult updateResultTypes() { return ::mlir::success(); }
    bool isPinnedOperand(unsigned) { return true; }
    /// A float that becomes a 32- or 64-bit integer is an index or a size.
    bool needsExactOperand(unsigned) {
      ::mlir::Type element = getResult().getType().getElementType();
      return element.isSignlessInteger(32) || element.isSignlessInteger(64);
    }
  }];
  let hasFolder = 1;
}

#endif // AMPC_DIALECTS_AMP_IR_AMPELEMENTWISEOPS_TD
