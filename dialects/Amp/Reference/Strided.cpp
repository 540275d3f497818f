//===- Strided.cpp - Walks over tensors with strides ----------------------===//
#include "dialects/Amp/Reference/Strided.h"

#include <cstring>

using namespace llvm;
using namespace ampc;
using namespace ampc::ref;

Dims ref::getStrides(ArrayRef<int64_t> shape) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    // A zero anywhere makes the tensor empty: its strides are never used.
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

Dims ref::getStoredStrides(const Tensor &tensor) {
  return tensor.isSplat() ? Dims(tensor.getRank(), 0)
                          : getStrides(tensor.getShape());
}

Dims ref::getBroadcastStrides(const Tensor &tensor, ArrayRef<int64_t> shape) {
  Dims strides(shape.size(), 0);
  Dims own = getStoredStrides(tensor);
  size_t lead = shape.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i) {
    strides[lead + i] = tensor.getShape()[i] == 1 ? 0 : own[i];
  }
  return strides;
}

/// Drops dimensions of size 1 and joins neighbours that every array steps
/// through as one. `shape` has no zero.
static void collapse(ArrayRef<int64_t> shape, ArrayRef<Dims> strides,
                     Dims &joined, SmallVectorImpl<Dims> &steps) {
  steps.assign(strides.size(), Dims());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) {
      continue;
    }
    bool joins = !joined.empty();
    for (size_t a = 0; joins && a < strides.size(); ++a) {
      joins = steps[a].back() == strides[a][i] * shape[i];
    }
    if (joins) {
      joined.back() *= shape[i];
    } else {
      joined.push_back(shape[i]);
    }
    for (size_t a = 0; a < strides.size(); ++a) {
      if (joins) {
        steps[a].back() = strides[a][i];
      } else {
        steps[a].push_back(strides[a][i]);
      }
    }
  }
}

void ref::walkRows(
    ArrayRef<int64_t> shape, ArrayRef<Dims> strides,
    function_ref<void(ArrayRef<int64_t>, int64_t, ArrayRef<int64_t>)> row) {
  if (is_contained(shape, 0)) {
    return;
  }
  Dims sizes;
  SmallVector<Dims> steps;
  collapse(shape, strides, sizes, steps);
  Dims offsets(strides.size(), 0);
  if (sizes.empty()) {
    row(offsets, 1, offsets);
    return;
  }
  Dims inner;
  for (Dims &step : steps) {
    inner.push_back(step.back());
  }
  size_t outer = sizes.size() - 1;
  Dims index(outer, 0);
  while (true) {
    row(offsets, sizes.back(), inner);
    size_t dim = outer;
    while (dim > 0 && ++index[dim - 1] == sizes[dim - 1]) {
      --dim;
      index[dim] = 0;
      for (size_t a = 0; a < offsets.size(); ++a) {
        offsets[a] -= steps[a][dim] * (sizes[dim] - 1);
      }
    }
    if (dim == 0) {
      return;
    }
    for (size_t a = 0; a < offsets.size(); ++a) {
      offsets[a] += steps[a][dim - 1];
    }
  }
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {
template <typename Raw>
void copyRow(char *to, int64_t toStep, const char *from, int64_t fromStep,
             int64_t length) {
  if (toStep == 1 && fromStep == 1) {
    std::memcpy(to, from, length * sizeof(Raw));
    return;
  }
  for (int64_t i = 0; i < length; ++i) {
    std::memcpy(to + i * toStep * static_cast<int64_t>(sizeof(Raw)),
                from + i * fromStep * static_cast<int64_t>(sizeof(Raw)),
                sizeof(Raw));
  }
}

/// Copies a matrix whose rows are long steps apart in `from` in square blocks,
/// each of which stays in cache while it is read across and written along.
template <typename Raw>
void copyMatrix(char *to, int64_t toRow, int64_t toColumn, const char *from,
                int64_t fromRow, int64_t fromColumn, int64_t rows,
                int64_t columns) {
  constexpr int64_t block = 64 / sizeof(Raw);
  constexpr int64_t width = sizeof(Raw);
  for (int64_t r = 0; r < rows; r += block) {
    int64_t rowEnd = std::min(rows, r + block);
    for (int64_t c = 0; c < columns; c += block) {
      int64_t length = std::min(columns - c, block);
      for (int64_t i = r; i < rowEnd; ++i) {
        copyRow<Raw>(to + (i * toRow + c * toColumn) * width, toColumn,
                     from + (i * fromRow + c * fromColumn) * width, fromColumn,
                     length);
      }
    }
  }
}

template <typename Raw>
void copyAll(ArrayRef<int64_t> shape, char *to, ArrayRef<int64_t> toStrides,
             const char *from, ArrayRef<int64_t> fromStrides) {
  Dims sizes;
  SmallVector<Dims> steps;
  collapse(shape, {Dims(toStrides), Dims(fromStrides)}, sizes, steps);
  // The dimension along which `from` is contiguous, unless `to` is as well.
  size_t last = sizes.size() - 1, near = last;
  if (!sizes.empty() && std::abs(steps[1][last]) > 1) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      near = std::abs(steps[1][i]) == 1 ? i : near;
    }
  }
  constexpr int64_t width = sizeof(Raw);
  if (near == last) {
    walkRows(
        sizes, steps,
        [&](ArrayRef<int64_t> offsets, int64_t length, ArrayRef<int64_t> step) {
          copyRow<Raw>(to + offsets[0] * width, step[0],
                       from + offsets[1] * width, step[1], length);
        });
    return;
  }
  Dims outer = sizes;
  outer[near] = outer[last] = 1;
  walkRows(
      outer, steps,
      [&](ArrayRef<int64_t> offsets, int64_t length, ArrayRef<int64_t> step) {
        for (int64_t i = 0; i < length; ++i) {
          copyMatrix<Raw>(
              to + (offsets[0] + i * step[0]) * width, steps[0][near],
              steps[0][last], from + (offsets[1] + i * step[1]) * width,
              steps[1][near], steps[1][last], sizes[near], sizes[last]);
        }
      });
}
} // namespace

void ref::copyStrided(unsigned width, ArrayRef<int64_t> shape, char *to,
                      ArrayRef<int64_t> toStrides, const char *from,
                      ArrayRef<int64_t> fromStrides) {
  if (is_contained(shape, 0)) {
    return;
  }
  switch (width) {
  case 1:
    return copyAll<uint8_t>(shape, to, toStrides, from, fromStrides);
  case 2:
    return copyAll<uint16_t>(shape, to, toStrides, from, fromStrides);
  case 4:
    return copyAll<uint32_t>(shape, to, toStrides, from, fromStrides);
  default:
    return copyAll<uint64_t>(shape, to, toStrides, from, fromStrides);
  }
}
