//===- Attention.h - What attention kernels share -------------------------===//
#ifndef AMPC_COMPILER_TARGETS_CODEGEN_ATTENTION_H
#define AMPC_COMPILER_TARGETS_CODEGEN_ATTENTION_H

#include "compiler/Targets/Codegen/KernelEmitter.h"

namespace ampc::codegen {

/// The sizes of an attention.
struct AttentionSizes {
  explicit AttentionSizes(amp::AttentionOp op);

  int64_t batch, heads, keyHeads, queries, keys;
  int64_t depth; ///< of queries and keys
  int64_t width; ///< of values
};

/// `count` elements of `tensor`; one at a time where a view tears the vector
/// apart.
mlir::FailureOr<mlir::Value> pullLanes(KernelEmitter &emitter,
                                       mlir::Value tensor,
                                       llvm::ArrayRef<LaneIndex> index,
                                       int64_t count);

/// The products of query `row` and the `count` keys from `key` on, with scale,
/// cap and mask applied: -inf where the mask excludes a key. `head` is the
/// batch and the head of the queries.
mlir::FailureOr<mlir::Value> adjustScore(KernelEmitter &emitter,
                                         amp::AttentionOp op, mlir::Value score,
                                         mlir::ValueRange head, mlir::Value row,
                                         mlir::Value key, int64_t count);

/// As adjustScore, with causality applied as well.
mlir::FailureOr<mlir::Value> finishScore(KernelEmitter &emitter,
                                         amp::AttentionOp op, mlir::Value score,
                                         mlir::ValueRange head, mlir::Value row,
                                         mlir::Value key, int64_t count);

/// The last key, negative for none, that query `row` of a causal attention
/// sees.
mlir::Value lastVisibleKey(KernelEmitter &emitter, amp::AttentionOp op,
                           mlir::Value row);

} // namespace ampc::codegen

#endif // AMPC_COMPILER_TARGETS_CODEGEN_ATTENTION_H
