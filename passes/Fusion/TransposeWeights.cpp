//===- TransposeWeights.cpp - Convolution weights, channels last ----------===//
#include "passes/Fusion/Passes.h"
#include "passes/Fusion/StoredOperand.h"

using namespace mlir;

namespace ampc::fusion {
#define GEN_PASS_DEF_FUSIONTRANSPOSEWEIGHTSPASS
#include "passes/Fusion/Passes.h.inc"

namespace {

/// A kernel's argument, and the order in which its dimensions are read.
struct ReadOrder {
  BlockArgument argument;
  SmallVector<int64_t> permutation;
};

/// Output channels, taps, input channels; taps first where each channel is
/// convolved by itself. `outputs` and `inputs`: the dimensions of the weight.
template <typename ConvOp>
std::optional<ReadOrder> readOrderOf(ConvOp conv, int64_t outputs,
                                     int64_t inputs) {
  auto weight = dyn_cast<BlockArgument>(conv.getWeight());
  if (!weight || !weight.hasOneUse() ||
      conv.getLayout() != amp::Layout::ChannelsLast) {
    return std::nullopt;
  }
  auto shape = cast<RankedTensorType>(weight.getType()).getShape();
  bool isDepthwise = shape[inputs] == 1;
  ReadOrder order{weight, {}};
  SmallVector<int64_t> &permutation = order.permutation;
  permutation = llvm::to_vector(llvm::seq<int64_t>(2, shape.size()));
  permutation.insert(isDepthwise ? permutation.end() : permutation.begin(),
                     outputs);
  permutation.push_back(inputs);
  // What moves only dimensions of size 1 moves nothing.
  int64_t last = -1;
  bool moves = false;
  for (int64_t dim : permutation) {
    if (shape[dim] != 1) {
      moves = moves || dim < last;
      last = dim;
    }
  }
  return moves ? std::optional(order) : std::nullopt;
}

std::optional<ReadOrder> readOrderOf(amp::KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (auto conv = dyn_cast<amp::ConvOp>(op)) {
      return readOrderOf(conv, /*outputs=*/0, /*inputs=*/1);
    }
    if (auto conv = dyn_cast<amp::ConvTransposeOp>(op)) {
      return readOrderOf(conv, /*outputs=*/1, /*inputs=*/0);
    }
  }
  return std::nullopt;
}

struct FusionTransposeWeightsPass final
    : impl::FusionTransposeWeightsPassBase<FusionTransposeWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<amp::TargetAttr>("amp.target");
    if (!target || target.getPanel() != 0) {
      return;
    }
    LaunchMap launches = collectLaunches(module);
    ConstantSlice constants(module);
    for (auto kernel : module.getOps<amp::KernelOp>()) {
      auto order = readOrderOf(kernel);
      auto &uses = launches[kernel.getNameAttr()];
      if (order && !uses.empty()) {
        transpose(kernel, *order, uses);
      }
    }
    outlineStores<amp::TransposeOp>(module, constants, "transpose");
  }

  static void transpose(amp::KernelOp kernel, const ReadOrder &order,
                        ArrayRef<amp::LaunchOp> launches) {
    SmallVector<int64_t> inverse(order.permutation.size());
    for (auto [i, dim] : llvm::enumerate(order.permutation)) {
      inverse[dim] = i;
    }
    storeOperand(
        kernel, order.argument, launches,
        [&](OpBuilder &b, Value weight) -> Value {
          return amp::TransposeOp::create(b, weight.getLoc(), weight,
                                          order.permutation);
        },
        [&](OpBuilder &b, Type logical) -> Value {
          return amp::TransposeOp::create(b, kernel.getLoc(), logical,
                                          order.argument, inverse);
        });
  }
};

} // namespace
} // namespace ampc::fusion
