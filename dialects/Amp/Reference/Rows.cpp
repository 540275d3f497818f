//===- Rows.cpp - Tensors as rows over some dimensions --------------------===//
#include "dialects/Amp/Reference/Rows.h"

using namespace llvm;
using namespace ampc;
using namespace ampc::ref;

Rows::Rows(const Tensor &tensor, ArrayRef<int64_t> axes) : tensor(tensor) {
  Dims layout = getStrides(tensor.getShape());
  for (int64_t i = 0; i < tensor.getRank(); ++i) {
    int64_t size = tensor.getShape()[i];
    bool inRow = is_contained(axes, i);
    (inRow ? rowShape : keptShape).push_back(size);
    (inRow ? rowLayout : keptLayout).push_back(layout[i]);
    length *= inRow ? size : 1;
  }
  rowStrides = tensor.isSplat() ? Dims(rowLayout.size(), 0) : rowLayout;
  keptStrides = tensor.isSplat() ? Dims(keptLayout.size(), 0) : keptLayout;
}

void Rows::forEach(function_ref<void(int64_t, int64_t)> visit) const {
  int64_t number = 0;
  walkRows(
      keptShape, keptLayout,
      [&](ArrayRef<int64_t> offsets, int64_t count, ArrayRef<int64_t> steps) {
        for (int64_t i = 0; i < count; ++i) {
          visit(number++, offsets[0] + i * steps[0]);
        }
      });
}

static void loadElements(Kind kind, const char *from, int64_t stride,
                         int64_t count, double *to) {
  loadDoubles(kind, from, stride, count, to);
}
static void loadElements(Kind kind, const char *from, int64_t stride,
                         int64_t count, int64_t *to) {
  loadInts(kind, from, stride, count, to);
}

template <typename T>
void Rows::streamAs(int64_t base, function_ref<void(ArrayRef<T>)> visit) const {
  constexpr int64_t chunk = 512;
  T values[chunk];
  int64_t width = tensor.getByteWidth();
  const char *from = tensor.getBytes().data();
  int64_t start = tensor.isSplat() ? 0 : base;
  walkRows(
      rowShape, rowStrides,
      [&](ArrayRef<int64_t> offsets, int64_t count, ArrayRef<int64_t> steps) {
        for (int64_t i = 0; i < count; i += chunk) {
          int64_t n = std::min(chunk, count - i);
          int64_t offset = start + offsets[0] + i * steps[0];
          loadElements(tensor.getKind(), from + offset * width, steps[0], n,
                       values);
          visit(ArrayRef<T>(values, n));
        }
      });
}

void Rows::stream(int64_t base,
                  function_ref<void(ArrayRef<double>)> visit) const {
  streamAs<double>(base, visit);
}
void Rows::stream(int64_t base,
                  function_ref<void(ArrayRef<int64_t>)> visit) const {
  streamAs<int64_t>(base, visit);
}

void Rows::load(int64_t base, MutableArrayRef<double> values) const {
  double *to = values.data();
  streamAs<double>(base, [&](ArrayRef<double> part) {
    to = std::copy(part.begin(), part.end(), to);
  });
}
void Rows::load(int64_t base, MutableArrayRef<int64_t> values) const {
  int64_t *to = values.data();
  streamAs<int64_t>(base, [&](ArrayRef<int64_t> part) {
    to = std::copy(part.begin(), part.end(), to);
  });
}

static void storeElement(Kind kind, double value, char *to) {
  storeDoubles(kind, &value, 1, to);
}
static void storeElement(Kind kind, int64_t value, char *to) {
  storeInts(kind, &value, 1, to);
}

template <typename T>
void Rows::storeAs(char *bytes, int64_t base, ArrayRef<T> values) const {
  const T *next = values.data();
  int64_t width = tensor.getByteWidth();
  walkRows(
      rowShape, rowLayout,
      [&](ArrayRef<int64_t> offsets, int64_t count, ArrayRef<int64_t> steps) {
        for (int64_t i = 0; i < count; ++i) {
          int64_t offset = base + offsets[0] + i * steps[0];
          storeElement(tensor.getKind(), *next++, bytes + offset * width);
        }
      });
}

void Rows::store(char *bytes, int64_t base, ArrayRef<double> values) const {
  storeAs<double>(bytes, base, values);
}
void Rows::store(char *bytes, int64_t base, ArrayRef<int64_t> values) const {
  storeAs<int64_t>(bytes, base, values);
}
