//===- BlockProduct.h - How a block multiplies two slices -----------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_BLOCKPRODUCT_H
#define AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_BLOCKPRODUCT_H

#include "compiler/Targets/CUDA/Contraction/SharedTile.h"
#include "compiler/Targets/CUDA/Contraction/TileShape.h"

namespace ampc::cuda {

/// Multiplies slices of both operands that lie in shared memory; each thread
/// holds a share of the sums in registers.
class BlockProduct {
public:
  BlockProduct(CudaEmitter &e, const GemmView &view, const TileShape &tile,
               SharedTile &left, SharedTile &right)
      : e(e), view(view), tile(tile), left(left), right(right) {}
  virtual ~BlockProduct() = default;

  /// Computes what depends on the thread alone; to be called before the others.
  virtual void begin(mlir::Value thread) = 0;

  /// The sums of a thread before the first slice.
  virtual llvm::SmallVector<mlir::Value> zeros() = 0;

  /// Adds the product of the slices `base` bytes behind the first.
  virtual void multiply(mlir::Value base,
                        llvm::MutableArrayRef<mlir::Value> sums) = 0;

  virtual void handOver(mlir::ValueRange sums,
                        ContractionEpilogue &epilogue) = 0;

protected:
  CudaEmitter &e;
  const GemmView &view;
  const TileShape &tile;
  SharedTile &left, &right;
};

/// 16-bit operands on tensor cores: ldmatrix and mma.sync.
class MmaProduct final : public BlockProduct {
public:
  using BlockProduct::BlockProduct;

  void begin(mlir::Value thread) override;
  llvm::SmallVector<mlir::Value> zeros() override;
  void multiply(mlir::Value base,
                llvm::MutableArrayRef<mlir::Value> sums) override;
  void handOver(mlir::ValueRange sums, ContractionEpilogue &epilogue) override;

private:
  using Fragment = llvm::SmallVector<mlir::Value, 4>;

  Fragment loadFragment(GemmView::Side side, mlir::Value base, int64_t line,
                        int64_t k);
  void multiplyFragments(llvm::ArrayRef<mlir::Value> a,
                         llvm::ArrayRef<mlir::Value> b,
                         llvm::MutableArrayRef<mlir::Value> sums);

  mlir::Value lane, warpRow, warpColumn;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_BLOCKPRODUCT_H
