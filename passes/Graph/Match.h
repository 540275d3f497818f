//===- Match.h - What graph rewrites ask of values --------------*- C++ -*-===//
#ifndef AMPC_PASSES_GRAPH_MATCH_H
#define AMPC_PASSES_GRAPH_MATCH_H

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace ampc::graph {

/// The tensor type of a value; every amp value has one.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// The number that all elements of `value` are, if it is known: a splat or a
/// single element, possibly reshaped or broadcast.
std::optional<double> getScalarConstant(mlir::Value value);

/// Whether `value` is `expected` but for the rounding of an exporter: within
/// 1e-6, or half a unit in the last place of a 16-bit element type.
bool isClose(double value, double expected, mlir::Type elementType);

/// Whether `value` is a constant scalar close to `expected`.
bool isScalarConstant(mlir::Value value, double expected);

/// Whether `value` is computed from constants alone, in a few steps.
bool isConstantExpression(mlir::Value value);

/// Whether two values are one, or equal ops of equal operands.
bool isSameValue(mlir::Value lhs, mlir::Value rhs);

/// A value and the scalar it is combined with.
struct WithScalar {
  mlir::Value value;
  double scalar;
};

/// Matches `OpT(x, c)`, or `OpT(c, x)` where OpT commutes, with a constant
/// scalar c that leaves the shape of x alone.
template <typename OpT>
std::optional<WithScalar> matchWithScalar(mlir::Value result) {
  auto op = result.getDefiningOp<OpT>();
  if (!op) {
    return std::nullopt;
  }
  unsigned orders =
      OpT::template hasTrait<mlir::OpTrait::IsCommutative>() ? 2 : 1;
  for (unsigned i = 0; i < orders; ++i) {
    mlir::Value value = op->getOperand(i), scalar = op->getOperand(1 - i);
    if (value.getType() != result.getType()) {
      continue;
    }
    if (auto number = getScalarConstant(scalar)) {
      return WithScalar{value, *number};
    }
  }
  return std::nullopt;
}

/// Matches a multiplication or division by a constant scalar; `scalar` is the
/// factor.
std::optional<WithScalar> matchScale(mlir::Value result);

/// The base of a square: mul(x, x) or pow(x, 2); null when it is none.
mlir::Value matchSquare(mlir::Value result);

/// A mean over axes, whatever way it is written.
struct Mean {
  mlir::Value input;
  llvm::SmallVector<int64_t> axes; ///< sorted
};

/// Matches a mean whose result has the rank of its input, with ones in the
/// reduced dimensions: reduce_mean, or reduce_sum scaled by 1 / N; a reshape
/// may put the ones back.
std::optional<Mean> matchMean(mlir::Value result);

/// The location of a rewrite: that of every op on a path from `root` back to
/// one of `leaves`, in program order, so that each node's name survives.
mlir::Location fuseLocations(mlir::Operation *root, mlir::ValueRange leaves);

} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_MATCH_H
