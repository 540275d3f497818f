//===- FlashAttention.h - Attention on tensor cores -----------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_ATTENTION_FLASHATTENTION_H
#define AMPC_COMPILER_TARGETS_CUDA_ATTENTION_FLASHATTENTION_H

#include "compiler/Targets/CUDA/Attention/FlashShape.h"
#include "compiler/Targets/CUDA/MmaFragment.h"

namespace ampc::cuda {

/// Emits an attention whose operands are all f16, or all bf16.
class FlashAttention {
public:
  /// With `vectors`, the epilogue works on eight columns at once; `emit` fails
  /// where the kernel's body has no such form.
  FlashAttention(CudaEmitter &e, amp::AttentionOp op, const FlashShape &shape,
                 bool vectors);

  mlir::LogicalResult emit();

private:
  /// What a thread knows of its rows: `result` in fragments of 16 rows and 8
  /// columns, the rest for each row it has a part of.
  struct State {
    llvm::SmallVector<mlir::Value> result; ///< relative to 2^(factor * largest)
    llvm::SmallVector<mlir::Value> largest; ///< score so far
    llvm::SmallVector<mlir::Value> sum;     ///< of this thread's powers
  };

  /// How many blocks of keys all queries of this block see whole, and how many
  /// any sees at all.
  struct KeyBlocks {
    mlir::Value whole, all;
  };

  void emitBlock();
  KeyBlocks keyBlocks();
  llvm::SmallVector<mlir::Value> initialState();
  llvm::SmallVector<mlir::Value> pack(const State &state);
  State unpack(mlir::ValueRange all);
  llvm::SmallVector<mlir::Value> multiplyQueries(FragmentLoader &fragments,
                                                 llvm::ArrayRef<Fragment> kept,
                                                 mlir::Value stage);
  std::array<mlir::Value, 2> finishPair(mlir::Value first, mlir::Value second,
                                        mlir::Value row, mlir::Value key,
                                        bool isPartial);
  void accumulate(State &state, llvm::ArrayRef<mlir::Value> products,
                  mlir::Value firstKey, bool isPartial,
                  FragmentLoader &fragments, mlir::Value stage);
  mlir::Value powerOfTwo(mlir::Value exponent);
  void finish(State &state);
  void handOver(llvm::ArrayRef<mlir::Value> result, int64_t first,
                int64_t columns);
  void emitResult(int64_t first, int64_t columns);
  mlir::Value f32(double value);

  CudaEmitter &e;
  amp::AttentionOp op;
  codegen::AttentionSizes sizes;
  FlashShape shape;
  bool vectors;
  mlir::Type element;
  SharedTile queryTile, keyTile, valueTile;
  /// Fragments of a warp's queries, of a block of keys, of the result.
  int64_t rowTiles, keyTiles, columnTiles;
  /// A probability is 2^(factor * (score - largest)) over the sum of these.
  double factor;
  bool foldsScale;  ///< scores are bare products; the factor has the scale
  bool fusesFactor; ///< factor * score is one FMA with the subtraction
  llvm::SmallVector<mlir::Value> head; ///< batch and head of the queries
  mlir::Value group;                   ///< head of keys and values
  mlir::Value firstRow, warpRow, thread, lane;
  bool ok = true;
};

/// Emits `op` on tensor cores; fails without a diagnostic where its types or
/// sizes have no such form.
mlir::LogicalResult emitFlashAttention(CudaEmitter &emitter,
                                       amp::AttentionOp op);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_ATTENTION_FLASHATTENTION_H
