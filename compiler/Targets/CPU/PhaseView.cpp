//===- PhaseView.cpp - Transposed convolutions with strides as products ---===//
// A result position y takes input position (y + pad - tap * dilation) / stride,
// where that is whole: of the positions with one remainder by the stride, the
// phase, all take the same taps, each a shift of the input.
#include "compiler/Targets/CPU/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

namespace {

class PhaseView final : public ContractionView {
public:
  PhaseView(amp::ConvTransposeOp op, ArrayRef<int64_t> phase)
      : op(op), phase(phase) {
    ArrayRef<int64_t> out = shapeOf(op.getResult());
    ArrayRef<int64_t> weight = shapeOf(op.getWeight());
    pixels.push_back(out.front());
    for (auto [size, stride] : llvm::zip(spatial(out), op.getStrides())) {
      pixels.push_back(size / stride);
    }
    m = llvm::product_of(pixels);
    n = out.back();
    channels = shapeOf(op.getInput()).back();
    kernel.assign(weight.begin() + 2, weight.end());
    allRows = channels * llvm::product_of(kernel);
    for (int64_t tap = 0, end = llvm::product_of(kernel); tap < end; ++tap) {
      if (auto shift = shiftOf(tap)) {
        shifts.push_back(*shift);
        runs.push_back({tap * channels, channels});
      }
    }
    k = static_cast<int64_t>(runs.size()) * channels;
    if (runs.empty()) {
      runs.push_back({0, 0});
    }
    result = op.getResult();
    bias = op.getBias();
    auto unpack = op.getWeight().getDefiningOp<amp::UnpackOp>();
    packedArgument = cast<BlockArgument>(unpack.getInput());
    panel = unpack.getPanel();
  }

  LogicalResult packRow(CpuEmitter &e, Value, Value row,
                        Value target) const override {
    SmallVector<Value> pixel = e.delinearize(row, pixels);
    bool ok = true;
    for (auto [i, shift] : llvm::enumerate(shifts)) {
      Value offset = e.index(static_cast<int64_t>(i) * channels);
      ok = ok && succeeded(packTap(e, pixel, shift, target, offset));
    }
    return success(ok);
  }

  LogicalResult packPanel(CpuEmitter &, Value, Value, int64_t,
                          Value) const override {
    return failure();
  }

  SmallVector<Value> resultIndex(CpuEmitter &e, Value, Value row,
                                 Value column) const override {
    SmallVector<Value> index = e.delinearize(row, pixels);
    for (auto [i, stride] : llvm::enumerate(op.getStrides())) {
      index[i + 1] =
          e.addIndex(e.mulIndex(index[i + 1], stride), e.index(phase[i]));
    }
    index.push_back(column);
    return index;
  }

private:
  static ArrayRef<int64_t> spatial(ArrayRef<int64_t> shape) {
    return shape.drop_front().drop_back();
  }

  /// From a pixel of the phase to the input position that a tap takes; nullopt
  /// where it takes none.
  std::optional<SmallVector<int64_t>> shiftOf(int64_t tap) const {
    SmallVector<int64_t> shift(kernel.size());
    for (size_t i = kernel.size(); i-- > 0; tap /= kernel[i]) {
      int64_t distance =
          phase[i] + op.getPads()[i] - tap % kernel[i] * op.getDilations()[i];
      if (distance % op.getStrides()[i] != 0) {
        return std::nullopt;
      }
      shift[i] = distance / op.getStrides()[i];
    }
    return shift;
  }

  LogicalResult packTap(CpuEmitter &e, ArrayRef<Value> pixel,
                        ArrayRef<int64_t> shift, Value target,
                        Value offset) const {
    Value inside;
    SmallVector<LaneIndex> at{{pixel[0], 0}};
    ArrayRef<int64_t> sizes = spatial(shapeOf(op.getInput()));
    for (size_t i = 0; i < shift.size(); ++i) {
      Value position = e.addIndex(pixel[i + 1], e.index(shift[i]));
      at.push_back({position, 0});
      if (shift[i] >= 0 && pixels[i + 1] + shift[i] <= sizes[i]) {
        continue;
      }
      // One unsigned comparison covers both sides.
      Value test = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult,
                                         position, e.index(sizes[i]));
      inside = inside ? arith::AndIOp::create(e.b, e.loc, inside, test) : test;
    }
    return copyChannels(e, op.getInput(), at, channels, inside, target, offset);
  }

  mutable amp::ConvTransposeOp op; // accessors of ops are not const
  SmallVector<int64_t> phase;
  SmallVector<int64_t> pixels, kernel;      ///< of the phase; spatial
  SmallVector<SmallVector<int64_t>> shifts; ///< of the taps it takes
  int64_t channels = 0;
};

} // namespace

SmallVector<std::unique_ptr<ContractionView>>
cpu::createPhaseViews(amp::ConvTransposeOp op) {
  SmallVector<std::unique_ptr<ContractionView>> views;
  ArrayRef<int64_t> strides = op.getStrides();
  ArrayRef<int64_t> sizes = shapeOf(op.getResult()).drop_front().drop_back();
  // The code is written once for each.
  constexpr int64_t mostPhases = 16;
  int64_t phases = llvm::product_of(strides);
  bool divides = llvm::all_of(llvm::zip(sizes, strides), [](auto pair) {
    auto [size, stride] = pair;
    return size % stride == 0;
  });
  if (phases == 1 || phases > mostPhases || !divides) {
    return views;
  }
  for (int64_t number = 0; number < phases; ++number) {
    SmallVector<int64_t> phase(strides.size());
    int64_t rest = number;
    for (size_t i = strides.size(); i-- > 0; rest /= strides[i]) {
      phase[i] = rest % strides[i];
    }
    views.push_back(std::make_unique<PhaseView>(op, phase));
  }
  return views;
}
