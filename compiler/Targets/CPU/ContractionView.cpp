//===- ContractionView.cpp - Matrix products and convolutions as products -===//
#include "compiler/Targets/CPU/Contraction.h"

#include "compiler/Targets/Codegen/ConvWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

namespace {

bool isF32Like(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isF32() || element.isF16() || element.isBF16();
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

class MatmulView final : public ContractionView {
public:
  explicit MatmulView(amp::MatmulOp op) : op(op) {
    ArrayRef<int64_t> shape = shapeOf(op.getResult());
    batchShape.assign(shape.begin(), shape.end() - 2);
    for (int64_t size : batchShape) {
      batch *= size;
    }
    m = shape[shape.size() - 2];
    n = shape.back();
    ArrayRef<int64_t> lhs = shapeOf(op.getLhs());
    k = lhs[lhs.size() - (op.getTransposeLhs() ? 2 : 1)];
    result = op.getResult();
    bias = op.getBias();
    if (auto unpack = op.getRhs().getDefiningOp<amp::UnpackOp>()) {
      auto argument = dyn_cast<BlockArgument>(unpack.getInput());
      int64_t rank = shapeOf(op.getRhs()).size();
      bool plain = shapeOf(op.getRhs()).drop_back(2) == ArrayRef(batchShape) ||
                   rank == 2;
      if (argument && plain) {
        packedArgument = argument;
        packedPerBatch = rank > 2;
        panel = unpack.getPanel();
      }
    }
  }

  LogicalResult packRow(CpuEmitter &e, Value batchIndex, Value row,
                        Value target) const override {
    return copyRun(e, e.index(k), target, e.index(0),
                   [&](Value i, int64_t lanes) {
                     return element(e, op.getLhs(), op.getTransposeLhs(),
                                    batchIndex, row, i, lanes);
                   });
  }

  std::optional<std::pair<Value, int64_t>>
  directRows(CpuEmitter &e, Value batchIndex) const override {
    auto argument = dyn_cast<BlockArgument>(op.getLhs());
    if (!argument || op.getTransposeLhs() ||
        !getElementTypeOrSelf(argument.getType()).isF32() ||
        (batch != 1 &&
         shapeOf(argument).drop_back(2) != ArrayRef(batchShape))) {
      return std::nullopt;
    }
    return std::pair(e.argumentPointer(argument.getArgNumber()), k);
  }

  LogicalResult packPanel(CpuEmitter &e, Value batchIndex, Value column,
                          int64_t width, Value target) const override {
    int64_t lanes = e.traits.lanes;
    bool ok = true;
    auto emitVector = [&](Value kk, int64_t v, bool whole) {
      Value first = e.addIndex(column, e.index(v * lanes));
      Value offset = e.addIndex(e.mulIndex(kk, width), e.index(v * lanes));
      if (whole) {
        auto value = element(e, op.getRhs(), op.getTransposeRhs(), batchIndex,
                             kk, first, lanes);
        ok = ok && succeeded(value);
        if (ok) {
          e.store(*value, target, e.b.getF32Type(), offset);
        }
        return;
      }
      // The last panel, partly beyond column n.
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value at = e.addIndex(first, e.index(lane));
        Value inside = arith::CmpIOp::create(
            e.b, e.loc, arith::CmpIPredicate::ult, at, e.index(n));
        auto choice = scf::IfOp::create(e.b, e.loc, e.b.getF32Type(), inside,
                                        /*withElse=*/true);
        OpBuilder::InsertionGuard guard(e.b);
        e.b.setInsertionPointToStart(choice.thenBlock());
        auto value = element(e, op.getRhs(), op.getTransposeRhs(), batchIndex,
                             kk, at, 1);
        ok = ok && succeeded(value);
        Value zero =
            arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
        scf::YieldOp::create(e.b, e.loc, ok ? *value : zero);
        e.b.setInsertionPointToStart(choice.elseBlock());
        zero = arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(0));
        scf::YieldOp::create(e.b, e.loc, zero);
        e.b.setInsertionPointAfter(choice);
        e.store(choice.getResult(0), target, e.b.getF32Type(),
                e.addIndex(offset, e.index(lane)));
      }
    };
    auto emitAll = [&](bool whole) {
      e.forLoop(e.index(0), e.index(k), 1, [&](Value kk) {
        for (int64_t v = 0; v < width / lanes; ++v) {
          emitVector(kk, v, whole);
        }
      });
    };
    if (n % width == 0) {
      emitAll(true);
      return success(ok);
    }
    Value last = e.addIndex(column, e.index(width));
    Value whole = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ule,
                                        last, e.index(n));
    auto choice = scf::IfOp::create(e.b, e.loc, whole, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    emitAll(true);
    e.b.setInsertionPointToStart(choice.elseBlock());
    emitAll(false);
    return success(ok);
  }

  SmallVector<Value> resultIndex(CpuEmitter &e, Value batchIndex, Value row,
                                 Value column) const override {
    SmallVector<Value> index = e.delinearize(batchIndex, batchShape);
    index.append({row, column});
    return index;
  }

private:
  /// Elements of an operand: `lanes` of them along the contracted dimension of
  /// the left operand, along the columns of the right one.
  FailureOr<Value> element(CpuEmitter &e, Value operand, bool transposed,
                           Value batchIndex, Value row, Value column,
                           int64_t lanes) const {
    ArrayRef<int64_t> shape = shapeOf(operand);
    SmallVector<Value> full = e.delinearize(batchIndex, batchShape);
    SmallVector<LaneIndex> index;
    size_t own = shape.size() - 2;
    for (size_t i = 0; i < own; ++i) {
      index.push_back(
          {shape[i] == 1 ? e.index(0) : full[batchShape.size() - own + i], 0});
    }
    LaneIndex lane{column, lanes == 1 ? 0 : 1};
    LaneIndex fixed{row, 0};
    index.push_back(transposed ? lane : fixed);
    index.push_back(transposed ? fixed : lane);
    ElementPuller puller(e, lanes);
    FailureOr<Value> value = puller.get(operand, index);
    return failed(value) ? value : FailureOr<Value>(puller.splat(*value));
  }

  mutable amp::MatmulOp op; // accessors of ops are not const
  SmallVector<int64_t> batchShape;
};

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

class ConvView final : public ContractionView {
public:
  template <typename ConvOp>
  explicit ConvView(ConvOp op) : input(op.getInput()), window(op) {
    ArrayRef<int64_t> out = shapeOf(op.getResult());
    ArrayRef<int64_t> in = shapeOf(op.getInput());
    pixels.assign(out.begin(), out.end() - 1);
    m = 1;
    for (int64_t size : pixels) {
      m *= size;
    }
    n = out.back();
    channels = in.back();
    ArrayRef<int64_t> weight = shapeOf(op.getWeight());
    kernel.assign(weight.begin() + 2, weight.end());
    k = channels;
    for (int64_t size : kernel) {
      k *= size;
    }
    result = op.getResult();
    bias = op.getBias();
    auto unpack = op.getWeight().template getDefiningOp<amp::UnpackOp>();
    packedArgument = cast<BlockArgument>(unpack.getInput());
    panel = unpack.getPanel();
  }

  template <typename ConvOp>
  static bool covers(ConvOp op) {
    auto unpack = op.getWeight().template getDefiningOp<amp::UnpackOp>();
    return op.getLayout() == amp::Layout::ChannelsLast && op.getGroup() == 1 &&
           unpack && isa<BlockArgument>(unpack.getInput()) &&
           isF32Like(op.getInput());
  }

  std::optional<std::pair<Value, int64_t>> directRows(CpuEmitter &e,
                                                      Value) const override {
    auto argument = dyn_cast<BlockArgument>(input);
    auto is = [](ArrayRef<int64_t> values, int64_t what) {
      return llvm::all_of(values, [=](int64_t value) { return value == what; });
    };
    if (!argument || window.transposed ||
        !getElementTypeOrSelf(argument.getType()).isF32() || !is(kernel, 1) ||
        !is(window.strides, 1) || !is(window.pads, 0)) {
      return std::nullopt;
    }
    return std::pair(e.argumentPointer(argument.getArgNumber()), channels);
  }

  LogicalResult packRow(CpuEmitter &e, Value, Value row,
                        Value target) const override {
    SmallVector<Value> pixel = e.delinearize(row, pixels);
    return packTaps(e, pixel, {}, target);
  }

  LogicalResult packPanel(CpuEmitter &, Value, Value, int64_t,
                          Value) const override {
    return failure();
  }

  SmallVector<Value> resultIndex(CpuEmitter &e, Value, Value row,
                                 Value column) const override {
    SmallVector<Value> index = e.delinearize(row, pixels);
    index.push_back(column);
    return index;
  }

private:
  /// Copies the input channels under each kernel tap; zeros where the tap lies
  /// in the padding. `taps` holds the outer taps chosen so far.
  LogicalResult packTaps(CpuEmitter &e, ArrayRef<Value> pixel,
                         SmallVector<Value> taps, Value target) const {
    size_t dim = taps.size();
    if (dim < kernel.size()) {
      bool ok = true;
      e.forLoop(e.index(0), e.index(kernel[dim]), 1, [&](Value tap) {
        SmallVector<Value> next(taps);
        next.push_back(tap);
        ok = ok && succeeded(packTaps(e, pixel, next, target));
      });
      return success(ok);
    }
    Value offset = e.mulIndex(e.linearize(taps, kernel), channels);
    Value inside;
    SmallVector<LaneIndex> at{{pixel[0], 0}};
    for (size_t i = 0; i < kernel.size(); ++i) {
      at.push_back({window.locate(e, i, pixel[i + 1], taps[i], inside), 0});
    }
    return copyChannels(e, input, at, channels, inside, target, offset);
  }

  Value input;
  ConvWindow window;
  SmallVector<int64_t> pixels, kernel;
  int64_t channels = 0;
};

} // namespace

SmallVector<std::unique_ptr<ContractionView>>
ContractionView::create(Operation *op) {
  SmallVector<std::unique_ptr<ContractionView>> views;
  if (auto matmul = dyn_cast<amp::MatmulOp>(op)) {
    if (isF32Like(matmul.getLhs())) {
      views.push_back(std::make_unique<MatmulView>(matmul));
    }
  }
  if (auto conv = dyn_cast<amp::ConvOp>(op)) {
    if (ConvView::covers(conv)) {
      views.push_back(std::make_unique<ConvView>(conv));
    }
  }
  if (auto conv = dyn_cast<amp::ConvTransposeOp>(op)) {
    if (ConvView::covers(conv)) {
      views = createPhaseViews(conv);
      if (views.empty()) {
        views.push_back(std::make_unique<ConvView>(conv));
      }
    }
  }
  return views;
}
