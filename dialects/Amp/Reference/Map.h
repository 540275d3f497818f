//===- Map.h - Applies a function to all elements of tensors --------------===//
#ifndef AMPC_DIALECTS_AMP_REFERENCE_MAP_H
#define AMPC_DIALECTS_AMP_REFERENCE_MAP_H

#include "dialects/Amp/Reference/Convert.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ampc::ref {

/// A computation on `length` elements: one array per operand, one of results.
template <typename In, typename Out>
using ChunkBody = llvm::function_ref<void(
    int64_t length, llvm::ArrayRef<const In *> operands, Out *result)>;

/// A tensor of `type` whose elements `body` computes, chunk by chunk, from
/// those of the operands under NumPy's broadcast. `In` and `Out` are double or
/// int64_t. A splat when all operands are. nullopt when there is no memory.
template <typename In, typename Out>
std::optional<Tensor> mapChunks(mlir::RankedTensorType type,
                                llvm::ArrayRef<Tensor> operands,
                                ChunkBody<In, Out> body);

extern template std::optional<Tensor>
    mapChunks<double, double>(mlir::RankedTensorType, llvm::ArrayRef<Tensor>,
                              ChunkBody<double, double>);
extern template std::optional<Tensor>
    mapChunks<double, int64_t>(mlir::RankedTensorType, llvm::ArrayRef<Tensor>,
                               ChunkBody<double, int64_t>);
extern template std::optional<Tensor>
    mapChunks<int64_t, int64_t>(mlir::RankedTensorType, llvm::ArrayRef<Tensor>,
                                ChunkBody<int64_t, int64_t>);

/// As mapChunks, of a function of one element.
template <typename In, typename Out, typename Function>
std::optional<Tensor> mapUnary(mlir::RankedTensorType type, const Tensor &input,
                               Function function) {
  return mapChunks<In, Out>(
      type, input,
      [&](int64_t length, llvm::ArrayRef<const In *> in, Out *out) {
        for (int64_t i = 0; i < length; ++i) {
          out[i] = function(in[0][i]);
        }
      });
}

/// As mapChunks, of a function of two elements.
template <typename In, typename Out, typename Function>
std::optional<Tensor> mapBinary(mlir::RankedTensorType type,
                                llvm::ArrayRef<Tensor> operands,
                                Function function) {
  return mapChunks<In, Out>(
      type, operands,
      [&](int64_t length, llvm::ArrayRef<const In *> in, Out *out) {
        for (int64_t i = 0; i < length; ++i) {
          out[i] = function(in[0][i], in[1][i]);
        }
      });
}

} // namespace ampc::ref

#endif // AMPC_DIALECTS_AMP_REFERENCE_MAP_H
