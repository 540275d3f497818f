//===- SimplifyArithmetic.cpp - Elementwise ops that change nothing -------===//
// Only what holds for every bit pattern: x + 0 is not x where x is -0, and
// max(x, -inf) is, but nobody writes it.
#include "passes/Graph/Match.h"
#include "passes/Graph/SimplifyPatterns.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::graph;

namespace {

/// x OP c, which is x.
template <typename OpT>
struct DropNeutral : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    auto match = matchWithScalar<OpT>(op.getResult());
    if (!match || !isNeutral(op, match->scalar)) {
      return rewriter.notifyMatchFailure(op, "no neutral operand");
    }
    rewriter.replaceOp(op, match->value);
    return success();
  }

  static bool isNeutral(OpT op, double scalar) {
    if (std::is_same_v<OpT, MulOp> || std::is_same_v<OpT, DivOp> ||
        std::is_same_v<OpT, PowOp>) {
      return scalar == 1.0;
    }
    bool isFloat = isa<FloatType>(op.getType().getElementType());
    bool isNegative = std::signbit(scalar);
    return scalar == 0.0 &&
           (!isFloat || isNegative == std::is_same_v<OpT, AddOp>);
  }
};

/// op(op(x)) that is x.
template <typename OpT>
struct DropInvolution : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().template getDefiningOp<OpT>();
    if (!inner) {
      return rewriter.notifyMatchFailure(op, "not applied twice");
    }
    rewriter.replaceOp(op, inner.getInput());
    return success();
  }
};

/// op(op(x)) that is op(x).
template <typename OpT>
struct DropRepetition : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!op.getInput().template getDefiningOp<OpT>()) {
      return rewriter.notifyMatchFailure(op, "not applied twice");
    }
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

/// A selection by a condition that is known.
struct DropSelect : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto condition = getScalarConstant(op.getCondition());
    if (!condition) {
      return rewriter.notifyMatchFailure(op, "condition is not known");
    }
    Value chosen = *condition != 0.0 ? op.getOnTrue() : op.getOnFalse();
    if (chosen.getType() != op.getType()) {
      chosen = BroadcastOp::create(rewriter, op.getLoc(), op.getType(), chosen);
    }
    rewriter.replaceOp(op, chosen);
    return success();
  }
};

/// A reduction of one element each.
template <typename OpT>
struct DropReduction : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    auto input = tensorType(op.getInput());
    bool isTrivial = llvm::all_of(op.getAxes(), [&](int64_t axis) {
      return input.getDimSize(axis) == 1;
    });
    if (!isTrivial) {
      return rewriter.notifyMatchFailure(op, "reduces several elements");
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

/// An elementwise op of a broadcast whose other operands have the result's
/// shape anyway.
struct DropBroadcast : RewritePattern {
  explicit DropBroadcast(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto fusable = dyn_cast<FusableOpInterface>(op);
    auto infer = dyn_cast<InferTypeOpInterface>(op);
    if (!fusable || !infer || op->getNumOperands() < 2 ||
        fusable.getFusionKind() != FusionKind::Elementwise) {
      return rewriter.notifyMatchFailure(op, "no broadcasting op");
    }
    for (OpOperand &operand : op->getOpOperands()) {
      auto broadcast = operand.get().getDefiningOp<BroadcastOp>();
      SmallVector<Value> operands(op->getOperands());
      operands[operand.getOperandNumber()] =
          broadcast ? broadcast.getInput() : Value();
      if (broadcast && infersSameType(infer, operands)) {
        rewriter.modifyOpInPlace(op,
                                 [&] { operand.set(broadcast.getInput()); });
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "no broadcast that is not needed");
  }

  static bool infersSameType(InferTypeOpInterface op, ValueRange operands) {
    SmallVector<Type> types;
    return succeeded(op.inferReturnTypes(op->getContext(), std::nullopt,
                                         operands, op->getRawDictionaryAttrs(),
                                         op->getPropertiesStorage(),
                                         op->getRegions(), types)) &&
           llvm::equal(types, op->getResultTypes());
  }
};
} // namespace

void graph::populateSimplifyArithmeticPatterns(RewritePatternSet &patterns) {
  patterns.add<DropNeutral<AddOp>, DropNeutral<SubOp>, DropNeutral<MulOp>,
               DropNeutral<DivOp>, DropNeutral<PowOp>, DropInvolution<NegOp>,
               DropInvolution<LogicalNotOp>, DropInvolution<BitwiseNotOp>,
               DropRepetition<ReluOp>, DropRepetition<AbsOp>,
               DropRepetition<SignOp>, DropRepetition<CeilOp>,
               DropRepetition<FloorOp>, DropRepetition<RoundOp>, DropSelect,
               DropReduction<ReduceSumOp>, DropReduction<ReduceMeanOp>,
               DropReduction<ReduceProdOp>, DropReduction<ReduceMaxOp>,
               DropReduction<ReduceMinOp>, DropBroadcast>(
      patterns.getContext());
}
