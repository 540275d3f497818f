//===- Contraction.h - Parts of a contraction kernel ----------------------===//
#ifndef AMPC_COMPILER_TARGETS_CPU_CONTRACTION_H
#define AMPC_COMPILER_TARGETS_CPU_CONTRACTION_H

#include "compiler/Targets/CPU/CpuEmitter.h"
#include <memory>

namespace ampc::cpu {

/// A contraction seen as `batch` products of an m x k by a k x n matrix. Rows
/// are pixels and columns output channels when it is a convolution.
class ContractionView {
public:
  virtual ~ContractionView() = default;

  /// The view of `op` with f32 accumulators; none when the op has a form that
  /// the panel kernel does not cover. Several compute disjoint parts of the
  /// result.
  static llvm::SmallVector<std::unique_ptr<ContractionView>>
  create(mlir::Operation *op);

  /// Stores columns [0, k) of row `row` of the left matrix as f32 at `target`.
  /// Fails where an access cannot be emitted.
  virtual mlir::LogicalResult packRow(CpuEmitter &emitter, mlir::Value batch,
                                      mlir::Value row,
                                      mlir::Value target) const = 0;

  /// When the left matrix is plain f32 in memory: the pointer to its row and
  /// the distance between rows in elements. Nullopt otherwise.
  virtual std::optional<std::pair<mlir::Value, int64_t>>
  directRows(CpuEmitter &emitter, mlir::Value batch) const {
    (void)emitter;
    (void)batch;
    return std::nullopt;
  }

  /// Stores the k x `panel` block of the right matrix from column `column` on
  /// as f32 at `target`, zero beyond column n.
  virtual mlir::LogicalResult packPanel(CpuEmitter &emitter, mlir::Value batch,
                                        mlir::Value column, int64_t panel,
                                        mlir::Value target) const = 0;

  /// The index of the result's element at (batch, row, column).
  virtual llvm::SmallVector<mlir::Value>
  resultIndex(CpuEmitter &emitter, mlir::Value batch, mlir::Value row,
              mlir::Value column) const = 0;

  /// The kernel argument that holds the right matrix in panels of `panel`
  /// columns, and whether each batch has its own; null when it is not packed.
  mlir::BlockArgument packedArgument;
  bool packedPerBatch = false;
  int64_t panel = 0;

  /// Of a right matrix in panels that has more than k rows: the runs of rows
  /// that are multiplied with the left columns, in their order.
  struct Run {
    int64_t row = 0, size = 0;
  };
  llvm::SmallVector<Run> runs; ///< none: all rows
  int64_t rightRows() const { return runs.empty() ? k : allRows; }

  mlir::Value result; ///< of the root op
  mlir::Value bias;   ///< may be null
  int64_t batch = 1, m = 0, n = 0, k = 0;

protected:
  int64_t allRows = 0;
};

/// A transposed convolution with strides as one product for each position
/// within a stride, over the taps that reach it: no zeros between inputs are
/// multiplied. None where the strides do not divide the result.
llvm::SmallVector<std::unique_ptr<ContractionView>>
createPhaseViews(amp::ConvTransposeOp op);

/// A block of a matrix in memory: element (i, j) lies at
/// `pointer[offset + i * stride + j * step]`.
struct MatrixBlock {
  mlir::Value pointer, offset;
  int64_t stride = 0;
  mlir::Type element; ///< as stored
  int64_t step = 1;   ///< of the left matrix of a tile; 1 elsewhere
};

/// Multiplies `height` rows of `left` (f32, `k` columns) by `vectors` vectors
/// of columns of `right` (`k` rows) in registers and stores the f32 products at
/// `target`, added to what is there if `accumulate` says so. The order in which
/// k is summed is fixed by `height` and `vectors`.
void emitTile(CpuEmitter &emitter, const MatrixBlock &left,
              const MatrixBlock &right, mlir::Value k, int64_t height,
              int64_t vectors, const MatrixBlock &target,
              bool accumulate = false);

/// Stores `count` elements that `get(i, lanes)` gives as f32 from element
/// `offset` of `target` on: vectors first, then a scalar tail. Fails where
/// `get` does.
mlir::LogicalResult copyRun(
    CpuEmitter &emitter, mlir::Value count, mlir::Value target,
    mlir::Value offset,
    llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value, int64_t)> get);

/// Copies the `channels` elements of a channels-last tensor that lie at the
/// outer index `at`, or zeros where `inside` does not hold; without it they all
/// do.
mlir::LogicalResult copyChannels(CpuEmitter &emitter, mlir::Value tensor,
                                 llvm::ArrayRef<LaneIndex> at, int64_t channels,
                                 mlir::Value inside, mlir::Value target,
                                 mlir::Value offset);

/// Rows of a tile whose accumulators fit the vector registers.
int64_t tileRowsFor(const CpuTraits &traits, int64_t vectors);

/// A depthwise convolution in channels_last with panels of channels; fails
/// without a diagnostic when the op is none.
mlir::LogicalResult emitDepthwiseKernel(CpuEmitter &emitter,
                                        mlir::Operation *root);

/// The gradient of a convolution's weight as a product over positions; fails
/// without a diagnostic when it has no such form.
mlir::LogicalResult emitWeightGradientKernel(CpuEmitter &emitter,
                                             mlir::Operation *root);

/// The same of a depthwise convolution in channels_last.
mlir::LogicalResult emitDepthwiseGradientKernel(CpuEmitter &emitter,
                                                mlir::Operation *root);

} // namespace ampc::cpu

#endif // AMPC_COMPILER_TARGETS_CPU_CONTRACTION_H
