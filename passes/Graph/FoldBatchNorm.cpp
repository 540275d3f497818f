//===- FoldBatchNorm.cpp - Per-channel constants into contractions --------===//
#include "dialects/Amp/IR/AmpDialect.h"
#include "passes/Graph/ChannelAffine.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace ampc::amp;

namespace ampc::graph {
#define GEN_PASS_DEF_GRAPHFOLDBATCHNORMPASS
#include "passes/Graph/Passes.h.inc"

namespace {

/// A weight that other ops read is copied only below this size.
constexpr int64_t maxCopiedBytes = 4 << 20;

/// A contraction of a constant weight whose output channels can be scaled.
struct Contraction {
  Contraction() = default;
  Contraction(Operation *op, Value weight, Value bias)
      : op(op), weight(weight), bias(bias) {}

  Operation *op = nullptr;
  Value weight, bias;
  int64_t channels = 0;
  int64_t channelDim = 0; ///< of the result
  /// The shape that the weight is scaled in, and that of a channel vector then.
  SmallVector<int64_t> weightShape, scaleShape;
};

Contraction describe(ConvOp op) {
  Contraction c(op, op.getWeight(), op.getBias());
  auto weight = op.getWeight().getType();
  c.channels = weight.getDimSize(0);
  c.channelDim =
      op.getLayout() == Layout::ChannelsFirst ? 1 : op.getType().getRank() - 1;
  c.weightShape.assign(weight.getShape().begin(), weight.getShape().end());
  c.scaleShape.assign(weight.getRank(), 1);
  c.scaleShape[0] = c.channels;
  return c;
}

/// The weight is [groups * inputs, outputs, ...]: its groups are split off.
Contraction describe(ConvTransposeOp op) {
  Contraction c(op, op.getWeight(), op.getBias());
  auto weight = op.getWeight().getType();
  int64_t group = op.getGroup();
  c.channels = weight.getDimSize(1) * group;
  c.channelDim =
      op.getLayout() == Layout::ChannelsFirst ? 1 : op.getType().getRank() - 1;
  c.weightShape = {group, weight.getDimSize(0) / group};
  llvm::append_range(c.weightShape, weight.getShape().drop_front());
  c.scaleShape.assign(c.weightShape.size(), 1);
  c.scaleShape[0] = group;
  c.scaleShape[2] = weight.getDimSize(1);
  return c;
}

Contraction describe(MatmulOp op) {
  Contraction c(op, op.getRhs(), op.getBias());
  auto weight = op.getRhs().getType();
  if (weight.getRank() != 2) {
    return {};
  }
  bool transposed = op.getTransposeRhs();
  c.channels = weight.getDimSize(transposed ? 0 : 1);
  c.channelDim = op.getType().getRank() - 1;
  c.weightShape.assign(weight.getShape().begin(), weight.getShape().end());
  c.scaleShape = transposed ? SmallVector<int64_t>{c.channels, 1}
                            : SmallVector<int64_t>{1, c.channels};
  return c;
}

/// The contraction that makes `value` for one reader alone, if its weight and
/// bias are floats that are known.
std::optional<Contraction> matchContraction(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasOneUse()) {
    return std::nullopt;
  }
  Contraction c;
  if (auto conv = dyn_cast<ConvOp>(op)) {
    c = describe(conv);
  } else if (auto transposed = dyn_cast<ConvTransposeOp>(op)) {
    c = describe(transposed);
  } else if (auto matmul = dyn_cast<MatmulOp>(op)) {
    c = describe(matmul);
  }
  bool known = c.op && isa<FloatType>(tensorType(c.weight).getElementType()) &&
               tensorType(value).getElementType() ==
                   tensorType(c.weight).getElementType() &&
               isConstantExpression(c.weight) &&
               (!c.bias || (isConstantExpression(c.bias) &&
                            tensorType(c.bias).getShape() ==
                                ArrayRef<int64_t>({c.channels})));
  return known ? std::optional(c) : std::nullopt;
}

bool mayCopyWeight(const Contraction &c) {
  auto type = tensorType(c.weight);
  return c.weight.hasOneUse() ||
         type.getNumElements() * type.getElementTypeBitWidth() / 8 <=
             maxCopiedBytes;
}

/// The contraction of a scaled weight and bias, which stay ops on constants.
Operation *applyAffine(PatternRewriter &rewriter, Location loc,
                       const Contraction &c, ChannelAffine affine) {
  Type element = tensorType(c.weight).getElementType();
  Type wide = getParameterType(element);
  auto widen = [&](Value value) {
    return castElements(rewriter, loc, value, wide);
  };
  Value weight = c.weight, bias = c.bias ? widen(c.bias) : Value();
  if (affine.scale) {
    // A single factor serves all channels.
    bool single = tensorType(affine.scale).getNumElements() == 1;
    SmallVector<int64_t> shape(
        single ? SmallVector<int64_t>(c.scaleShape.size(), 1) : c.scaleShape);
    weight = reshapeTo(rewriter, loc, widen(weight), c.weightShape);
    weight = MulOp::create(rewriter, loc, weight,
                           reshapeTo(rewriter, loc, affine.scale, shape));
    weight = reshapeTo(rewriter, loc, weight, tensorType(c.weight).getShape());
    weight = castElements(rewriter, loc, weight, element);
    bias =
        bias ? Value(MulOp::create(rewriter, loc, bias, affine.scale)) : bias;
  }
  if (affine.shift) {
    bias = bias ? Value(AddOp::create(rewriter, loc, bias, affine.shift))
                : affine.shift;
    auto vector = RankedTensorType::get({c.channels}, wide);
    if (bias.getType() != vector) {
      bias = BroadcastOp::create(rewriter, loc, vector, bias);
    }
  }
  // Every contraction has the operands input, weight, optional bias.
  SmallVector<Value> operands{c.op->getOperand(0), weight};
  if (bias) {
    operands.push_back(castElements(rewriter, loc, bias, element));
  }
  Operation *folded = rewriter.clone(*c.op);
  folded->setLoc(loc);
  folded->setOperands(operands);
  return folded;
}

void replaceWithFolded(PatternRewriter &rewriter, Operation *op,
                       const Contraction &c, ChannelAffine affine) {
  Location loc = rewriter.getFusedLoc({c.op->getLoc(), op->getLoc()});
  Operation *folded = applyAffine(rewriter, loc, c, affine);
  remark::passed(
      loc, remark::RemarkOpts::name("folded").category("graph-fold-batch-norm"))
      << (op->getName().getStringRef() + " into " +
          c.op->getName().getStringRef())
             .str();
  rewriter.replaceOp(op, folded);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

struct FoldBatchNorm : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BatchNormOp op,
                                PatternRewriter &rewriter) const override {
    auto c = matchContraction(op.getInput());
    int64_t channelDim = op.getLayout() == Layout::ChannelsFirst
                             ? 1
                             : op.getType().getRank() - 1;
    if (!c || c->channelDim != channelDim || !mayCopyWeight(*c) ||
        !llvm::all_of(op->getOperands().drop_front(), isConstantExpression)) {
      return rewriter.notifyMatchFailure(op, "no contraction to fold into");
    }
    replaceWithFolded(rewriter, op, *c, computeAffine(rewriter, op));
    return success();
  }
};

/// The operand `value` of an op on a contraction's result as a vector of one
/// element per channel or of one element; null when it is none.
Value matchChannelVector(const Contraction &c, Value value,
                         RankedTensorType result, PatternRewriter &rewriter) {
  auto type = tensorType(value);
  if (!isConstantExpression(value) || type.getRank() > result.getRank()) {
    return Value();
  }
  int64_t offset = result.getRank() - type.getRank();
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    bool isChannel = int64_t(dim) + offset == c.channelDim;
    if (size != 1 && !(isChannel && size == c.channels)) {
      return Value();
    }
  }
  Value vector =
      reshapeTo(rewriter, value.getLoc(), value, {type.getNumElements()});
  return castElements(rewriter, value.getLoc(), vector,
                      getParameterType(type.getElementType()));
}

/// contraction(x) OP constant, per channel. Scales and divisions go into weight
/// and bias, sums and differences into the bias.
template <typename OpT>
struct FoldConstant : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    constexpr bool scales =
        std::is_same_v<OpT, MulOp> || std::is_same_v<OpT, DivOp>;
    unsigned orders = OpT::template hasTrait<OpTrait::IsCommutative>() ? 2 : 1;
    for (unsigned i = 0; i < orders; ++i) {
      auto c = matchContraction(op->getOperand(i));
      if (!c || op->getOperand(i).getType() != op.getType() ||
          (scales && !c->weight.hasOneUse())) {
        continue;
      }
      Value vector =
          matchChannelVector(*c, op->getOperand(1 - i), op.getType(), rewriter);
      if (!vector) {
        continue;
      }
      replaceWithFolded(rewriter, op, *c, affineOf(op, vector, rewriter));
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no contraction and constant");
  }

  static ChannelAffine affineOf(MulOp, Value vector, PatternRewriter &) {
    return {vector, Value()};
  }
  static ChannelAffine affineOf(AddOp, Value vector, PatternRewriter &) {
    return {Value(), vector};
  }
  static ChannelAffine affineOf(SubOp op, Value vector,
                                PatternRewriter &rewriter) {
    return {Value(),
            NegOp::create(rewriter, op.getLoc(), vector.getType(), vector)};
  }
  static ChannelAffine affineOf(DivOp op, Value vector,
                                PatternRewriter &rewriter) {
    return {
        ReciprocalOp::create(rewriter, op.getLoc(), vector.getType(), vector),
        Value()};
  }
};

struct GraphFoldBatchNormPass final
    : impl::GraphFoldBatchNormPassBase<GraphFoldBatchNormPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldBatchNorm, FoldConstant<AddOp>, FoldConstant<SubOp>,
                 FoldConstant<MulOp>, FoldConstant<DivOp>>(&getContext());
    // Stopping early leaves ops that are right as they are.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace
} // namespace ampc::graph
