//===- Rows.h - Tensors as rows over some dimensions ----------------------===//
#ifndef AMPC_DIALECTS_AMP_REFERENCE_ROWS_H
#define AMPC_DIALECTS_AMP_REFERENCE_ROWS_H

#include "dialects/Amp/Reference/Convert.h"
#include "dialects/Amp/Reference/Strided.h"

namespace ampc::ref {

/// A tensor taken apart along `axes`: one row for each index of the other
/// dimensions, whose elements run over the axes in row-major order.
class Rows {
public:
  /// `axes` is sorted.
  Rows(const Tensor &tensor, llvm::ArrayRef<int64_t> axes);

  /// Elements of one row; 1 without axes.
  int64_t getLength() const { return length; }

  /// Calls `visit` with the number and the first element of each row, in
  /// row-major order of the dimensions that are no axes.
  void forEach(llvm::function_ref<void(int64_t row, int64_t base)> visit) const;

  /// The elements of the row at `base`.
  void load(int64_t base, llvm::MutableArrayRef<double> values) const;
  void load(int64_t base, llvm::MutableArrayRef<int64_t> values) const;

  /// The elements of the row at `base`, some at a time, in order.
  void stream(int64_t base,
              llvm::function_ref<void(llvm::ArrayRef<double>)> visit) const;
  void stream(int64_t base,
              llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit) const;

  /// Writes the row at `base` of a tensor that is laid out as this one and not
  /// a splat.
  void store(char *bytes, int64_t base, llvm::ArrayRef<double> values) const;
  void store(char *bytes, int64_t base, llvm::ArrayRef<int64_t> values) const;

private:
  template <typename T>
  void streamAs(int64_t base,
                llvm::function_ref<void(llvm::ArrayRef<T>)> visit) const;
  template <typename T>
  void storeAs(char *bytes, int64_t base, llvm::ArrayRef<T> values) const;

  Tensor tensor;
  Dims keptShape, rowShape;
  /// Strides for reading, which are 0 in a splat, and those of the layout.
  Dims keptStrides, rowStrides, keptLayout, rowLayout;
  int64_t length = 1;
};

} // namespace ampc::ref

#endif // AMPC_DIALECTS_AMP_REFERENCE_ROWS_H
