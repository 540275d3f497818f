//===- ExpandBatchNorm.cpp - Batch normalization to a product and a sum ---===//
#include "dialects/Amp/IR/AmpDialect.h"
#include "passes/Graph/ChannelAffine.h"
#include "passes/Graph/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace ampc::amp;

namespace ampc::graph {
#define GEN_PASS_DEF_GRAPHEXPANDBATCHNORMPASS
#include "passes/Graph/Passes.h.inc"

namespace {
struct ExpandBatchNorm : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BatchNormOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = op.getType().getElementType();
    ChannelAffine affine = computeAffine(rewriter, op);
    // A vector broadcasts along the last dimension; before spatial dimensions
    // it needs ones for them.
    SmallVector<int64_t> shape{
        cast<RankedTensorType>(affine.scale.getType()).getDimSize(0)};
    if (op.getLayout() == Layout::ChannelsFirst) {
      shape.append(op.getType().getRank() - 2, 1);
    }
    Value x =
        castElements(rewriter, loc, op.getInput(), getParameterType(element));
    x = MulOp::create(rewriter, loc, x,
                      reshapeTo(rewriter, loc, affine.scale, shape));
    x = AddOp::create(rewriter, loc, x,
                      reshapeTo(rewriter, loc, affine.shift, shape));
    rewriter.replaceOp(op, castElements(rewriter, loc, x, element));
    return success();
  }
};

struct GraphExpandBatchNormPass final
    : impl::GraphExpandBatchNormPassBase<GraphExpandBatchNormPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandBatchNorm>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
} // namespace ampc::graph
