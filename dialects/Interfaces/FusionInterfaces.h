//===- FusionInterfaces.h - What kernel formation asks of an op -----------===//
#ifndef AMPC_DIALECTS_INTERFACES_FUSIONINTERFACES_H
#define AMPC_DIALECTS_INTERFACES_FUSIONINTERFACES_H

#include "mlir/IR/OpDefinition.h"

namespace ampc {
/// The part an op can play in a kernel.
enum class FusionKind {
  /// Stays on the host: constants, terminators, launches.
  Never,
  /// One result element from one element of each operand (with broadcasting):
  /// fuses as prologue and epilogue of everything.
  Elementwise,
  /// Renames elements without computing: fuses as an access map.
  View,
  /// Pulls elements from computed places (gather, pad, pool window, resize,
  /// concatenation): root of a map kernel, takes an elementwise epilogue.
  Indexed,
  /// Reduces or normalizes rows: softmax, layer norm, sums.
  RowReduction,
  /// Matrix product or convolution with an f32 accumulator.
  Contraction,
  /// Fused attention.
  Attention,
  /// Needs a loop of its own with an order: scatter, top-k, cumulative sum.
  Serial,
};
} // namespace ampc

#include "dialects/Interfaces/FusionInterfaces.h.inc"

#endif // AMPC_DIALECTS_INTERFACES_FUSIONINTERFACES_H
