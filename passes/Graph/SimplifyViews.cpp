//===- SimplifyViews.cpp - Views that meet views --------------------------===//
#include "passes/Graph/LayoutChoice.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/SimplifyPatterns.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::graph;

namespace {

/// A transposition that moves only dimensions of one element.
struct TransposeToReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    if (!isFreeTranspose(tensorType(op.getInput()).getShape(),
                         op.getPermutation())) {
      return rewriter.notifyMatchFailure(op, "moves data");
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Transpositions on both sides of a reshape
//===----------------------------------------------------------------------===//

/// Neighbouring dimensions [fromBegin, fromEnd) that a reshape turns into
/// [toBegin, toEnd).
struct DimGroup {
  size_t fromBegin, fromEnd, toBegin, toEnd;
};

/// The smallest groups of a reshape; empty when there are none, as for shapes
/// without elements.
SmallVector<DimGroup> groupDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<DimGroup> groups;
  size_t i = 0, j = 0;
  if (llvm::is_contained(from, 0)) {
    return {};
  }
  while (i < from.size() && j < to.size()) {
    DimGroup group{i, i + 1, j, j + 1};
    int64_t fromSize = from[i++], toSize = to[j++];
    while (fromSize != toSize) {
      if (fromSize < toSize) {
        fromSize *= from[i++];
      } else {
        toSize *= to[j++];
      }
    }
    group.fromEnd = i;
    group.toEnd = j;
    groups.push_back(group);
  }
  // What is left on either side are ones.
  if (groups.empty() || (i < from.size() && j < to.size())) {
    return {};
  }
  groups.back().fromEnd = from.size();
  groups.back().toEnd = to.size();
  return groups;
}

/// transpose(reshape(transpose(x))) to transpose(reshape(x)), where the first
/// transposition keeps together what the reshape joins: it moves behind the
/// reshape and meets the other one.
struct SinkTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
    auto inner =
        reshape ? reshape.getInput().getDefiningOp<TransposeOp>() : nullptr;
    if (!inner || !reshape->hasOneUse()) {
      return rewriter.notifyMatchFailure(op, "no transposition to meet");
    }
    auto groups =
        groupDims(inner.getType().getShape(), reshape.getType().getShape());
    ArrayRef<int64_t> permutation = inner.getPermutation();
    for (const DimGroup &group : groups) {
      for (size_t i = group.fromBegin + 1; i < group.fromEnd; ++i) {
        if (permutation[i] != permutation[i - 1] + 1) {
          return rewriter.notifyMatchFailure(op, "joins what is apart");
        }
      }
    }
    if (groups.empty()) {
      return rewriter.notifyMatchFailure(op, "no groups of dimensions");
    }
    // The groups in the order in which they lie in x.
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, groups.size()));
    llvm::sort(order, [&](unsigned lhs, unsigned rhs) {
      return permutation[groups[lhs].fromBegin] <
             permutation[groups[rhs].fromBegin];
    });
    SmallVector<int64_t> shape, moved(reshape.getType().getRank());
    for (unsigned index : order) {
      for (size_t i = groups[index].toBegin; i < groups[index].toEnd; ++i) {
        moved[i] = shape.size();
        shape.push_back(reshape.getType().getDimSize(i));
      }
    }
    Value value = ReshapeOp::create(
        rewriter, rewriter.getFusedLoc({inner.getLoc(), reshape.getLoc()}),
        reshape.getType().clone(shape), inner.getInput());
    SmallVector<int64_t> composed;
    for (int64_t dim : op.getPermutation()) {
      composed.push_back(moved[dim]);
    }
    rewriter.replaceOpWithNewOp<TransposeOp>(op, value, composed);
    return success();
  }
};

/// The same to reshape(transpose(x)), where the second transposition keeps
/// together what the reshape splits: it moves before the reshape and meets the
/// first one. As a channel shuffle ends when channels are moved last.
struct HoistTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
    auto inner =
        reshape ? reshape.getInput().getDefiningOp<TransposeOp>() : nullptr;
    if (!inner || !reshape->hasOneUse()) {
      return rewriter.notifyMatchFailure(op, "no transposition to meet");
    }
    auto groups =
        groupDims(inner.getType().getShape(), reshape.getType().getShape());
    SmallVector<int64_t> position(op.getPermutation().size());
    for (auto [i, dim] : llvm::enumerate(op.getPermutation())) {
      position[dim] = i;
    }
    for (const DimGroup &group : groups) {
      for (size_t i = group.toBegin + 1; i < group.toEnd; ++i) {
        if (position[i] != position[i - 1] + 1) {
          return rewriter.notifyMatchFailure(op, "parts what was together");
        }
      }
    }
    if (groups.empty()) {
      return rewriter.notifyMatchFailure(op, "no groups of dimensions");
    }
    llvm::sort(groups, [&](const DimGroup &lhs, const DimGroup &rhs) {
      return position[lhs.toBegin] < position[rhs.toBegin];
    });
    SmallVector<int64_t> composed;
    for (const DimGroup &group : groups) {
      for (size_t i = group.fromBegin; i < group.fromEnd; ++i) {
        composed.push_back(inner.getPermutation()[i]);
      }
    }
    Value value = TransposeOp::create(
        rewriter, rewriter.getFusedLoc({inner.getLoc(), op.getLoc()}),
        inner.getInput(), composed);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), value);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// slice(slice(x))
struct MergeSlices : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    if (!inner) {
      return rewriter.notifyMatchFailure(op, "no slice of a slice");
    }
    SmallVector<int64_t> starts, strides;
    for (size_t i = 0; i < op.getSizes().size(); ++i) {
      // Both lie inside their inputs, so that neither product overflows, but
      // for the stride of a single element, which says nothing.
      bool isRange = op.getSizes()[i] > 1;
      starts.push_back(op.getSizes()[i] == 0
                           ? 0
                           : inner.getStarts()[i] +
                                 inner.getStrides()[i] * op.getStarts()[i]);
      strides.push_back(isRange ? inner.getStrides()[i] * op.getStrides()[i]
                                : 1);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, inner.getInput(), starts,
                                         SmallVector<int64_t>(op.getSizes()),
                                         strides);
    return success();
  }
};

/// A slice of a concatenation that lies in one of its operands.
struct SliceOfConcat : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto concat = op.getInput().getDefiningOp<ConcatOp>();
    if (!concat || op.getType().getNumElements() == 0) {
      return rewriter.notifyMatchFailure(op, "no slice of a concatenation");
    }
    int64_t axis = concat.getAxis();
    int64_t first = op.getStarts()[axis];
    int64_t last = first + (op.getSizes()[axis] - 1) * op.getStrides()[axis];
    int64_t begin = 0;
    for (Value input : concat.getInputs()) {
      int64_t end = begin + tensorType(input).getDimSize(axis);
      if (std::min(first, last) >= begin && std::max(first, last) < end) {
        SmallVector<int64_t> starts(op.getStarts());
        starts[axis] -= begin;
        rewriter.replaceOpWithNewOp<SliceOp>(
            op, input, starts, SmallVector<int64_t>(op.getSizes()),
            SmallVector<int64_t>(op.getStrides()));
        return success();
      }
      begin = end;
    }
    return rewriter.notifyMatchFailure(op, "reaches into several operands");
  }
};

/// concat(concat(a, b), c) along one axis.
struct MergeConcats : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      auto inner = input.getDefiningOp<ConcatOp>();
      if (inner && inner->hasOneUse() && inner.getAxis() == op.getAxis()) {
        llvm::append_range(inputs, inner.getInputs());
      } else {
        inputs.push_back(input);
      }
    }
    if (inputs.size() == op.getInputs().size()) {
      return rewriter.notifyMatchFailure(op, "no nested concatenation");
    }
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(inputs); });
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Ops that are views
//===----------------------------------------------------------------------===//

/// A gather of one constant index is a slice.
struct GatherToSlice : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    auto input = tensorType(op.getInput());
    int64_t axis = op.getAxis(), size = input.getDimSize(axis);
    auto number = getScalarConstant(op.getIndices());
    if (!number || tensorType(op.getIndices()).getNumElements() != 1) {
      return rewriter.notifyMatchFailure(op, "no single constant index");
    }
    // Indices count from the end when negative and are clamped, as the op says.
    int64_t index = static_cast<int64_t>(*number);
    index = std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1);
    SmallVector<int64_t> starts(input.getRank(), 0), sizes(input.getShape()),
        strides(input.getRank(), 1);
    starts[axis] = index;
    sizes[axis] = 1;
    Value slice = SliceOp::create(rewriter, op.getLoc(), op.getInput(), starts,
                                  sizes, strides);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), slice);
    return success();
  }
};

/// Padding by nothing.
struct DropPad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PadOp op,
                                PatternRewriter &rewriter) const override {
    auto isZero = [](int64_t amount) { return amount == 0; };
    if (!llvm::all_of(op.getLow(), isZero) ||
        !llvm::all_of(op.getHigh(), isZero)) {
      return rewriter.notifyMatchFailure(op, "pads or crops");
    }
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};
} // namespace

void graph::populateSimplifyViewPatterns(RewritePatternSet &patterns) {
  patterns.add<TransposeToReshape, SinkTranspose, HoistTranspose, MergeSlices,
               SliceOfConcat, MergeConcats, GatherToSlice, DropPad>(
      patterns.getContext());
}
