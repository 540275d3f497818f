//===- AttentionScores.h - Recognises attention ------------------*- C++
//-*-===//
#ifndef AMPC_PASSES_GRAPH_ATTENTIONSCORES_H
#define AMPC_PASSES_GRAPH_ATTENTIONSCORES_H

#include "dialects/Amp/IR/AmpOps.h"

namespace ampc::graph {

/// Something that changes scores: an added mask, or a condition under which
/// they stay (`keep`), `fill` elsewhere.
struct Mask {
  mlir::Value value;
  bool isCondition = false;
  bool isInverted = false; ///< the condition excludes where true
  bool isNegated = false;  ///< the value is subtracted
  double fill = 0.0;
};

/// softmax(scale * Q K^T + masks) V, as it was found.
struct Attention {
  mlir::Value query, key, value;
  bool transposeQuery = false;
  bool transposeKey = false;   ///< the key is [..., D, T]
  bool transposeValue = false; ///< the value is [..., E, T]
  double scale = 1.0;
  double softcap = 0.0;
  llvm::SmallVector<Mask, 2> masks; ///< outermost first
};

/// Matches attention from its second product back. Creates nothing.
std::optional<Attention> matchAttention(amp::MatmulOp op);

/// The shape of an operand as rank 4, with the last two dimensions exchanged if
/// `transpose`: a batch of rank 3 is a batch of single heads.
llvm::SmallVector<int64_t> getHeadShape(llvm::ArrayRef<int64_t> shape,
                                        bool transpose);

} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_ATTENTIONSCORES_H
