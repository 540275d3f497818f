//===- ConstantMask.h - Attention masks that are known ----------*- C++ -*-===//
#ifndef AMPC_PASSES_GRAPH_CONSTANTMASK_H
#define AMPC_PASSES_GRAPH_CONSTANTMASK_H

#include "mlir/IR/Value.h"

namespace ampc::graph {

/// A value added to a score, or put in its place, that is at least this low
/// takes all weight from it where another score of the row stays: exp of what
/// is 10^4 below the maximum is zero in every type.
inline constexpr double excludingFill = -1e4;

/// Whether `condition` is constant and leaves a score in each row: one where it
/// is true, or false if `inverted`.
bool keepsScoreInEachRow(mlir::Value condition, bool inverted);

/// Whether scores * `factor` - `offset` leaves each score where the constant
/// factor is one and the offset zero, and excludes it everywhere else, where
/// the factor is zero; a score is left in each row.
bool isFactorMask(mlir::Value factor, mlir::Value offset);

/// The d for which the constant `mask` of queries x keys keeps exactly the keys
/// j <= i + d of query i, with d >= 0. Float masks are added, boolean ones keep
/// where true.
std::optional<int64_t> matchCausalMask(mlir::Value mask, int64_t queries,
                                       int64_t keys);

} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_CONSTANTMASK_H
