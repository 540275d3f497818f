//===- GemmView.cpp - Contractions as products of matrices ----------------===//
#include "compiler/Targets/CUDA/GemmView.h"

#include "compiler/Targets/Codegen/ConvWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

/// The largest power of two up to 8 that divides `size`.
int64_t lanesFor(int64_t size) {
  return size == 0 ? 1 : std::min<int64_t>(8, size & -size);
}

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) {
    result *= size;
  }
  return result;
}

/// `count` elements of `operand`, whose index is one lane each.
FailureOr<Value> pull(CudaEmitter &e, Value operand, ArrayRef<LaneIndex> index,
                      int64_t count) {
  ElementPuller puller(e, count);
  FailureOr<Value> value = puller.get(operand, index);
  return failed(value) ? value : FailureOr<Value>(puller.splat(*value));
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

class MatmulView final : public GemmView {
public:
  explicit MatmulView(amp::MatmulOp op) : op(op) {
    ArrayRef<int64_t> shape = shapeOf(op.getResult());
    batchShape.assign(shape.begin(), shape.end() - 2);
    batch = product(batchShape);
    m = shape[shape.size() - 2];
    n = shape.back();
    ArrayRef<int64_t> lhs = shapeOf(op.getLhs());
    k = lhs[lhs.size() - (op.getTransposeLhs() ? 2 : 1)];
    result = op.getResult();
    bias = op.getBias();
    left = {getElementTypeOrSelf(op.getLhs().getType()), !op.getTransposeLhs(),
            lanesFor(lhs.back())};
    right = {getElementTypeOrSelf(op.getRhs().getType()), op.getTransposeRhs(),
             lanesFor(shapeOf(op.getRhs()).back())};
  }

  FailureOr<Value> leftElements(CudaEmitter &e, Value batchIndex, Value row,
                                Value kk, int64_t count) override {
    return op.getTransposeLhs()
               ? element(e, op.getLhs(), batchIndex, kk, row, count)
               : element(e, op.getLhs(), batchIndex, row, kk, count);
  }
  FailureOr<Value> rightElements(CudaEmitter &e, Value batchIndex, Value kk,
                                 Value column, int64_t count) override {
    return op.getTransposeRhs()
               ? element(e, op.getRhs(), batchIndex, column, kk, count)
               : element(e, op.getRhs(), batchIndex, kk, column, count);
  }

  SmallVector<Value> resultIndex(CudaEmitter &e, Value batchIndex, Value row,
                                 Value column) override {
    SmallVector<Value> index = e.delinearize(batchIndex, batchShape);
    index.append({row, column});
    return index;
  }

private:
  /// Elements along the last dimension of an operand.
  FailureOr<Value> element(CudaEmitter &e, Value operand, Value batchIndex,
                           Value outer, Value inner, int64_t count) {
    ArrayRef<int64_t> shape = shapeOf(operand);
    SmallVector<Value> full = e.delinearize(batchIndex, batchShape);
    SmallVector<LaneIndex> index;
    size_t own = shape.size() - 2;
    for (size_t i = 0; i < own; ++i) {
      index.push_back(
          {shape[i] == 1 ? e.index(0) : full[batchShape.size() - own + i], 0});
    }
    index.push_back({outer, 0});
    index.push_back({inner, count == 1 ? 0 : 1});
    return pull(e, operand, index, count);
  }

  amp::MatmulOp op;
  SmallVector<int64_t> batchShape;
};

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

class ConvView final : public GemmView {
public:
  template <typename ConvOp>
  explicit ConvView(ConvOp op)
      : input(op.getInput()), weight(op.getWeight()), window(op) {
    ArrayRef<int64_t> out = shapeOf(op.getResult());
    pixels.assign(out.begin(), out.end() - 1);
    m = product(pixels);
    n = out.back();
    channels = shapeOf(input).back();
    ArrayRef<int64_t> shape = shapeOf(weight);
    kernel.assign(shape.begin() + 2, shape.end());
    k = channels * product(kernel);
    result = op.getResult();
    bias = op.getBias();
    left = {getElementTypeOrSelf(input.getType()), true, lanesFor(channels)};
    // The weight's memory runs along the taps: neighbours along k or n are
    // side by side only when it has been transposed for this.
    right = {getElementTypeOrSelf(weight.getType()), true, lanesFor(channels)};
  }

  template <typename ConvOp>
  static bool covers(ConvOp op) {
    return op.getLayout() == amp::Layout::ChannelsLast && op.getGroup() == 1;
  }

  FailureOr<Value> leftElements(CudaEmitter &e, Value, Value row, Value kk,
                                int64_t count) override {
    SmallVector<Value> pixel = e.delinearize(row, pixels);
    auto [taps, channel] = split(e, kk);
    Value inside;
    SmallVector<LaneIndex> index{{pixel[0], 0}};
    for (size_t i = 0; i < kernel.size(); ++i) {
      index.push_back({window.locate(e, i, pixel[i + 1], taps[i], inside), 0});
    }
    index.push_back({channel, count == 1 ? 0 : 1});
    if (!inside) {
      return pull(e, input, index, count);
    }
    Type type = getComputeType(left.element);
    Type wide = count == 1 ? type : Type(VectorType::get({count}, type));
    auto choice =
        scf::IfOp::create(e.b, e.loc, wide, inside, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    FailureOr<Value> value = pull(e, input, index, count);
    if (failed(value)) {
      return failure();
    }
    scf::YieldOp::create(e.b, e.loc, *value);
    e.b.setInsertionPointToStart(choice.elseBlock());
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(wide));
    scf::YieldOp::create(e.b, e.loc, zero);
    return choice.getResult(0);
  }

  FailureOr<Value> rightElements(CudaEmitter &e, Value, Value kk, Value column,
                                 int64_t count) override {
    auto [taps, channel] = split(e, kk);
    LaneIndex in{channel, count == 1 ? 0 : 1}, out{column, 0};
    SmallVector<LaneIndex> index{window.transposed ? in : out,
                                 window.transposed ? out : in};
    for (Value tap : taps) {
      index.push_back({tap, 0});
    }
    return pull(e, weight, index, count);
  }

  SmallVector<Value> resultIndex(CudaEmitter &e, Value, Value row,
                                 Value column) override {
    SmallVector<Value> index = e.delinearize(row, pixels);
    index.push_back(column);
    return index;
  }

private:
  /// The taps and the channel that `kk` counts.
  std::pair<SmallVector<Value>, Value> split(CudaEmitter &e, Value kk) {
    SmallVector<int64_t> space(kernel);
    space.push_back(channels);
    SmallVector<Value> taps = e.delinearize(kk, space);
    Value channel = taps.pop_back_val();
    return {taps, channel};
  }

  Value input, weight;
  ConvWindow window;
  SmallVector<int64_t> pixels, kernel;
  int64_t channels = 0;
};

} // namespace

std::unique_ptr<GemmView> GemmView::create(Operation *op) {
  if (auto matmul = dyn_cast<amp::MatmulOp>(op)) {
    return std::make_unique<MatmulView>(matmul);
  }
  if (auto conv = dyn_cast<amp::ConvOp>(op)) {
    return ConvView::covers(conv) ? std::make_unique<ConvView>(conv) : nullptr;
  }
  if (auto conv = dyn_cast<amp::ConvTransposeOp>(op)) {
    return ConvView::covers(conv) ? std::make_unique<ConvView>(conv) : nullptr;
  }
  return nullptr;
}
