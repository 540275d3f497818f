//===- ConvView.cpp - Convolutions as products: implicit im2col -----------===//
#include "compiler/Targets/CUDA/Contraction/GemmView.h"

#include "compiler/Targets/Codegen/ConvWindow.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

class ConvView final : public GemmView {
public:
  template <typename ConvOp>
  explicit ConvView(ConvOp op)
      : input(op.getInput()), weight(op.getWeight()), window(op) {
    ArrayRef<int64_t> out = shapeOf(op.getResult());
    pixels.assign(out.begin(), out.end() - 1);
    m = llvm::product_of(pixels);
    batch = op.getGroup();
    n = out.back() / batch;
    channels = shapeOf(input).back() / batch;
    ArrayRef<int64_t> shape = shapeOf(weight);
    kernel.assign(shape.begin() + 2, shape.end());
    k = channels * llvm::product_of(kernel);
    result = op.getResult();
    bias = op.getBias();
    left = {getElementTypeOrSelf(input.getType()), true, lanesFor(channels)};
    // The weight's memory runs along the taps: neighbours along k or n are
    // side by side only when it has been transposed for this.
    right = {getElementTypeOrSelf(weight.getType()), true, lanesFor(channels)};
  }

  template <typename ConvOp>
  static bool covers(ConvOp op) {
    if (op.getLayout() != amp::Layout::ChannelsLast) {
      return false;
    }
    // With a channel a group there is nothing to multiply matrices of.
    int64_t groups = op.getGroup();
    return groups == 1 || groups < shapeOf(op.getInput()).back();
  }

  Place place(CudaEmitter &e, Side side, Value group, Value line,
              const Depth &kk, int64_t count) override {
    SmallVector<int64_t> space(kernel);
    space.push_back(channels);
    // A slice that lies within one tap has the same one for all threads.
    bool oneTap = channels % kk.depth == 0;
    SmallVector<Value> taps =
        e.delinearize(oneTap ? kk.slice : kk.total(e), space);
    Value first = taps.pop_back_val();
    LaneIndex channel{oneTap ? e.addIndex(first, kk.within) : first,
                      count == 1 ? 0 : 1};
    if (side == Side::Left) {
      channel.base = e.addIndex(e.mulIndex(group, channels), channel.base);
      return inputPlace(e, line, taps, channel);
    }
    // The weight's first dimension counts channels of all groups.
    if (window.transposed) {
      channel.base = e.addIndex(e.mulIndex(group, channels), channel.base);
    } else {
      line = e.addIndex(e.mulIndex(group, n), line);
    }
    return weightPlace(line, taps, channel);
  }

  SmallVector<Value> resultIndex(CudaEmitter &e, Value group, Value row,
                                 Value column) override {
    SmallVector<Value> index = e.delinearize(row, pixels);
    index.push_back(e.addIndex(e.mulIndex(group, n), column));
    return index;
  }

private:
  Place inputPlace(CudaEmitter &e, Value row, ArrayRef<Value> taps,
                   LaneIndex channel) {
    SmallVector<Value> pixel = e.delinearize(row, pixels);
    Place result;
    result.tensor = input;
    result.index.push_back({pixel[0], 0});
    for (size_t i = 0; i < kernel.size(); ++i) {
      Value position =
          window.locate(e, i, pixel[i + 1], taps[i], result.inside);
      result.index.push_back({position, 0});
    }
    result.index.push_back(channel);
    return result;
  }

  Place weightPlace(Value column, ArrayRef<Value> taps, LaneIndex channel) {
    LaneIndex out{column, 0};
    Place result;
    result.tensor = weight;
    result.index = {window.transposed ? channel : out,
                    window.transposed ? out : channel};
    for (Value tap : taps) {
      result.index.push_back({tap, 0});
    }
    return result;
  }

  Value input, weight;
  ConvWindow window;
  SmallVector<int64_t> pixels, kernel;
  int64_t channels = 0;
};

template <typename ConvOp>
std::unique_ptr<GemmView> viewOf(ConvOp op) {
  return ConvView::covers(op) ? std::make_unique<ConvView>(op) : nullptr;
}

} // namespace

std::unique_ptr<GemmView> cuda::createConvView(Operation *op) {
  if (auto conv = dyn_cast<amp::ConvOp>(op)) {
    return viewOf(conv);
  }
  auto conv = dyn_cast<amp::ConvTransposeOp>(op);
  return conv ? viewOf(conv) : nullptr;
}
