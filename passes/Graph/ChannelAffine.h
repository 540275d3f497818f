//===- ChannelAffine.h - x * scale + shift per channel ----------*- C++ -*-===//
#ifndef AMPC_PASSES_GRAPH_CHANNELAFFINE_H
#define AMPC_PASSES_GRAPH_CHANNELAFFINE_H

#include "dialects/Amp/IR/AmpOps.h"

namespace ampc::graph {

/// A function x * scale + shift of each channel. Both are vectors of one
/// element per channel, or of one element for all, in a type of at least 32
/// bits; absent: 1 and 0.
struct ChannelAffine {
  mlir::Value scale, shift;
};

/// The type in which parameters of `element` are combined: f64 or f32.
mlir::Type getParameterType(mlir::Type element);

/// `value` with elements of `element` type.
mlir::Value castElements(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value value, mlir::Type element);

/// `value` under another shape of as many elements.
mlir::Value reshapeTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      llvm::ArrayRef<int64_t> shape);

/// The batch normalization as a function of each channel, computed from its
/// parameters by ops at `b`.
ChannelAffine computeAffine(mlir::OpBuilder &b, amp::BatchNormOp op);

} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_CHANNELAFFINE_H
