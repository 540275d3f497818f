//===- PackWeights.cpp - Constant contraction operands in panels ----------===//
#include "mlir/IR/TypeUtilities.h"
#include "passes/Fusion/Passes.h"
#include "passes/Fusion/StoredOperand.h"

using namespace mlir;

namespace ampc::fusion {
#define GEN_PASS_DEF_FUSIONPACKWEIGHTSPASS
#include "passes/Fusion/Passes.h.inc"

namespace {

/// How a contraction wants its weight stored.
struct PackedForm {
  BlockArgument argument;
  int64_t dimension = 0;
  SmallVector<int64_t> outer, inner;
};

bool isFloat(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isF32() || element.isF16() || element.isBF16();
}

std::optional<PackedForm> packedFormOf(amp::KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (auto matmul = dyn_cast<amp::MatmulOp>(op)) {
      auto weight = dyn_cast<BlockArgument>(matmul.getRhs());
      if (!weight || !weight.hasOneUse() || !isFloat(weight)) {
        return std::nullopt;
      }
      PackedForm form;
      form.argument = weight;
      int64_t rank = cast<RankedTensorType>(weight.getType()).getRank();
      form.outer = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
      form.dimension = matmul.getTransposeRhs() ? rank - 2 : rank - 1;
      form.inner = {matmul.getTransposeRhs() ? rank - 1 : rank - 2};
      return form;
    }
    if (auto conv = dyn_cast<amp::ConvTransposeOp>(op)) {
      auto weight = dyn_cast<BlockArgument>(conv.getWeight());
      if (!weight || !weight.hasOneUse() || !isFloat(weight) ||
          conv.getGroup() != 1) {
        return std::nullopt;
      }
      PackedForm form;
      form.argument = weight;
      form.dimension = 1;
      int64_t rank = cast<RankedTensorType>(weight.getType()).getRank();
      form.inner = llvm::to_vector(llvm::seq<int64_t>(2, rank));
      form.inner.push_back(0);
      return form;
    }
    if (auto conv = dyn_cast<amp::ConvOp>(op)) {
      auto weight = dyn_cast<BlockArgument>(conv.getWeight());
      if (!weight || !weight.hasOneUse() || !isFloat(weight)) {
        return std::nullopt;
      }
      // Other grouped convolutions read their weight as it is.
      auto type = cast<RankedTensorType>(weight.getType());
      bool depthwise =
          type.getDimSize(1) == 1 &&
          static_cast<int64_t>(conv.getGroup()) == type.getDimSize(0);
      if (conv.getGroup() != 1 && !depthwise) {
        return std::nullopt;
      }
      PackedForm form;
      form.argument = weight;
      int64_t rank = type.getRank();
      form.inner = llvm::to_vector(llvm::seq<int64_t>(2, rank));
      form.inner.push_back(1);
      return form;
    }
  }
  return std::nullopt;
}

struct FusionPackWeightsPass final
    : impl::FusionPackWeightsPassBase<FusionPackWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<amp::TargetAttr>("amp.target");
    if (!target || target.getPanel() == 0) {
      return;
    }
    LaunchMap launches = collectLaunches(module);
    ConstantSlice constants(module);
    for (auto kernel : module.getOps<amp::KernelOp>()) {
      auto form = packedFormOf(kernel);
      auto &uses = launches[kernel.getNameAttr()];
      if (!form || uses.empty()) {
        continue;
      }
      if (isAlwaysConstant(constants, uses, form->argument) ||
          isWorthALaunch(kernel, target.getPanel())) {
        pack(kernel, *form, uses, target.getPanel());
      }
    }
    outlineStores<amp::PackOp>(module, constants, "pack");
  }

  /// Whether so many rows meet a right-hand matrix that packing it once, in a
  /// launch of its own, beats packing it for each block of rows. A convolution
  /// whose weight is computed, or trained, always has rows enough.
  static bool isWorthALaunch(amp::KernelOp kernel, int64_t panel) {
    constexpr int64_t manyRows = 256;
    for (Operation &op : kernel.getBody().front()) {
      if (auto matmul = dyn_cast<amp::MatmulOp>(op)) {
        auto shape = matmul.getType().getShape().take_back(2);
        return shape[0] >= manyRows && shape[1] >= 4 * panel;
      }
      auto isLast = [](auto conv) {
        return conv.getLayout() == amp::Layout::ChannelsLast;
      };
      if (auto conv = dyn_cast<amp::ConvOp>(op)) {
        return isLast(conv);
      }
      if (auto conv = dyn_cast<amp::ConvTransposeOp>(op)) {
        return isLast(conv);
      }
    }
    return false;
  }

  static void pack(amp::KernelOp kernel, const PackedForm &form,
                   ArrayRef<amp::LaunchOp> launches, int64_t panel) {
    storeOperand(
        kernel, form.argument, launches,
        [&](OpBuilder &b, Value weight) -> Value {
          return amp::PackOp::create(b, weight.getLoc(), weight, form.dimension,
                                     panel, form.outer, form.inner);
        },
        [&](OpBuilder &b, Type logical) -> Value {
          return amp::UnpackOp::create(b, kernel.getLoc(), logical,
                                       form.argument, form.dimension, panel,
                                       form.outer, form.inner);
        });
  }
};

} // namespace
} // namespace ampc::fusion
