//===- SimplifyContractions.cpp - Transpositions and biases ---------------===//
#include "passes/Graph/Match.h"
#include "passes/Graph/SimplifyPatterns.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::graph;

namespace {

/// The input of a transposition that exchanges the last two dimensions.
Value matchMatrixTranspose(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose || transpose.getType().getRank() < 2) {
    return Value();
  }
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  int64_t rank = permutation.size();
  bool exchanges =
      permutation[rank - 1] == rank - 2 && permutation[rank - 2] == rank - 1 &&
      llvm::equal(permutation.drop_back(2), llvm::seq(int64_t(0), rank - 2));
  return exchanges ? transpose.getInput() : Value();
}

/// A product of transposed matrices reads them as they are.
struct AbsorbTranspose : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    Value lhs = matchMatrixTranspose(op.getLhs());
    Value rhs = matchMatrixTranspose(op.getRhs());
    if (!lhs && !rhs) {
      return rewriter.notifyMatchFailure(op, "no transposed matrix");
    }
    rewriter.modifyOpInPlace(op, [&] {
      if (lhs) {
        op.getLhsMutable().assign(lhs);
        op.setTransposeLhs(!op.getTransposeLhs());
      }
      if (rhs) {
        op.getRhsMutable().assign(rhs);
        op.setTransposeRhs(!op.getTransposeRhs());
      }
    });
    return success();
  }
};

/// product + bias, where the bias has one element per output channel: it joins
/// the accumulator. In eager execution it is an operand of the same `linear`
/// or convolution, so autocast treats it alike. A mask that is added to the
/// product of two activations is none: the sum of a score and -65504 needs f32.
template <typename OpT>
struct AbsorbBias : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      auto product = op->getOperand(i).template getDefiningOp<OpT>();
      Value bias = op->getOperand(1 - i);
      if (!product || product.getBias() || !product->hasOneUse() ||
          product.getType() != op.getType() ||
          !isPerChannel(bias, op.getType(), channelDim(product)) ||
          !isBiasOf(product, bias)) {
        continue;
      }
      int64_t channels = op.getType().getDimSize(channelDim(product));
      bias = rewriter.createOrFold<ReshapeOp>(
          bias.getLoc(), tensorType(bias).clone({channels}), bias);
      OpT biased = cast<OpT>(rewriter.clone(*product));
      biased.getBiasMutable().assign(bias);
      biased->setLoc(rewriter.getFusedLoc({product.getLoc(), op.getLoc()}));
      rewriter.replaceOp(op, biased);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no product and bias");
  }

  static int64_t channelDim(MatmulOp op) { return op.getType().getRank() - 1; }
  template <typename ConvT>
  static int64_t channelDim(ConvT op) {
    return op.getLayout() == Layout::ChannelsFirst ? 1
                                                   : op.getType().getRank() - 1;
  }

  static bool isParameter(Value value) {
    return isConstantExpression(value) || isa<BlockArgument>(value);
  }

  /// `linear` multiplies by a parameter and adds a vector.
  static bool isBiasOf(MatmulOp op, Value bias) {
    return isParameter(op.getRhs()) && tensorType(bias).getRank() == 1;
  }
  template <typename ConvT>
  static bool isBiasOf(ConvT, Value) {
    return true;
  }

  /// Whether `bias` is a parameter with one element per index of `dim`.
  static bool isPerChannel(Value bias, RankedTensorType result, int64_t dim) {
    auto type = tensorType(bias);
    int64_t channels = result.getDimSize(dim);
    int64_t biasDim = dim - (result.getRank() - type.getRank());
    return isParameter(bias) && type.getNumElements() == channels &&
           biasDim >= 0 && biasDim < type.getRank() &&
           type.getDimSize(biasDim) == channels;
  }
};
} // namespace

void graph::populateSimplifyContractionPatterns(RewritePatternSet &patterns) {
  patterns.add<AbsorbTranspose, AbsorbBias<MatmulOp>, AbsorbBias<ConvOp>,
               AbsorbBias<ConvTransposeOp>>(patterns.getContext());
}
