//===- Map.cpp - Applies a function to all elements of tensors ------------===//
#include "dialects/Amp/Reference/Map.h"

#include "dialects/Amp/Reference/Strided.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::ref;

namespace {
void load(Kind kind, const char *from, int64_t stride, int64_t count,
          double *to) {
  loadDoubles(kind, from, stride, count, to);
}
void load(Kind kind, const char *from, int64_t stride, int64_t count,
          int64_t *to) {
  loadInts(kind, from, stride, count, to);
}
void store(Kind kind, const double *from, int64_t count, char *to) {
  storeDoubles(kind, from, count, to);
}
void store(Kind kind, const int64_t *from, int64_t count, char *to) {
  storeInts(kind, from, count, to);
}
} // namespace

namespace ampc::ref {

template <typename In, typename Out>
std::optional<Tensor> mapChunks(RankedTensorType type,
                                ArrayRef<Tensor> operands,
                                ChunkBody<In, Out> body) {
  bool splat =
      llvm::all_of(operands, [](const Tensor &t) { return t.isSplat(); });
  auto result = Tensor::allocate(type, splat);
  if (!result) {
    return std::nullopt;
  }
  // Chunks of all operands fit into the first-level cache.
  constexpr int64_t chunk = 256;
  constexpr size_t maxOperands = 4;
  assert(operands.size() <= maxOperands && "too many operands");
  In in[maxOperands][chunk];
  Out out[chunk];
  const In *arrays[maxOperands];
  SmallVector<Dims> strides{getStoredStrides(*result)};
  for (auto [i, operand] : llvm::enumerate(operands)) {
    strides.push_back(getBroadcastStrides(operand, type.getShape()));
    arrays[i] = in[i];
  }
  Kind kind = result->getKind();
  char *to = result->mutableBytes();
  int64_t width = result->getByteWidth();
  Dims one(type.getRank(), 1);
  ArrayRef<int64_t> shape = splat ? ArrayRef(one) : type.getShape();
  walkRows(
      shape, strides,
      [&](ArrayRef<int64_t> offsets, int64_t length, ArrayRef<int64_t> steps) {
        for (int64_t begin = 0; begin < length; begin += chunk) {
          int64_t n = std::min(chunk, length - begin);
          for (auto [i, operand] : llvm::enumerate(operands)) {
            int64_t offset = offsets[i + 1] + begin * steps[i + 1];
            load(operand.getKind(),
                 operand.getBytes().data() + offset * operand.getByteWidth(),
                 steps[i + 1], n, in[i]);
          }
          body(n, ArrayRef(arrays, operands.size()), out);
          store(kind, out, n, to + (offsets[0] + begin) * width);
        }
      });
  return result;
}

template std::optional<Tensor>
    mapChunks<double, double>(RankedTensorType, ArrayRef<Tensor>,
                              ChunkBody<double, double>);
template std::optional<Tensor>
    mapChunks<double, int64_t>(RankedTensorType, ArrayRef<Tensor>,
                               ChunkBody<double, int64_t>);
template std::optional<Tensor>
    mapChunks<int64_t, int64_t>(RankedTensorType, ArrayRef<Tensor>,
                                ChunkBody<int64_t, int64_t>);

} // namespace ampc::ref
