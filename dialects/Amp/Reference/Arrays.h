//===- Arrays.h - Whole tensors as arrays to compute with -----------------===//
// For ops that read each element many times. T is double for floats and
// uint64_t, in which sums and products wrap, for integers.
#ifndef AMPC_DIALECTS_AMP_REFERENCE_ARRAYS_H
#define AMPC_DIALECTS_AMP_REFERENCE_ARRAYS_H

#include "dialects/Amp/Reference/Convert.h"
#include "dialects/Amp/Reference/Strided.h"

#include <vector>

namespace ampc::ref {

inline void loadArray(const Tensor &tensor, std::vector<double> &values) {
  values.resize(tensor.size());
  loadDoubles(tensor.getKind(), tensor.getBytes().data(),
              tensor.isSplat() ? 0 : 1, tensor.size(), values.data());
}
inline void loadArray(const Tensor &tensor, std::vector<uint64_t> &values) {
  values.resize(tensor.size());
  loadInts(tensor.getKind(), tensor.getBytes().data(), tensor.isSplat() ? 0 : 1,
           tensor.size(), reinterpret_cast<int64_t *>(values.data()));
}

template <typename T>
std::vector<T> getArray(const Tensor &tensor) {
  std::vector<T> values;
  loadArray(tensor, values);
  return values;
}

/// The elements of `tensor` broadcast to `shape`, in row-major order.
template <typename T>
std::vector<T> getBroadcastArray(const Tensor &tensor,
                                 llvm::ArrayRef<int64_t> shape) {
  std::vector<T> values = getArray<T>(tensor), all;
  all.reserve(*getNumElements(shape));
  Dims strides(shape.size(), 0), own = getStrides(tensor.getShape());
  size_t lead = shape.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i) {
    strides[lead + i] = tensor.getShape()[i] == 1 ? 0 : own[i];
  }
  walkRows(shape, strides,
           [&](llvm::ArrayRef<int64_t> offsets, int64_t length,
               llvm::ArrayRef<int64_t> steps) {
             for (int64_t i = 0; i < length; ++i) {
               all.push_back(values[offsets[0] + i * steps[0]]);
             }
           });
  return all;
}

inline void storeArray(Kind kind, llvm::ArrayRef<double> values, char *to) {
  storeDoubles(kind, values.data(), values.size(), to);
}
inline void storeArray(Kind kind, llvm::ArrayRef<uint64_t> values, char *to) {
  storeInts(kind, reinterpret_cast<const int64_t *>(values.data()),
            values.size(), to);
}

} // namespace ampc::ref

#endif // AMPC_DIALECTS_AMP_REFERENCE_ARRAYS_H
