//===- TransposeWeights.cpp - Convolution weights, channels last ----------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Analysis/ConstantSlice.h"
#include "passes/Fusion/Passes.h"
#include "llvm/ADT/MapVector.h"

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
    llvm::MapVector<StringAttr, SmallVector<amp::LaunchOp>> launches;
    module.walk([&](amp::LaunchOp launch) {
      launches[launch.getKernelAttr().getAttr()].push_back(launch);
    });
    ConstantSlice constants(module);
    for (auto kernel : module.getOps<amp::KernelOp>()) {
      auto order = readOrderOf(kernel);
      auto &uses = launches[kernel.getNameAttr()];
      bool areConstant =
          order && !uses.empty() &&
          llvm::all_of(uses, [&](amp::LaunchOp launch) {
            return constants.isComputable(
                launch.getInputs()[order->argument.getArgNumber()]);
          });
      if (areConstant) {
        transpose(kernel, *order, uses);
      }
    }
  }

  static void transpose(amp::KernelOp kernel, const ReadOrder &order,
                        ArrayRef<amp::LaunchOp> launches) {
    OpBuilder b(kernel.getContext());
    BlockArgument argument = order.argument;
    unsigned number = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    SmallVector<int64_t> shape, inverse(order.permutation.size());
    for (auto [i, dim] : llvm::enumerate(order.permutation)) {
      shape.push_back(type.getDimSize(dim));
      inverse[dim] = i;
    }
    auto stored = RankedTensorType::get(shape, type.getElementType());
    for (amp::LaunchOp launch : launches) {
      b.setInsertionPoint(launch);
      Value weight = launch.getInputs()[number];
      Value moved = amp::TransposeOp::create(b, weight.getLoc(), stored, weight,
                                             order.permutation);
      launch.getInputsMutable()[number].set(moved);
    }
    argument.setType(stored);
    b.setInsertionPointToStart(argument.getOwner());
    auto back =
        amp::TransposeOp::create(b, kernel.getLoc(), type, argument, inverse);
    argument.replaceAllUsesExcept(back, back);
    SmallVector<Type> inputs(kernel.getArgumentTypes());
    inputs[number] = stored;
    kernel.setFunctionType(b.getFunctionType(inputs, kernel.getResultTypes()));
  }
};

} // namespace
} // namespace ampc::fusion
