//===- StridedView.cpp - Tensors that are arguments in another order ------===//
#include "compiler/Targets/CUDA/Contraction/StridedView.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

static StridedView dense(BlockArgument argument, ArrayRef<int64_t> shape) {
  StridedView view{argument, SmallVector<int64_t>(shape),
                   SmallVector<int64_t>(shape.size())};
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
    view.strides[i] = stride;
  }
  return view;
}

std::optional<StridedView> StridedView::create(Value tensor) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    return dense(argument, shape);
  }
  if (auto transpose = tensor.getDefiningOp<amp::TransposeOp>()) {
    auto input = create(transpose.getInput());
    if (!input) {
      return std::nullopt;
    }
    StridedView view{input->argument, {}, {}};
    for (int64_t dimension : transpose.getPermutation()) {
      view.sizes.push_back(input->sizes[dimension]);
      view.strides.push_back(input->strides[dimension]);
    }
    return view;
  }
  if (auto reshape = tensor.getDefiningOp<amp::ReshapeOp>()) {
    auto input = create(reshape.getInput());
    bool whole =
        input && input->strides == dense(input->argument, input->sizes).strides;
    return whole ? std::optional(dense(input->argument, shape)) : std::nullopt;
  }
  return std::nullopt;
}
