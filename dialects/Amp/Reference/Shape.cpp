//===- Shape.cpp - Evaluation of views, padding, concatenation, packing ---===//
#include "dialects/Amp/Reference/Convert.h"
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Amp/Reference/Strided.h"

#include <cstring>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

/// A new tensor of `type` that reads `input` from element `offset` with
/// `strides`. A splat stays one.
std::optional<Tensor> gatherStrided(RankedTensorType type, const Tensor &input,
                                    int64_t offset, ArrayRef<int64_t> strides) {
  auto result = Tensor::allocate(type, input.isSplat());
  if (!result) {
    return std::nullopt;
  }
  unsigned width = input.getByteWidth();
  const char *from = input.getBytes().data();
  if (result->isSplat()) {
    std::memcpy(result->mutableBytes(), from, width);
  } else if (result->size() != 0) {
    copyStrided(width, type.getShape(), result->mutableBytes(),
                getStrides(type.getShape()), from + offset * width, strides);
  }
  return result;
}

std::optional<Tensor> reshape(ReshapeOp op, ArrayRef<Tensor> operands) {
  return operands[0].withType(getResultType(op));
}

std::optional<Tensor> transpose(TransposeOp op, ArrayRef<Tensor> operands) {
  Dims input = getStoredStrides(operands[0]), strides;
  for (int64_t dim : op.getPermutation()) {
    strides.push_back(input[dim]);
  }
  return gatherStrided(getResultType(op), operands[0], 0, strides);
}

std::optional<Tensor> slice(SliceOp op, ArrayRef<Tensor> operands) {
  Dims input = getStoredStrides(operands[0]), strides;
  int64_t offset = 0;
  for (auto [stride, start, step] :
       llvm::zip_equal(input, op.getStarts(), op.getStrides())) {
    offset += stride * start;
    // A stride may be any number where only one element is picked.
    strides.push_back(
        static_cast<int64_t>(static_cast<uint64_t>(stride) * step));
  }
  return gatherStrided(getResultType(op), operands[0], offset, strides);
}

std::optional<Tensor> broadcast(BroadcastOp op, ArrayRef<Tensor> operands) {
  RankedTensorType type = getResultType(op);
  return gatherStrided(type, operands[0], 0,
                       getBroadcastStrides(operands[0], type.getShape()));
}

std::optional<Tensor> concat(ConcatOp op, ArrayRef<Tensor> operands) {
  RankedTensorType type = getResultType(op);
  auto result = Tensor::allocate(type);
  if (!result) {
    return std::nullopt;
  }
  unsigned width = result->getByteWidth();
  Dims strides = getStrides(type.getShape());
  char *to = result->mutableBytes();
  for (const Tensor &operand : operands) {
    copyStrided(width, operand.getShape(), to, strides,
                operand.getBytes().data(), getStoredStrides(operand));
    to += operand.getShape()[op.getAxis()] * strides[op.getAxis()] * width;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// The input index that a padded index repeats, or -1 for the padding value.
int64_t getPaddedSource(PadMode mode, int64_t index, int64_t size) {
  if (index >= 0 && index < size) {
    return index;
  }
  auto modulo = [](int64_t x, int64_t y) { return ((x % y) + y) % y; };
  switch (mode) {
  case PadMode::Constant:
    return -1;
  case PadMode::Edge:
    return index < 0 ? 0 : size - 1;
  case PadMode::Wrap:
    return modulo(index, size);
  case PadMode::Reflect: {
    if (size == 1) {
      return 0;
    }
    int64_t folded = modulo(index, 2 * (size - 1));
    return folded < size ? folded : 2 * (size - 1) - folded;
  }
  }
  llvm_unreachable("all modes are named");
}

std::optional<Tensor> pad(PadOp op, ArrayRef<Tensor> operands) {
  const Tensor &input = operands[0];
  RankedTensorType type = getResultType(op);
  auto value =
      operands.size() > 1
          ? convert(operands[1], type.getElementType())
          : Tensor::zeros(RankedTensorType::get({}, type.getElementType()));
  auto result = Tensor::allocate(type);
  if (!value || !result) {
    return std::nullopt;
  }
  // Where each index of each dimension reads from.
  SmallVector<std::vector<int64_t>> sources(type.getRank());
  for (int64_t d = 0; d < type.getRank() && result->size(); ++d) {
    for (int64_t i = 0; i < type.getDimSize(d); ++i) {
      sources[d].push_back(getPaddedSource(op.getMode(), i - op.getLow()[d],
                                           input.getShape()[d]));
    }
  }
  Dims strides = getStoredStrides(input), outer(type.getShape());
  bool scalar = outer.empty();
  int64_t inner = scalar ? 1 : outer.pop_back_val();
  unsigned width = input.getByteWidth();
  const char *from = input.getBytes().data();
  const char *fill = value->getBytes().data();
  char *to = result->mutableBytes();
  Dims index(outer.size(), 0);
  int64_t rows = inner ? result->size() / inner : 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t base = 0;
    bool inside = true;
    for (size_t d = 0; d < outer.size(); ++d) {
      int64_t source = sources[d][index[d]];
      inside &= source >= 0;
      base += source * strides[d];
    }
    for (int64_t i = 0; i < inner; ++i, to += width) {
      int64_t source = scalar ? 0 : sources.back()[i];
      int64_t offset = scalar ? 0 : base + source * strides.back();
      std::memcpy(to, inside && source >= 0 ? from + offset * width : fill,
                  width);
    }
    for (size_t d = outer.size(); d > 0 && ++index[d - 1] == outer[d - 1];
         --d) {
      index[d - 1] = 0;
    }
  }
  return result;
}

std::optional<Tensor> iota(IotaOp op, ArrayRef<Tensor>) {
  RankedTensorType type = getResultType(op);
  auto line = Tensor::allocate(RankedTensorType::get(
      type.getDimSize(op.getDimension()), type.getElementType()));
  if (!line) {
    return std::nullopt;
  }
  char *to = line->mutableBytes();
  for (int64_t i = 0; i < line->size(); ++i, to += line->getByteWidth()) {
    double value = static_cast<double>(i);
    isFloat(line->getKind()) ? storeDoubles(line->getKind(), &value, 1, to)
                             : storeInts(line->getKind(), &i, 1, to);
  }
  Dims strides(type.getRank(), 0);
  strides[op.getDimension()] = 1;
  return gatherStrided(type, *line, 0, strides);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// The strides of a packed tensor seen as [outer..., panels, inner..., panel],
/// for each dimension of the logical tensor, that of `dimension` standing for
/// one panel.
Dims getPackedStrides(ArrayRef<int64_t> packed, int64_t dimension,
                      ArrayRef<int64_t> outer, ArrayRef<int64_t> inner) {
  Dims strides = getStrides(packed), logical(packed.size() - 1);
  size_t next = 0;
  for (int64_t dim : outer) {
    logical[dim] = strides[next++];
  }
  logical[dimension] = strides[next++];
  for (int64_t dim : inner) {
    logical[dim] = strides[next++];
  }
  return logical;
}

/// Calls `copy` for the full panels and for the rest, with the shape to copy,
/// its packed and logical strides (of one more dimension: within the panel) and
/// the first panel.
template <typename Copy>
void forPanels(ArrayRef<int64_t> logical, int64_t dimension, int64_t panel,
               Dims packed, Copy copy) {
  Dims shape(logical), strides = getStrides(logical);
  int64_t step = strides[dimension];
  int64_t full = logical[dimension] / panel, rest = logical[dimension] % panel;
  strides[dimension] = step * panel;
  shape.push_back(panel);
  strides.push_back(step);
  packed.push_back(1);
  shape[dimension] = full;
  copy(shape, packed, strides, 0);
  shape[dimension] = rest != 0;
  shape.back() = rest;
  copy(shape, packed, strides, full);
}

std::optional<Tensor> pack(PackOp op, ArrayRef<Tensor> operands) {
  const Tensor &input = operands[0];
  int64_t dimension = op.getDimension(), panel = op.getPanel();
  RankedTensorType type = getResultType(op);
  auto result = Tensor::allocate(type);
  auto full = input.expanded();
  if (!result || !full) {
    return std::nullopt;
  }
  unsigned width = input.getByteWidth();
  char *to = result->mutableBytes();
  if (input.getShape()[dimension] % panel != 0) {
    std::memset(to, 0, result->size() * width);
  }
  Dims packed = getPackedStrides(type.getShape(), dimension, op.getOuter(),
                                 op.getInner());
  forPanels(input.getShape(), dimension, panel, packed,
            [&](const Dims &shape, const Dims &toStrides,
                const Dims &fromStrides, int64_t first) {
              copyStrided(width, shape,
                          to + first * toStrides[dimension] * width, toStrides,
                          full->getBytes().data() +
                              first * fromStrides[dimension] * width,
                          fromStrides);
            });
  return result;
}

std::optional<Tensor> unpack(UnpackOp op, ArrayRef<Tensor> operands) {
  if (operands[0].isSplat()) {
    return gatherStrided(getResultType(op), operands[0], 0, {});
  }
  int64_t dimension = op.getDimension(), panel = op.getPanel();
  RankedTensorType type = getResultType(op);
  auto result = Tensor::allocate(type);
  if (!result) {
    return std::nullopt;
  }
  unsigned width = result->getByteWidth();
  char *to = result->mutableBytes();
  Dims packed = getPackedStrides(operands[0].getShape(), dimension,
                                 op.getOuter(), op.getInner());
  forPanels(type.getShape(), dimension, panel, packed,
            [&](const Dims &shape, const Dims &fromStrides,
                const Dims &toStrides, int64_t first) {
              copyStrided(width, shape,
                          to + first * toStrides[dimension] * width, toStrides,
                          operands[0].getBytes().data() +
                              first * fromStrides[dimension] * width,
                          fromStrides);
            });
  return result;
}
} // namespace

void ref::attachShape(MLIRContext *context) {
  attach<reshape>(context);
  attach<transpose>(context);
  attach<slice>(context);
  attach<broadcast>(context);
  attach<concat>(context);
  attach<pad>(context);
  attach<iota>(context);
  attach<pack>(context);
  attach<unpack>(context);
}
