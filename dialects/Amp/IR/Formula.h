//===- Formula.h - Writes formulas on tensors as amp ops --------*- C++ -*-===//
#ifndef AMPC_DIALECTS_AMP_IR_FORMULA_H
#define AMPC_DIALECTS_AMP_IR_FORMULA_H

#include "dialects/Amp/IR/AmpOps.h"

namespace ampc::amp {

/// Builds ops one after the other. Binary functions broadcast as NumPy does.
class Formula {
public:
  Formula(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  static llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
    return typeOf(value).getShape();
  }
  static mlir::Type elementOf(mlir::Value value) {
    return typeOf(value).getElementType();
  }

  /// `value` in the type formulas compute in.
  mlir::Value wide(mlir::Value value);
  mlir::Value cast(mlir::Value value, mlir::Type element);

  /// A constant of rank 0, of any integer or float type.
  mlir::Value number(mlir::Type element, double value);
  /// A constant with the element type of `like`, of rank 0.
  mlir::Value constant(mlir::Value like, double value);
  /// A constant of the shape and element type of `like`.
  mlir::Value full(mlir::Value like, double value);

  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value scale(mlir::Value value, double factor);
  mlir::Value plus(mlir::Value value, double addend);
  mlir::Value neg(mlir::Value value);
  mlir::Value square(mlir::Value value) { return mul(value, value); }
  mlir::Value compare(mlir::Value lhs, ComparePredicate predicate,
                      mlir::Value rhs);
  mlir::Value compare(mlir::Value lhs, ComparePredicate predicate, double rhs) {
    return compare(lhs, predicate, constant(lhs, rhs));
  }
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);
  /// `value` where the condition holds, else 0.
  mlir::Value where(mlir::Value condition, mlir::Value value) {
    return select(condition, value, constant(value, 0));
  }
  mlir::Value both(mlir::Value lhs, mlir::Value rhs);

  template <typename OpT>
  mlir::Value apply(mlir::Value value) {
    return OpT::create(b, loc, value);
  }

  /// Sums over axes, which stay as ones.
  mlir::Value sum(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  mlir::Value mean(mlir::Value value, llvm::ArrayRef<int64_t> axes);
  /// Sums over what NumPy broadcast `shape` to.
  mlir::Value sumTo(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides = {});
  /// Zeros before and after; negative amounts crop.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high);
  /// Multiplies along one dimension by a matrix [n, m], or [m, n] if it is
  /// `transposed`: result[.., j, ..] = sum_i value[.., i, ..] * matrix[i, j].
  mlir::Value applyAlong(mlir::Value value, int64_t axis, mlir::Value matrix,
                         bool transposed);

  /// A product with f32 accumulators, whose result has `element` type.
  mlir::Value matmul(mlir::Value lhs, bool transposeLhs, mlir::Value rhs,
                     bool transposeRhs, mlir::Type element);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Every axis of `value`, `from` on.
llvm::SmallVector<int64_t> axesFrom(mlir::Value value, int64_t from);

/// The permutation that undoes another.
llvm::SmallVector<int64_t> invert(llvm::ArrayRef<int64_t> permutation);

} // namespace ampc::amp

#endif // AMPC_DIALECTS_AMP_IR_FORMULA_H
