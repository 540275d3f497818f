//===- GemmView.h - Contractions as products of matrices ------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_GEMMVIEW_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_GEMMVIEW_H

#include "compiler/Targets/CUDA/CudaEmitter.h"
#include <memory>

namespace ampc::cuda {

/// A contraction seen as `batch` products of an m x k by a k x n matrix. Rows
/// are pixels and columns output channels when it is a convolution (implicit
/// im2col); then k counts taps, and channels within a tap, and the batches are
/// groups. In the gradient of a convolution's weight, k counts pixels.
class GemmView {
public:
  virtual ~GemmView() = default;

  /// The view of `op`; null when the op has a form that is no such product.
  static std::unique_ptr<GemmView> create(mlir::Operation *op);

  /// One of the two matrices. A line of it is a row of the left one, a column
  /// of the right one: what runs along k.
  enum class Side { Left, Right };
  struct Operand {
    mlir::Type element; ///< as the op reads it
    /// Whether neighbours along k lie side by side in memory; neighbours along
    /// the other dimension do otherwise.
    bool alongK = true;
    /// `lanes` neighbours never straddle a boundary of memory when the first
    /// is a multiple of it: what this is, at most 8.
    int64_t lanes = 1;
  };
  Operand left, right;
  const Operand &operand(Side side) const {
    return side == Side::Left ? left : right;
  }
  /// The lines of a matrix.
  int64_t extent(Side side) const { return side == Side::Left ? m : n; }

  /// Where elements of an operand come from.
  struct Place {
    mlir::Value tensor;
    llvm::SmallVector<LaneIndex> index;
    /// The elements are zeros where this does not hold (a convolution's
    /// padding), and the index must not be used; null: always.
    mlir::Value inside;
  };
  /// A position along k, as the sum of where a slice begins and of what lies
  /// within it. The former is a multiple of `depth` and the same for all
  /// threads of a block, the latter is less than `depth`.
  struct Depth {
    mlir::Value slice, within;
    int64_t depth = 1;

    mlir::Value total(CudaEmitter &e) const {
      return e.addIndex(slice, within);
    }
  };
  /// The place of `count` elements from (line, kk) on along the contiguous
  /// dimension. The position must be inside the matrix for it to be used.
  virtual Place place(CudaEmitter &e, Side side, mlir::Value batch,
                      mlir::Value line, const Depth &kk, int64_t count) = 0;

  /// `count` elements at a place, in the compute type.
  mlir::FailureOr<mlir::Value> elements(CudaEmitter &e, Side side,
                                        const Place &place, int64_t count);

  /// The index of the result's element at (batch, row, column).
  virtual llvm::SmallVector<mlir::Value> resultIndex(CudaEmitter &e,
                                                     mlir::Value batch,
                                                     mlir::Value row,
                                                     mlir::Value column) = 0;

  /// The dimension of the result along which neighbouring columns lie side by
  /// side; none where they do not.
  virtual std::optional<int64_t> columnDimension() const {
    return codegen::shapeOf(result).size() - 1;
  }

  mlir::Value result; ///< of the root op
  mlir::Value bias;   ///< may be null
  int64_t batch = 1, m = 0, n = 0, k = 0;

protected:
  /// The largest power of two up to 8 that divides `size`.
  static int64_t lanesFor(int64_t size) {
    return size == 0 ? 1 : std::min<int64_t>(8, size & -size);
  }
};

/// The views of each kind of contraction; null where the op has none.
std::unique_ptr<GemmView> createMatmulView(mlir::Operation *op);
std::unique_ptr<GemmView> createConvView(mlir::Operation *op);
std::unique_ptr<GemmView> createWeightGradientView(mlir::Operation *op);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_GEMMVIEW_H
