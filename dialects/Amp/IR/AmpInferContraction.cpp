//===- AmpInferContraction.cpp - Result types of contractions -------------===//
#include "dialects/Amp/IR/AmpOps.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

Type amp::getAccumulatorType(Type element) {
  if (element.isF16() || element.isBF16()) {
    return Float32Type::get(element.getContext());
  }
  return element;
}

namespace {
RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}
Type elementOf(Value value) { return tensorType(value).getElementType(); }

/// A contraction's result may have its accumulator's type instead of the
/// inferred operand type.
bool isCompatible(TypeRange inferred, TypeRange actual) {
  auto lhs = dyn_cast<RankedTensorType>(inferred.front());
  auto rhs = dyn_cast<RankedTensorType>(actual.front());
  if (!lhs || !rhs || lhs.getShape() != rhs.getShape()) {
    return false;
  }
  Type from = lhs.getElementType(), to = rhs.getElementType();
  return from == to || getAccumulatorType(from) == to ||
         getAccumulatorType(to) == from;
}

/// Spatial geometry that convolutions share, in logical channels-first order.
struct ConvShape {
  int64_t batch = 0, channels = 0;
  SmallVector<int64_t> spatial;

  static ConvShape of(RankedTensorType type, Layout layout) {
    ConvShape shape;
    ArrayRef<int64_t> dims = type.getShape();
    shape.batch = dims[0];
    bool last = layout == Layout::ChannelsLast;
    shape.channels = last ? dims.back() : dims[1];
    ArrayRef<int64_t> spatial = dims.drop_front(last ? 1 : 2);
    spatial = last ? spatial.drop_back() : spatial;
    shape.spatial.assign(spatial.begin(), spatial.end());
    return shape;
  }

  RankedTensorType type(Layout layout, Type element) const {
    SmallVector<int64_t> dims{batch};
    if (layout == Layout::ChannelsFirst) {
      dims.push_back(channels);
    }
    dims.append(spatial.begin(), spatial.end());
    if (layout == Layout::ChannelsLast) {
      dims.push_back(channels);
    }
    return RankedTensorType::get(dims, element);
  }
};

/// Checks what both convolutions ask of their attributes.
LogicalResult checkWindow(std::optional<Location> loc, RankedTensorType input,
                          RankedTensorType weight, ArrayRef<int64_t> strides,
                          ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations,
                          int64_t group) {
  int64_t rank = input.getRank() - 2;
  if (rank < 1 || weight.getRank() != input.getRank()) {
    return emitOptionalError(loc,
                             "expected an input and a weight of equal rank 3 "
                             "or more, got ",
                             input, " and ", weight);
  }
  if (static_cast<int64_t>(strides.size()) != rank ||
      static_cast<int64_t>(dilations.size()) != rank ||
      static_cast<int64_t>(pads.size()) != 2 * rank) {
    return emitOptionalError(loc, "expected ", rank,
                             " strides and dilations and ", 2 * rank, " pads");
  }
  constexpr int64_t limit = int64_t(1) << 31;
  for (int64_t i = 0; i < rank; ++i) {
    if (strides[i] < 1 || strides[i] >= limit || dilations[i] < 1 ||
        dilations[i] >= limit || pads[i] <= -limit || pads[i] >= limit ||
        pads[i + rank] <= -limit || pads[i + rank] >= limit ||
        weight.getDimSize(i + 2) < 1 || weight.getDimSize(i + 2) >= limit ||
        input.getDimSize(i + 1) >= limit || input.getDimSize(i + 2) >= limit) {
      return emitOptionalError(loc,
                               "stride, dilation, pad or kernel size of "
                               "spatial dimension ",
                               i, " is out of range");
    }
  }
  if (group < 1) {
    return emitOptionalError(loc, "expected a positive group, got ", group);
  }
  return success();
}
} // namespace

#define AMPC_COMPATIBLE(OP)                                                    \
  bool OP::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {     \
    return isCompatible(inferred, actual);                                     \
  }
AMPC_COMPATIBLE(MatmulOp)
AMPC_COMPATIBLE(ConvOp)
AMPC_COMPATIBLE(ConvTransposeOp)
AMPC_COMPATIBLE(AttentionOp)
#undef AMPC_COMPATIBLE

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto lhs = tensorType(adaptor.getLhs()), rhs = tensorType(adaptor.getRhs());
  if (lhs.getRank() < 2 || rhs.getRank() < 2) {
    return emitOptionalError(loc, "expected operands of rank 2 or more, got ",
                             lhs, " and ", rhs);
  }
  auto matrix = [](RankedTensorType type, bool transposed) {
    auto dims = type.getShape().take_back(2);
    return transposed ? std::pair(dims[1], dims[0])
                      : std::pair(dims[0], dims[1]);
  };
  auto [m, k] = matrix(lhs, adaptor.getTransposeLhs());
  auto [k2, n] = matrix(rhs, adaptor.getTransposeRhs());
  auto batch =
      broadcastShapes(lhs.getShape().drop_back(2), rhs.getShape().drop_back(2));
  if (k != k2 || !batch) {
    return emitOptionalError(loc, "cannot multiply ", lhs, " by ", rhs);
  }
  batch->append({m, n});
  types.push_back(RankedTensorType::get(*batch, lhs.getElementType()));
  return success();
}

LogicalResult MatmulOp::verify() {
  if (elementOf(getLhs()) != elementOf(getRhs())) {
    return emitOpError("expected operands of one element type, got ")
           << getLhs().getType() << " and " << getRhs().getType();
  }
  if (Value bias = getBias()) {
    ArrayRef<int64_t> shape = getResult().getType().getShape();
    auto together = broadcastShapes(tensorType(bias).getShape(), shape);
    if (!together || *together != shape) {
      return emitOpError("expected a bias that broadcasts to ")
             << getResult().getType() << ", got " << bias.getType();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

LogicalResult ConvOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  auto weight = tensorType(adaptor.getWeight());
  int64_t group = adaptor.getGroup();
  if (failed(checkWindow(loc, input, weight, adaptor.getStrides(),
                         adaptor.getPads(), adaptor.getDilations(), group))) {
    return failure();
  }
  ConvShape shape = ConvShape::of(input, adaptor.getLayout());
  if (shape.channels % group != 0 || weight.getDimSize(0) % group != 0 ||
      weight.getDimSize(1) != shape.channels / group) {
    return emitOptionalError(loc, "weight ", weight, " does not fit input ",
                             input, " in ", group, " groups");
  }
  int64_t rank = shape.spatial.size();
  shape.channels = weight.getDimSize(0);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t padded =
        shape.spatial[i] + adaptor.getPads()[i] + adaptor.getPads()[i + rank];
    int64_t span =
        (weight.getDimSize(i + 2) - 1) * adaptor.getDilations()[i] + 1;
    if (padded < span) {
      return emitOptionalError(loc, "kernel spans ", span,
                               " elements of spatial dimension ", i,
                               ", which has ", padded, " with padding");
    }
    shape.spatial[i] = (padded - span) / adaptor.getStrides()[i] + 1;
  }
  types.push_back(shape.type(adaptor.getLayout(), input.getElementType()));
  return success();
}

LogicalResult ConvOp::verify() {
  if (elementOf(getInput()) != elementOf(getWeight())) {
    return emitOpError("expected an input and a weight of one element type, "
                       "got ")
           << getInput().getType() << " and " << getWeight().getType();
  }
  if (Value bias = getBias()) {
    if (tensorType(bias).getShape() !=
        getWeight().getType().getShape().take_front(1)) {
      return emitOpError("expected one bias per output channel, got ")
             << bias.getType();
    }
  }
  return success();
}

LogicalResult ConvTransposeOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  auto weight = tensorType(adaptor.getWeight());
  int64_t group = adaptor.getGroup();
  if (failed(checkWindow(loc, input, weight, adaptor.getStrides(),
                         adaptor.getPads(), adaptor.getDilations(), group))) {
    return failure();
  }
  ConvShape shape = ConvShape::of(input, adaptor.getLayout());
  int64_t rank = shape.spatial.size();
  if (shape.channels % group != 0 || weight.getDimSize(0) != shape.channels ||
      static_cast<int64_t>(adaptor.getOutputPadding().size()) != rank) {
    return emitOptionalError(loc, "weight ", weight, " does not fit input ",
                             input, " in ", group, " groups");
  }
  auto channels = llvm::checkedMul(weight.getDimSize(1), group);
  if (!channels) {
    return emitOptionalError(loc, "output channels overflow");
  }
  shape.channels = *channels;
  for (int64_t i = 0; i < rank; ++i) {
    if (adaptor.getOutputPadding()[i] < 0 ||
        adaptor.getOutputPadding()[i] >= std::numeric_limits<int32_t>::max()) {
      return emitOptionalError(loc, "output padding ",
                               adaptor.getOutputPadding()[i],
                               " of spatial dimension ", i, " is out of range");
    }
    int64_t size = (shape.spatial[i] - 1) * adaptor.getStrides()[i] +
                   adaptor.getOutputPadding()[i] +
                   (weight.getDimSize(i + 2) - 1) * adaptor.getDilations()[i] +
                   1 - adaptor.getPads()[i] - adaptor.getPads()[i + rank];
    if (size < 0) {
      return emitOptionalError(loc, "spatial dimension ", i,
                               " of the result has ", size, " elements");
    }
    shape.spatial[i] = size;
  }
  types.push_back(shape.type(adaptor.getLayout(), input.getElementType()));
  return success();
}

LogicalResult ConvTransposeOp::verify() {
  if (elementOf(getInput()) != elementOf(getWeight())) {
    return emitOpError("expected an input and a weight of one element type, "
                       "got ")
           << getInput().getType() << " and " << getWeight().getType();
  }
  if (Value bias = getBias()) {
    if (tensorType(bias).getRank() != 1 ||
        tensorType(bias).getDimSize(0) !=
            getWeight().getType().getDimSize(1) *
                static_cast<int64_t>(getGroup())) {
      return emitOpError("expected one bias per output channel, got ")
             << bias.getType();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto q = tensorType(adaptor.getQuery()), k = tensorType(adaptor.getKey()),
       v = tensorType(adaptor.getValue());
  bool fits = q.getRank() == 4 && k.getRank() == 4 && v.getRank() == 4 &&
              q.getDimSize(0) == k.getDimSize(0) &&
              k.getDimSize(0) == v.getDimSize(0) &&
              k.getDimSize(1) == v.getDimSize(1) && k.getDimSize(1) > 0 &&
              q.getDimSize(1) % k.getDimSize(1) == 0 &&
              q.getDimSize(3) == k.getDimSize(3) &&
              k.getDimSize(2) == v.getDimSize(2);
  if (!fits) {
    return emitOptionalError(loc, "cannot attend with query ", q, ", key ", k,
                             " and value ", v);
  }
  types.push_back(q.clone(
      {q.getDimSize(0), q.getDimSize(1), q.getDimSize(2), v.getDimSize(3)}));
  return success();
}

LogicalResult AttentionOp::verify() {
  auto q = getQuery().getType(), k = getKey().getType();
  if (q.getElementType() != k.getElementType() ||
      q.getElementType() != getValue().getType().getElementType()) {
    return emitOpError("expected query, key and value of one element type");
  }
  if (Value mask = getMask()) {
    SmallVector<int64_t> scores{q.getDimSize(0), q.getDimSize(1),
                                q.getDimSize(2), k.getDimSize(2)};
    auto together = broadcastShapes(tensorType(mask).getShape(), scores);
    if (!together ||
        ArrayRef<int64_t>(*together) != ArrayRef<int64_t>(scores)) {
      return emitOpError("expected a mask that broadcasts to the scores, got ")
             << mask.getType();
    }
    Type element = elementOf(mask);
    if (!isa<FloatType>(element) && !element.isInteger(1)) {
      return emitOpError("expected a float or boolean mask, got ")
             << mask.getType();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {
/// The packed shape of `logical`, or nullopt when the attributes do not name
/// each dimension once.
std::optional<SmallVector<int64_t>>
packedShape(ArrayRef<int64_t> logical, int64_t dimension, int64_t panel,
            ArrayRef<int64_t> outer, ArrayRef<int64_t> inner) {
  int64_t rank = logical.size();
  SmallVector<bool> seen(rank, false);
  SmallVector<int64_t> named(outer);
  named.push_back(dimension);
  named.append(inner.begin(), inner.end());
  for (int64_t dim : named) {
    if (dim < 0 || dim >= rank || seen[dim]) {
      return std::nullopt;
    }
    seen[dim] = true;
  }
  if (static_cast<int64_t>(named.size()) != rank || panel < 1) {
    return std::nullopt;
  }
  SmallVector<int64_t> shape;
  for (int64_t dim : outer) {
    shape.push_back(logical[dim]);
  }
  shape.push_back(llvm::divideCeil(logical[dimension], panel));
  for (int64_t dim : inner) {
    shape.push_back(logical[dim]);
  }
  shape.push_back(panel);
  return shape;
}
} // namespace

LogicalResult PackOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  auto shape =
      packedShape(input.getShape(), adaptor.getDimension(), adaptor.getPanel(),
                  adaptor.getOuter(), adaptor.getInner());
  if (!shape) {
    return emitOptionalError(
        loc, "expected each dimension named once and a positive panel");
  }
  types.push_back(input.clone(*shape));
  return success();
}

LogicalResult UnpackOp::verify() {
  auto shape = packedShape(getResult().getType().getShape(), getDimension(),
                           getPanel(), getOuter(), getInner());
  if (!shape || ArrayRef<int64_t>(*shape) != getInput().getType().getShape()) {
    return emitOpError("input ")
           << getInput().getType() << " is not the packed form of "
           << getResult().getType();
  }
  return success();
}

LogicalResult UnpackOp::updateResultTypes() {
  getResult().setType(getResult().getType().clone(elementOf(getInput())));
  return success();
}
