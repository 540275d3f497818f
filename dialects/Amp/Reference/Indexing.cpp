//===- Indexing.cpp - Evaluation of gathers and scatters ------------------===//
#include "dialects/Amp/Reference/Convert.h"
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Amp/Reference/ScalarMath.h"
#include "dialects/Amp/Reference/Strided.h"

#include <cstring>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

/// An index into `size` elements: counted from the end when negative, clamped
/// to the nearest valid one. `size` is positive.
int64_t clampIndex(int64_t index, int64_t size) {
  index = index < 0 ? index + size : index;
  return std::min(std::max<int64_t>(index, 0), size - 1);
}

int64_t product(ArrayRef<int64_t> dims) {
  int64_t result = 1;
  for (int64_t dim : dims) {
    result *= dim;
  }
  return result;
}

std::optional<Tensor> gather(GatherOp op, ArrayRef<Tensor> operands) {
  auto input = operands[0].expanded();
  auto result = Tensor::allocate(getResultType(op));
  if (!input || !result) {
    return std::nullopt;
  }
  if (result->size() == 0) {
    return result;
  }
  int64_t axis = op.getAxis(), size = input->getShape()[axis];
  int64_t outer = product(input->getShape().take_front(axis));
  int64_t bytes =
      product(input->getShape().drop_front(axis + 1)) * input->getByteWidth();
  SmallVector<int64_t> indices = operands[1].getInts();
  const char *from = input->getBytes().data();
  char *to = result->mutableBytes();
  for (int64_t i = 0; i < outer; ++i, from += size * bytes) {
    for (int64_t index : indices) {
      std::memcpy(to, from + clampIndex(index, size) * bytes, bytes);
      to += bytes;
    }
  }
  return result;
}

/// Calls `visit` with the linear position in `indices` and the offset it names
/// in a tensor of `shape`, for gather_elements and scatter_elements.
template <typename Visit>
void forElements(const Tensor &indices, ArrayRef<int64_t> shape, int64_t axis,
                 Visit visit) {
  Dims strides = getStrides(shape), index(shape.size(), 0);
  for (int64_t i = 0; i < indices.size(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t at = static_cast<int64_t>(d) == axis
                       ? clampIndex(indices.getInt(i), shape[d])
                       : index[d];
      offset += at * strides[d];
    }
    visit(i, offset);
    for (size_t d = shape.size();
         d > 0 && ++index[d - 1] == indices.getShape()[d - 1]; --d) {
      index[d - 1] = 0;
    }
  }
}

std::optional<Tensor> gatherElements(GatherElementsOp op,
                                     ArrayRef<Tensor> operands) {
  auto input = operands[0].expanded();
  auto result = Tensor::allocate(getResultType(op));
  if (!input || !result) {
    return std::nullopt;
  }
  unsigned width = input->getByteWidth();
  const char *from = input->getBytes().data();
  char *to = result->mutableBytes();
  forElements(operands[1], input->getShape(), op.getAxis(),
              [&](int64_t i, int64_t offset) {
                std::memcpy(to + i * width, from + offset * width, width);
              });
  return result;
}

/// The offset in elements that index tuple number `tuple` names in a tensor of
/// `shape`, of which the tuple indexes the leading dimensions.
int64_t getTupleOffset(const Tensor &indices, int64_t tuple,
                       ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t length = indices.getShape().back(), offset = 0;
  for (int64_t d = 0; d < length; ++d) {
    offset +=
        clampIndex(indices.getInt(tuple * length + d), shape[d]) * strides[d];
  }
  return offset;
}

std::optional<Tensor> gatherNd(GatherNdOp op, ArrayRef<Tensor> operands) {
  auto input = operands[0].expanded();
  const Tensor &indices = operands[1];
  auto result = Tensor::allocate(getResultType(op));
  if (!input || !result) {
    return std::nullopt;
  }
  if (result->size() == 0) {
    return result;
  }
  int64_t batchDims = op.getBatchDims(), length = indices.getShape().back();
  ArrayRef<int64_t> shape = input->getShape().drop_front(batchDims);
  Dims strides = getStrides(shape);
  int64_t batches = product(input->getShape().take_front(batchDims));
  int64_t tuples = product(indices.getShape().drop_back()) / batches;
  int64_t bytes = product(shape.drop_front(length)) * input->getByteWidth();
  const char *from = input->getBytes().data();
  char *to = result->mutableBytes();
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t t = 0; t < tuples; ++t, to += bytes) {
      int64_t offset = getTupleOffset(indices, b * tuples + t, shape, strides);
      std::memcpy(to, from + offset * input->getByteWidth(), bytes);
    }
    from += product(shape) * input->getByteWidth();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// Combines `count` elements at `to` with those at `from`. Each combination
/// rounds, as the running program does.
void combine(ScatterReduction reduction, Kind kind, char *to, const char *from,
             int64_t count) {
  unsigned width = getByteWidth(kind);
  if (reduction == ScatterReduction::None) {
    std::memcpy(to, from, count * width);
    return;
  }
  auto apply = [&](auto x, auto y) -> decltype(x) {
    if constexpr (std::is_same_v<decltype(x), double>) {
      return reduction == ScatterReduction::Add   ? x + y
             : reduction == ScatterReduction::Mul ? x * y
             : reduction == ScatterReduction::Max ? math::max(x, y)
                                                  : math::min(x, y);
    } else {
      bool isUnsignedKind = isUnsigned(kind);
      return reduction == ScatterReduction::Add   ? math::add(x, y, false)
             : reduction == ScatterReduction::Mul ? math::mul(x, y, false)
             : reduction == ScatterReduction::Max
                 ? math::max(x, y, isUnsignedKind)
                 : math::min(x, y, isUnsignedKind);
    }
  };
  for (int64_t i = 0; i < count; ++i, to += width, from += width) {
    if (isFloat(kind)) {
      double x, y;
      loadDoubles(kind, to, 1, 1, &x);
      loadDoubles(kind, from, 1, 1, &y);
      double value = apply(x, y);
      storeDoubles(kind, &value, 1, to);
    } else {
      int64_t x, y;
      loadInts(kind, to, 1, 1, &x);
      loadInts(kind, from, 1, 1, &y);
      int64_t value = apply(x, y);
      storeInts(kind, &value, 1, to);
    }
  }
}

/// A copy of the input to scatter into.
std::optional<Tensor> copyOf(const Tensor &input) {
  auto full = input.expanded();
  auto result = Tensor::allocate(input.getType());
  if (full && result && result->size()) {
    std::memcpy(result->mutableBytes(), full->getBytes().data(),
                full->getBytes().size());
  }
  return full ? result : std::nullopt;
}

std::optional<Tensor> scatterElements(ScatterElementsOp op,
                                      ArrayRef<Tensor> operands) {
  auto result = copyOf(operands[0]);
  auto updates = operands[2].expanded();
  if (!result || !updates) {
    return std::nullopt;
  }
  unsigned width = result->getByteWidth();
  char *to = result->mutableBytes();
  const char *from = updates->getBytes().data();
  forElements(operands[1], result->getShape(), op.getAxis(),
              [&](int64_t i, int64_t offset) {
                combine(op.getReduction(), result->getKind(),
                        to + offset * width, from + i * width, 1);
              });
  return result;
}

std::optional<Tensor> scatterNd(ScatterNdOp op, ArrayRef<Tensor> operands) {
  auto result = copyOf(operands[0]);
  auto updates = operands[2].expanded();
  if (!result || !updates) {
    return std::nullopt;
  }
  if (updates->size() == 0) {
    return result;
  }
  const Tensor &indices = operands[1];
  ArrayRef<int64_t> shape = result->getShape();
  Dims strides = getStrides(shape);
  int64_t tuples = product(indices.getShape().drop_back());
  int64_t count = updates->size() / tuples;
  unsigned width = result->getByteWidth();
  char *to = result->mutableBytes();
  const char *from = updates->getBytes().data();
  for (int64_t t = 0; t < tuples; ++t, from += count * width) {
    int64_t offset = getTupleOffset(indices, t, shape, strides);
    combine(op.getReduction(), result->getKind(), to + offset * width, from,
            count);
  }
  return result;
}
} // namespace

void ref::attachIndexing(MLIRContext *context) {
  attach<gather>(context);
  attach<gatherElements>(context);
  attach<gatherNd>(context);
  attach<scatterElements>(context);
  attach<scatterNd>(context);
}
