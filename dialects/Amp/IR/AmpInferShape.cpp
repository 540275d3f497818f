//===- AmpInferShape.cpp - Result types of elementwise and shape ops ------===//
#include "dialects/Amp/IR/AmpOps.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

std::optional<SmallVector<int64_t>>
amp::broadcastShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  size_t rank = std::max(lhs.size(), rhs.size());
  SmallVector<int64_t> shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t l = i + lhs.size() < rank ? 1 : lhs[i + lhs.size() - rank];
    int64_t r = i + rhs.size() < rank ? 1 : rhs[i + rhs.size() - rank];
    if (l != r && l != 1 && r != 1) {
      return std::nullopt;
    }
    shape[i] = l == 1 ? r : l;
  }
  return shape;
}

namespace {
RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

LogicalResult inferBroadcast(std::optional<Location> loc, ValueRange operands,
                             Type element, SmallVectorImpl<Type> &results) {
  SmallVector<int64_t> shape(tensorType(operands[0]).getShape());
  for (Value operand : operands.drop_front()) {
    auto next = broadcastShapes(shape, tensorType(operand).getShape());
    if (!next) {
      return emitOptionalError(
          loc, "operands do not broadcast: ", operands[0].getType(), " and ",
          operand.getType());
    }
    shape = *next;
  }
  results.push_back(RankedTensorType::get(shape, element));
  return success();
}

Type elementOf(Value value) { return tensorType(value).getElementType(); }
} // namespace

// Infers the result of a broadcasting op from its operands, with the element
// type of operand `ELEMENT_OPERAND`.
#define AMPC_INFER_BROADCAST(OP, ELEMENT_OPERAND)                              \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> loc, Adaptor adaptor,             \
      SmallVectorImpl<Type> &types) {                                          \
    return inferBroadcast(loc, adaptor.getOperands(),                          \
                          elementOf(adaptor.getOperands()[ELEMENT_OPERAND]),   \
                          types);                                              \
  }
AMPC_INFER_BROADCAST(AddOp, 0)
AMPC_INFER_BROADCAST(SubOp, 0)
AMPC_INFER_BROADCAST(MulOp, 0)
AMPC_INFER_BROADCAST(DivOp, 0)
AMPC_INFER_BROADCAST(PowOp, 0)
AMPC_INFER_BROADCAST(MaxOp, 0)
AMPC_INFER_BROADCAST(MinOp, 0)
AMPC_INFER_BROADCAST(ModOp, 0)
AMPC_INFER_BROADCAST(AndOp, 0)
AMPC_INFER_BROADCAST(OrOp, 0)
AMPC_INFER_BROADCAST(XorOp, 0)
AMPC_INFER_BROADCAST(ShiftLeftOp, 0)
AMPC_INFER_BROADCAST(ShiftRightOp, 0)
AMPC_INFER_BROADCAST(SelectOp, 1)
#undef AMPC_INFER_BROADCAST

// Ops whose result is boolean.
#define AMPC_INFER_BOOLEAN(OP)                                                 \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,      \
      SmallVectorImpl<Type> &types) {                                          \
    return inferBroadcast(loc, adaptor.getOperands(),                          \
                          IntegerType::get(context, 1), types);                \
  }
AMPC_INFER_BOOLEAN(CompareOp)
AMPC_INFER_BOOLEAN(IsNanOp)
AMPC_INFER_BOOLEAN(IsInfOp)
#undef AMPC_INFER_BOOLEAN

LogicalResult
ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange,
                             DictionaryAttr, OpaqueProperties properties,
                             RegionRange, SmallVectorImpl<Type> &types) {
  types.push_back(properties.as<Properties *>()->getValue().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (getInput().getType().getNumElements() !=
      getResult().getType().getNumElements()) {
    return emitOpError("expected as many elements in the result as in the "
                       "input, got ")
           << getResult().getType() << " from " << getInput().getType();
  }
  return success();
}

LogicalResult ReshapeOp::updateResultTypes() {
  getResult().setType(getResult().getType().clone(elementOf(getInput())));
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<bool> seen(input.getRank(), false);
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= input.getRank() || seen[dim]) {
      return emitOptionalError(loc, "expected a permutation of ",
                               input.getRank(), " dimensions");
    }
    seen[dim] = true;
    shape.push_back(input.getDimSize(dim));
  }
  if (static_cast<int64_t>(shape.size()) != input.getRank()) {
    return emitOptionalError(loc, "expected a permutation of ", input.getRank(),
                             " dimensions");
  }
  types.push_back(input.clone(shape));
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  size_t rank = input.getRank();
  if (adaptor.getStarts().size() != rank || adaptor.getSizes().size() != rank ||
      adaptor.getStrides().size() != rank) {
    return emitOptionalError(loc, "expected ", rank,
                             " starts, sizes and strides");
  }
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = adaptor.getSizes()[i];
    auto last = llvm::checkedMulAdd(size - 1, adaptor.getStrides()[i],
                                    adaptor.getStarts()[i]);
    int64_t dim = input.getDimSize(i);
    bool inside = size >= 0 && last &&
                  (size == 0 ||
                   (adaptor.getStarts()[i] >= 0 &&
                    adaptor.getStarts()[i] < dim && *last >= 0 && *last < dim));
    if (!inside) {
      return emitOptionalError(loc, "slice of dimension ", i,
                               " reaches outside ", input);
    }
  }
  types.push_back(input.clone(adaptor.getSizes()));
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto shape = broadcastShapes(getInput().getType().getShape(),
                               getResult().getType().getShape());
  if (!shape || *shape != getResult().getType().getShape()) {
    return emitOpError("cannot broadcast ")
           << getInput().getType() << " to " << getResult().getType();
  }
  return success();
}

LogicalResult BroadcastOp::updateResultTypes() {
  getResult().setType(getResult().getType().clone(elementOf(getInput())));
  return success();
}

//===----------------------------------------------------------------------===//
// Concatenation, padding, generators
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty()) {
    return emitOptionalError(loc, "expected at least one operand");
  }
  auto first = tensorType(adaptor.getInputs()[0]);
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= first.getRank()) {
    return emitOptionalError(loc, "axis ", axis, " is not a dimension of ",
                             first);
  }
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    auto type = tensorType(input);
    bool agrees = type.getRank() == first.getRank() &&
                  type.getElementType() == first.getElementType();
    for (int64_t i = 0; agrees && i < first.getRank(); ++i) {
      agrees = i == axis || type.getDimSize(i) == shape[i];
    }
    if (!agrees) {
      return emitOptionalError(loc, "cannot join ", type, " to ", first,
                               " along axis ", axis);
    }
    auto sum = llvm::checkedAdd(shape[axis], type.getDimSize(axis));
    if (!sum) {
      return emitOptionalError(loc, "dimension ", axis, " overflows");
    }
    shape[axis] = *sum;
  }
  types.push_back(first.clone(shape));
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  size_t rank = input.getRank();
  if (adaptor.getLow().size() != rank || adaptor.getHigh().size() != rank) {
    return emitOptionalError(loc, "expected ", rank, " low and high paddings");
  }
  if (Value value = adaptor.getValue();
      value &&
      value.getType() != RankedTensorType::get({}, input.getElementType())) {
    return emitOptionalError(loc,
                             "expected a padding value of rank 0 and the "
                             "input's element type, got ",
                             value.getType());
  }
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t dim = input.getDimSize(i), low = adaptor.getLow()[i],
            high = adaptor.getHigh()[i];
    auto sum = llvm::checkedAdd(dim, low);
    sum = sum ? llvm::checkedAdd(*sum, high) : sum;
    if (!sum || *sum < 0) {
      return emitOptionalError(loc, "padding ", low, " and ", high,
                               " of dimension ", i, " of ", input,
                               " is out of range");
    }
    bool inside = adaptor.getMode() != PadMode::Reflect ||
                  (low < dim && high < dim) || *sum == 0;
    if (!inside ||
        (dim == 0 && *sum != 0 && adaptor.getMode() != PadMode::Constant)) {
      return emitOptionalError(loc, "cannot pad dimension ", i, " of ", input,
                               " by ", low, " and ", high,
                               " with elements of the input");
    }
    shape.push_back(*sum);
  }
  types.push_back(input.clone(shape));
  return success();
}

LogicalResult IotaOp::verify() {
  int64_t dim = getDimension();
  if (dim < 0 || dim >= getResult().getType().getRank()) {
    return emitOpError("dimension ")
           << dim << " is not one of " << getResult().getType();
  }
  return success();
}
