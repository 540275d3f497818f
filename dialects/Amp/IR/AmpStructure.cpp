//===- AmpStructure.cpp - Composites, kernels, launches, weights ----------===//
#include "dialects/Amp/IR/AmpOps.h"

#include "mlir/IR/TypeUtilities.h"

#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

//===----------------------------------------------------------------------===//
// Composite
//===----------------------------------------------------------------------===//

static ParseResult parseAutocastWord(OpAsmParser &parser,
                                     AutocastClassAttr &attr) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word)) {
    return failure();
  }
  auto value = symbolizeAutocastClass(word);
  if (!value) {
    return parser.emitError(loc, "expected an autocast class, got ") << word;
  }
  attr = AutocastClassAttr::get(parser.getContext(), *value);
  return success();
}

static void printAutocastWord(OpAsmPrinter &printer, Operation *,
                              AutocastClassAttr attr) {
  printer << stringifyAutocastClass(attr.getValue());
}

LogicalResult CompositeOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size()) {
    return emitOpError("expected one body argument per operand");
  }
  auto sameShape = [](Type lhs, Type rhs) {
    return cast<ShapedType>(lhs).getShape() == cast<ShapedType>(rhs).getShape();
  };
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), getInputs())) {
    if (!sameShape(argument.getType(), input.getType())) {
      return emitOpError("expected a body argument of the shape of ")
             << input.getType() << ", got " << argument.getType();
    }
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getNumOperands() != getNumResults()) {
    return emitOpError("expected the body to yield one value per result");
  }
  for (auto [value, result] :
       llvm::zip_equal(yield.getValues(), getOutputs())) {
    if (!sameShape(value.getType(), result.getType())) {
      return emitOpError("expected the body to yield the shape of ")
             << result.getType() << ", got " << value.getType();
    }
  }
  return success();
}

LogicalResult CompositeOp::updateResultTypes() {
  Type element;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (!isPinnedOperand(i) && isAutocastEligible(input.getType())) {
      element = getElementTypeOrSelf(input.getType());
      break;
    }
  }
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  for (auto [result, inner] :
       llvm::zip_equal(getOutputs(), yield.getValues())) {
    if (element && isAutocastEligible(inner.getType())) {
      result.setType(cast<RankedTensorType>(result.getType()).clone(element));
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Kernel and launch
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Region *body = state.addRegion();
  Block &block = body->emplaceBlock();
  for (Type input : type.getInputs()) {
    block.addArgument(input, state.location);
  }
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

YieldOp KernelOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult KernelOp::verify() {
  if (TypeRange(getYield().getValues()) != TypeRange(getResultTypes())) {
    return emitOpError("expected the body to yield the kernel's results");
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &table) {
  auto kernel = table.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel) {
    return emitOpError("there is no kernel ") << getKernelAttr();
  }
  if (TypeRange(getInputs()) != TypeRange(kernel.getArgumentTypes()) ||
      getResultTypes() != TypeRange(kernel.getResultTypes())) {
    return emitOpError("expected the types of ")
           << getKernelAttr() << ": " << kernel.getFunctionType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

LogicalResult WeightOp::verify() {
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getNumOperands() != 1 ||
      yield.getValues().front().getType() != getType()) {
    return emitOpError("expected the body to yield one ") << getType();
  }
  return success();
}

LogicalResult GetWeightOp::verifySymbolUses(SymbolTableCollection &table) {
  auto weight = table.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight) {
    return emitOpError("there is no weight ") << getWeightAttr();
  }
  if (weight.getType() != getType()) {
    return emitOpError("expected the weight's type ") << weight.getType();
  }
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Amp/IR/AmpOps.cpp.inc"
