//===- ChannelsLast.cpp - Amp ops on channels-last tensors ----------------===//
#include "dialects/Amp/Impl/ChannelsLast.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Impl/ChannelsLastComposite.h"
#include "dialects/Interfaces/LayoutInterfaces.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

namespace {

int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

/// The rule of an op that moves its first operand and its results.
std::optional<LayoutRule> inputAndResults(Value input) {
  return rankOf(input) < 3 ? std::nullopt : std::optional(LayoutRule{{0}});
}

template <typename T>
SmallVector<T> permute(ArrayRef<T> values) {
  SmallVector<T> permuted;
  for (int64_t dim : getChannelsLastPermutation(values.size())) {
    permuted.push_back(values[dim]);
  }
  return permuted;
}

//===----------------------------------------------------------------------===//
// Ops with a layout of their own
//===----------------------------------------------------------------------===//

template <typename OpT, bool wants>
struct LayoutAttrModel
    : LayoutOpInterface::ExternalModel<LayoutAttrModel<OpT, wants>, OpT> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    if (cast<OpT>(op).getLayout() == Layout::ChannelsLast) {
      return std::nullopt;
    }
    return inputAndResults(op->getOperand(0));
  }
  void setChannelsLast(Operation *op) const {
    cast<OpT>(op).setLayout(Layout::ChannelsLast);
  }
  bool wantsChannelsLast(Operation *) const { return wants; }
};

//===----------------------------------------------------------------------===//
// Ops along an axis
//===----------------------------------------------------------------------===//

/// Works along an axis of its first operand, whose shape the results keep but
/// for that axis.
template <typename OpT>
struct AxisModel : LayoutOpInterface::ExternalModel<AxisModel<OpT>, OpT> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    return inputAndResults(op->getOperand(0));
  }
  void setChannelsLast(Operation *op) const {
    auto axial = cast<OpT>(op);
    axial.setAxis(
        getChannelsLastDim(axial.getAxis(), rankOf(op->getOperand(0))));
  }
};

struct ConcatModel : LayoutOpInterface::ExternalModel<ConcatModel, ConcatOp> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    auto rule = inputAndResults(op->getOperand(0));
    for (unsigned i = 1; rule && i < op->getNumOperands(); ++i) {
      rule->operands.push_back(i);
    }
    return rule;
  }
  void setChannelsLast(Operation *op) const {
    auto concat = cast<ConcatOp>(op);
    concat.setAxis(
        getChannelsLastDim(concat.getAxis(), rankOf(op->getOperand(0))));
  }
};

/// A reduction over `axes`. Without keepdims, the dimensions that are left have
/// to stand in their order, or in that of channels last of their own rank.
std::optional<LayoutRule> reductionRule(Value input, ArrayRef<int64_t> axes,
                                        bool keepdims) {
  auto rule = inputAndResults(input);
  if (!rule || keepdims) {
    return rule;
  }
  SmallVector<int64_t> natural, left;
  int64_t rank = rankOf(input);
  auto isLeft = [&](int64_t dim) { return !llvm::is_contained(axes, dim); };
  llvm::copy_if(llvm::seq(int64_t(0), rank), std::back_inserter(natural),
                isLeft);
  llvm::copy_if(getChannelsLastPermutation(rank), std::back_inserter(left),
                isLeft);
  if (left == natural) {
    rule->results = false;
    return rule;
  }
  if (left.size() >= 3 && permute<int64_t>(natural) == left) {
    return rule;
  }
  return std::nullopt;
}

template <typename OpT>
struct ReduceModel : LayoutOpInterface::ExternalModel<ReduceModel<OpT>, OpT> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    auto reduce = cast<OpT>(op);
    return reductionRule(reduce.getInput(), reduce.getAxes(),
                         reduce.getKeepdims());
  }
  void setChannelsLast(Operation *op) const {
    auto reduce = cast<OpT>(op);
    SmallVector<int64_t> axes;
    for (int64_t axis : reduce.getAxes()) {
      axes.push_back(getChannelsLastDim(axis, rankOf(reduce.getInput())));
    }
    llvm::sort(axes);
    reduce.setAxes(axes);
  }
};

template <typename OpT>
struct ArgReduceModel
    : LayoutOpInterface::ExternalModel<ArgReduceModel<OpT>, OpT> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    auto reduce = cast<OpT>(op);
    return reductionRule(reduce.getInput(), {int64_t(reduce.getAxis())},
                         reduce.getKeepdims());
  }
  void setChannelsLast(Operation *op) const {
    auto reduce = cast<OpT>(op);
    reduce.setAxis(
        getChannelsLastDim(reduce.getAxis(), rankOf(reduce.getInput())));
  }
};

//===----------------------------------------------------------------------===//
// Ops with an attribute per dimension
//===----------------------------------------------------------------------===//

struct SliceModel : LayoutOpInterface::ExternalModel<SliceModel, SliceOp> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    return inputAndResults(op->getOperand(0));
  }
  void setChannelsLast(Operation *op) const {
    auto slice = cast<SliceOp>(op);
    slice.setStarts(permute(slice.getStarts()));
    slice.setSizes(permute(slice.getSizes()));
    slice.setStrides(permute(slice.getStrides()));
  }
};

struct PadModel : LayoutOpInterface::ExternalModel<PadModel, PadOp> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    return inputAndResults(op->getOperand(0));
  }
  void setChannelsLast(Operation *op) const {
    auto pad = cast<PadOp>(op);
    pad.setLow(permute(pad.getLow()));
    pad.setHigh(permute(pad.getHigh()));
  }
};

struct ResizeModel : LayoutOpInterface::ExternalModel<ResizeModel, ResizeOp> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    return inputAndResults(op->getOperand(0));
  }
  void setChannelsLast(Operation *op) const {
    auto resize = cast<ResizeOp>(op);
    resize.setScales(permute(resize.getScales()));
    if (auto roi = resize.getRoi()) {
      size_t rank = roi->size() / 2;
      SmallVector<double> permuted = permute(roi->take_front(rank));
      permuted.append(permute(roi->drop_front(rank)));
      resize.setRoi(permuted);
    }
  }
};

/// The result's type is all that a broadcast has.
struct BroadcastModel
    : LayoutOpInterface::ExternalModel<BroadcastModel, BroadcastOp> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    return inputAndResults(op->getResult(0));
  }
  void setChannelsLast(Operation *) const {}
};
} // namespace

template <template <typename> class Model, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

void amp::registerChannelsLastModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AmpDialect *) {
    ConvOp::attachInterface<LayoutAttrModel<ConvOp, true>>(*context);
    ConvTransposeOp::attachInterface<LayoutAttrModel<ConvTransposeOp, true>>(
        *context);
    MaxPoolOp::attachInterface<LayoutAttrModel<MaxPoolOp, false>>(*context);
    AvgPoolOp::attachInterface<LayoutAttrModel<AvgPoolOp, false>>(*context);
    GroupNormOp::attachInterface<LayoutAttrModel<GroupNormOp, false>>(*context);
    BatchNormOp::attachInterface<LayoutAttrModel<BatchNormOp, false>>(*context);
    attach<AxisModel, SoftmaxOp, LogSoftmaxOp, CumSumOp, TopKOp>(context);
    attach<ReduceModel, ReduceSumOp, ReduceMeanOp, ReduceProdOp, ReduceMaxOp,
           ReduceMinOp>(context);
    attach<ArgReduceModel, ArgMaxOp, ArgMinOp>(context);
    ConcatOp::attachInterface<ConcatModel>(*context);
    SliceOp::attachInterface<SliceModel>(*context);
    PadOp::attachInterface<PadModel>(*context);
    ResizeOp::attachInterface<ResizeModel>(*context);
    BroadcastOp::attachInterface<BroadcastModel>(*context);
    attachCompositeModel(*context);
  });
}
