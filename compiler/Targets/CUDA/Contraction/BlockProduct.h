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

  static std::unique_ptr<BlockProduct>
  create(ProductKind kind, CudaEmitter &e, const GemmView &view,
         const TileShape &tile, SharedTile &left, SharedTile &right);

  /// How a product of `kind` wants an operand to lie in shared memory, where
  /// `alongK` says which way its rows run.
  static SharedTile::Swizzle swizzleFor(ProductKind kind, bool alongK);

  /// Computes what depends on the thread alone; to be called before the others.
  void begin(mlir::Value thread);

  /// The sums of a thread before the first slice.
  virtual llvm::SmallVector<mlir::Value> zeros() = 0;

  /// Adds the product of the slices `base` bytes behind the first.
  virtual void multiply(mlir::Value base,
                        llvm::MutableArrayRef<mlir::Value> sums) = 0;

  /// Hands over the sums of a band: of `bandRows` rows of each warp's share,
  /// which stand below each other. They have to be called for all bands.
  virtual void handOver(mlir::ValueRange sums, int64_t band,
                        ContractionEpilogue &epilogue) = 0;

  /// The row of the tile that row `local` of band number `band` is.
  mlir::Value rowInTile(mlir::Value band, mlir::Value local);

protected:
  SharedTile &shared(GemmView::Side side) {
    return side == GemmView::Side::Left ? left : right;
  }
  /// The first line of this warp's share.
  mlir::Value warpLine(GemmView::Side side) const {
    return side == GemmView::Side::Left ? warpRow : warpColumn;
  }
  /// The first row of this warp's share of a band.
  mlir::Value bandRow() {
    return e.mulIndex(div(warpRow, tile.warpM), TileShape::bandRows);
  }
  mlir::Value div(mlir::Value value, int64_t by);
  mlir::Value rem(mlir::Value value, int64_t by);

  CudaEmitter &e;
  const GemmView &view;
  const TileShape &tile;
  SharedTile &left, &right;
  mlir::Value lane, warpRow, warpColumn;
};

/// On tensor cores: mma.sync on 16-bit operands, or on f32 ones as TF32.
class MmaProduct final : public BlockProduct {
public:
  using BlockProduct::BlockProduct;

  llvm::SmallVector<mlir::Value> zeros() override;
  void multiply(mlir::Value base,
                llvm::MutableArrayRef<mlir::Value> sums) override;
  void handOver(mlir::ValueRange sums, int64_t band,
                ContractionEpilogue &epilogue) override;

private:
  using Fragment = llvm::SmallVector<mlir::Value, 4>;

  bool isTf32() const { return left.element().isF32(); }
  Fragment loadFragment(GemmView::Side side, mlir::Value base, int64_t line,
                        int64_t k);
  Fragment loadElements(GemmView::Side side, mlir::Value base, int64_t line,
                        int64_t k);
};

/// By fused multiply-adds of scalars, on a small matrix in the registers of
/// each thread. The lanes of a warp stand as 4 rows of 8.
class FmaProduct final : public BlockProduct {
public:
  using BlockProduct::BlockProduct;

  llvm::SmallVector<mlir::Value> zeros() override;
  void multiply(mlir::Value base,
                llvm::MutableArrayRef<mlir::Value> sums) override;
  void handOver(mlir::ValueRange sums, int64_t band,
                ContractionEpilogue &epilogue) override;

private:
  /// Lanes of a warp along a side, and the lines of that side each has.
  static int64_t lanesAlong(GemmView::Side side) {
    return side == GemmView::Side::Left ? 4 : 8;
  }
  int64_t linesOf(GemmView::Side side) const {
    return side == GemmView::Side::Left ? tile.warpM / 4 : tile.warpN / 8;
  }
  int64_t groupOf(GemmView::Side side) const;
  mlir::Value lineInWarp(GemmView::Side side);
  mlir::Value laneLine(GemmView::Side side);
  int64_t moreLines(GemmView::Side side, int64_t i) const;
  llvm::SmallVector<mlir::Value> loadLines(GemmView::Side side,
                                           mlir::Value base, int64_t k);
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CONTRACTION_BLOCKPRODUCT_H
