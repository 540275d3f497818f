//===- WeightGradientView.cpp - Gradients of weights as products ----------===//
// Rows are output channels; columns count taps, and input channels within a
// tap; the sum goes over samples and output positions.
#include "compiler/Targets/CUDA/Contraction/GemmView.h"

#include "compiler/Targets/Codegen/ConvWindow.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

class WeightGradientView final : public GemmView {
public:
  explicit WeightGradientView(amp::ConvWeightGradientOp op)
      : op(op), window(op), kernel(op.getKernel()),
        isLast(op.getLayout() == amp::Layout::ChannelsLast) {
    ArrayRef<int64_t> gradient = shapeOf(op.getGradient());
    ArrayRef<int64_t> shape = shapeOf(op.getResult());
    space.push_back(gradient.front());
    llvm::append_range(space, isLast ? gradient.drop_front().drop_back()
                                     : gradient.drop_front(2));
    batch = static_cast<int64_t>(op.getGroup());
    m = shape[0] / batch;
    channels = shape[1];
    n = channels * llvm::product_of(kernel);
    k = llvm::product_of(space);
    result = op.getResult();
    left.element = getElementTypeOrSelf(op.getGradient().getType());
    right.element = getElementTypeOrSelf(op.getInput().getType());
    left.alongK = right.alongK = !isLast;
    left.lanes = lanesFor(isLast ? m : space.back());
    // Of neighbouring positions one may be padding.
    right.lanes = isLast ? lanesFor(channels) : 1;
  }

  Place place(CudaEmitter &e, Side side, Value group, Value line,
              const Depth &depth, int64_t count) override {
    SmallVector<Value> position = e.delinearize(depth.total(e), space);
    SmallVector<Value> at(ArrayRef(position).drop_front());
    Place place;
    Value channel;
    if (side == Side::Left) {
      place.tensor = op.getGradient();
      channel = e.addIndex(e.mulIndex(group, m), line);
    } else {
      place.tensor = op.getInput();
      SmallVector<Value> taps = split(e, line);
      channel = e.addIndex(e.mulIndex(group, channels), taps.pop_back_val());
      for (size_t i = 0; i < window.rank(); ++i) {
        at[i] = window.locate(e, i, at[i], taps[i], place.inside);
      }
    }
    at.insert(isLast ? at.end() : at.begin(), channel);
    at.insert(at.begin(), position[0]);
    for (Value i : at) {
      place.index.push_back({i, 0});
    }
    place.index.back().step = count == 1 ? 0 : 1;
    return place;
  }

  std::optional<int64_t> columnDimension() const override {
    return n == channels ? std::optional<int64_t>(1) : std::nullopt;
  }

  SmallVector<Value> resultIndex(CudaEmitter &e, Value group, Value row,
                                 Value column) override {
    SmallVector<Value> taps = split(e, column);
    SmallVector<Value> index{e.addIndex(e.mulIndex(group, m), row),
                             taps.pop_back_val()};
    llvm::append_range(index, taps);
    return index;
  }

private:
  /// The tap and, last, the channel of a column.
  SmallVector<Value> split(CudaEmitter &e, Value column) {
    SmallVector<int64_t> shape(kernel);
    shape.push_back(channels);
    return e.delinearize(column, shape);
  }

  amp::ConvWeightGradientOp op;
  ConvWindow window;
  ArrayRef<int64_t> kernel;
  bool isLast;
  SmallVector<int64_t> space; ///< samples, output positions
  int64_t channels = 0;
};

} // namespace

std::unique_ptr<GemmView> cuda::createWeightGradientView(Operation *root) {
  auto op = dyn_cast<amp::ConvWeightGradientOp>(root);
  if (!op) {
    return nullptr;
  }
  // With a channel a group there is nothing to multiply matrices of.
  bool isDepthwise = op.getGroup() > 1 && shapeOf(op.getResult())[1] == 1;
  return isDepthwise ? nullptr : std::make_unique<WeightGradientView>(op);
}
