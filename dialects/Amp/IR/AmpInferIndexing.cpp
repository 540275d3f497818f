//===- AmpInferIndexing.cpp - Result types of gathers, scatters, windows --===//
#include "dialects/Amp/IR/AmpOps.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

namespace {
RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

LogicalResult checkAxis(std::optional<Location> loc, int64_t axis,
                        RankedTensorType type) {
  if (axis >= 0 && axis < type.getRank()) {
    return success();
  }
  return emitOptionalError(loc, "axis ", axis, " is not a dimension of ", type);
}
} // namespace

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  auto indices = tensorType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(loc, axis, input))) {
    return failure();
  }
  SmallVector<int64_t> shape(input.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, input.getShape().drop_front(axis + 1));
  auto result = input.clone(shape);
  if (input.getDimSize(axis) == 0 && result.getNumElements() != 0) {
    return emitOptionalError(loc, "cannot gather from an empty axis of ",
                             input);
  }
  types.push_back(result);
  return success();
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location> loc,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  auto indices = tensorType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(loc, axis, input))) {
    return failure();
  }
  bool fits = indices.getRank() == input.getRank() &&
              (input.getDimSize(axis) > 0 || indices.getNumElements() == 0);
  for (int64_t i = 0; fits && i < input.getRank(); ++i) {
    fits = i == axis || indices.getDimSize(i) <= input.getDimSize(i);
  }
  if (!fits) {
    return emitOptionalError(loc, "indices ", indices, " do not fit ", input);
  }
  types.push_back(input.clone(indices.getShape()));
  return success();
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  auto indices = tensorType(adaptor.getIndices());
  int64_t batch = adaptor.getBatchDims();
  if (indices.getRank() < 1 || batch < 0 || batch >= indices.getRank() ||
      batch > input.getRank()) {
    return emitOptionalError(loc, "batch_dims ", batch, " does not fit ", input,
                             " and ", indices);
  }
  int64_t tuple = indices.getShape().back();
  if (tuple > input.getRank() - batch ||
      input.getShape().take_front(batch) !=
          indices.getShape().take_front(batch)) {
    return emitOptionalError(loc, "indices ", indices, " do not fit ", input);
  }
  SmallVector<int64_t> shape(indices.getShape().drop_back());
  llvm::append_range(shape, input.getShape().drop_front(batch + tuple));
  auto result = input.clone(shape);
  if (input.getNumElements() == 0 && result.getNumElements() != 0) {
    return emitOptionalError(loc, "cannot gather from empty ", input);
  }
  types.push_back(result);
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

static LogicalResult inferPool(std::optional<Location> loc,
                               RankedTensorType input, ArrayRef<int64_t> kernel,
                               ArrayRef<int64_t> strides,
                               ArrayRef<int64_t> pads,
                               ArrayRef<int64_t> dilations, bool ceilMode,
                               Layout layout, SmallVectorImpl<Type> &types) {
  int64_t rank = input.getRank() - 2;
  auto count = [](ArrayRef<int64_t> values) {
    return static_cast<int64_t>(values.size());
  };
  if (rank < 1 || count(kernel) != rank || count(strides) != rank ||
      count(dilations) != rank || count(pads) != 2 * rank) {
    return emitOptionalError(loc, "window attributes do not fit ", input);
  }
  SmallVector<int64_t> shape(input.getShape());
  int64_t first = layout == Layout::ChannelsFirst ? 2 : 1;
  constexpr int64_t limit = int64_t(1) << 31;
  for (int64_t i = 0; i < rank; ++i) {
    if (kernel[i] < 1 || kernel[i] >= limit || strides[i] < 1 ||
        strides[i] >= limit || dilations[i] < 1 || dilations[i] >= limit ||
        pads[i] < 0 || pads[i] >= limit || pads[i + rank] < 0 ||
        pads[i + rank] >= limit || shape[first + i] >= limit) {
      return emitOptionalError(loc, "window attributes of spatial dimension ",
                               i, " are out of range");
    }
    int64_t padded = shape[first + i] + pads[i] + pads[i + rank];
    int64_t span = (kernel[i] - 1) * dilations[i] + 1;
    if (padded < span && !(ceilMode && shape[first + i] > 0)) {
      return emitOptionalError(loc, "window spans ", span,
                               " elements of spatial dimension ", i,
                               ", which has ", padded, " with padding");
    }
    int64_t steps = padded - span;
    int64_t size =
        1 + (steps < 0  ? 0
             : ceilMode ? int64_t(llvm::divideCeil(steps, strides[i]))
                        : steps / strides[i]);
    // A window that would start in the padding after the input is dropped.
    if (ceilMode && (size - 1) * strides[i] >= shape[first + i] + pads[i]) {
      --size;
    }
    shape[first + i] = size;
  }
  types.push_back(input.clone(shape));
  return success();
}

#define AMPC_INFER_POOL(OP)                                                    \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> loc, Adaptor adaptor,             \
      SmallVectorImpl<Type> &types) {                                          \
    return inferPool(loc, tensorType(adaptor.getInput()), adaptor.getKernel(), \
                     adaptor.getStrides(), adaptor.getPads(),                  \
                     adaptor.getDilations(), adaptor.getCeilMode(),            \
                     adaptor.getLayout(), types);                              \
  }
AMPC_INFER_POOL(MaxPoolOp)
AMPC_INFER_POOL(AvgPoolOp)
#undef AMPC_INFER_POOL

LogicalResult ResizeOp::verify() {
  auto input = getInput().getType(), result = getResult().getType();
  size_t rank = input.getRank();
  if (result.getRank() != input.getRank() || getScales().size() != rank ||
      (getRoi() && getRoi()->size() != 2 * rank)) {
    return emitOpError("expected a result, scales and region of the rank of ")
           << input;
  }
  if (input.getElementType() != result.getElementType()) {
    return emitOpError("expected the element type of ")
           << input << ", got " << result;
  }
  for (size_t i = 0; i < rank; ++i) {
    double scale = getScales()[i];
    if (!(scale > 0) || !std::isfinite(scale)) {
      return emitOpError("expected positive scales, got ") << scale;
    }
    if (input.getDimSize(i) == 0 && result.getDimSize(i) != 0) {
      return emitOpError("cannot resize an empty dimension of ") << input;
    }
  }
  return success();
}

LogicalResult ResizeOp::updateResultTypes() {
  getResult().setType(
      getResult().getType().clone(getInput().getType().getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Scatter and order
//===----------------------------------------------------------------------===//

LogicalResult
ScatterElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  auto indices = tensorType(adaptor.getIndices());
  auto updates = tensorType(adaptor.getUpdates());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(loc, axis, input))) {
    return failure();
  }
  bool fits = indices.getShape() == updates.getShape() &&
              indices.getRank() == input.getRank() &&
              updates.getElementType() == input.getElementType();
  for (int64_t i = 0; fits && i < input.getRank(); ++i) {
    fits = i == axis ? input.getDimSize(i) > 0 || indices.getNumElements() == 0
                     : indices.getDimSize(i) <= input.getDimSize(i);
  }
  if (!fits) {
    return emitOptionalError(loc, "indices ", indices, " and updates ", updates,
                             " do not fit ", input);
  }
  types.push_back(input);
  return success();
}

LogicalResult ScatterNdOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  auto indices = tensorType(adaptor.getIndices());
  auto updates = tensorType(adaptor.getUpdates());
  int64_t tuple = indices.getRank() > 0 ? indices.getShape().back() : -1;
  if (tuple < 0 || tuple > input.getRank() ||
      updates.getElementType() != input.getElementType()) {
    return emitOptionalError(loc, "indices ", indices, " do not fit ", input);
  }
  SmallVector<int64_t> shape(indices.getShape().drop_back());
  llvm::append_range(shape, input.getShape().drop_front(tuple));
  if (updates.getShape() != ArrayRef<int64_t>(shape) ||
      (input.getNumElements() == 0 && updates.getNumElements() != 0)) {
    return emitOptionalError(loc, "updates ", updates, " do not fit ", input,
                             " at ", indices);
  }
  types.push_back(input);
  return success();
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  int64_t axis = adaptor.getAxis(), k = adaptor.getK();
  if (failed(checkAxis(loc, axis, input))) {
    return failure();
  }
  if (k < 0 || k > input.getDimSize(axis)) {
    return emitOptionalError(loc, "cannot take ", k, " elements of axis ", axis,
                             " of ", input);
  }
  SmallVector<int64_t> shape(input.getShape());
  shape[axis] = k;
  types.push_back(input.clone(shape));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}
