//===- MmaFragment.h - Registers that a warp multiplies -------------------===//
// A fragment is what each thread of a warp holds of a block of a matrix, as
// ldmatrix loads it and mma.sync takes it (PTX ISA, "Matrix fragments for
// mma.m16n8k16"): of 16-bit operands two elements in each i32.
#ifndef AMPC_COMPILER_TARGETS_CUDA_MMAFRAGMENT_H
#define AMPC_COMPILER_TARGETS_CUDA_MMAFRAGMENT_H

#include "compiler/Targets/CUDA/Contraction/SharedTile.h"

namespace ampc::cuda {

using Fragment = llvm::SmallVector<mlir::Value, 4>;

/// Loads fragments from tiles in shared memory. Each covers 16 x 16 elements:
/// one left operand of 16 rows, or two right operands of 8 columns.
class FragmentLoader {
public:
  FragmentLoader(CudaEmitter &e, mlir::Value lane);

  /// 16 rows from `row` + `offset` on and 16 elements along k from `k` on of a
  /// left operand whose rows lie along k.
  Fragment left(SharedTile &tile, mlir::Value base, mlir::Value row,
                int64_t offset, int64_t k);
  /// Columns `column` to `column` + 15 and 16 elements along k of a right
  /// operand whose columns lie along k.
  Fragment right(SharedTile &tile, mlir::Value base, int64_t column, int64_t k);
  /// The same of a right operand whose rows lie along the columns.
  Fragment rightTransposed(SharedTile &tile, mlir::Value base, int64_t column,
                           int64_t k);

private:
  CudaEmitter &e;
  mlir::Value within;    ///< the row of a matrix that this thread points at
  mlir::Value low, high; ///< bits of that matrix's number
};

/// acc += left x right for 16 x 8 results: 16 of 16-bit `element`s along k, or
/// 8 f32 as TF32, from four words of the left operand and two of the right one.
void multiplyAccumulate(CudaEmitter &e, mlir::Type element,
                        llvm::ArrayRef<mlir::Value> left,
                        llvm::ArrayRef<mlir::Value> right,
                        llvm::MutableArrayRef<mlir::Value> acc);

/// Two f32 rounded to 16-bit `element`s in one i32, `low` in the low half.
mlir::Value packPair(CudaEmitter &e, mlir::Type element, mlir::Value low,
                     mlir::Value high);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_MMAFRAGMENT_H
