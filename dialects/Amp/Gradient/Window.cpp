//===- Window.cpp - Gradients of pools and resizing -----------------------===//
#include "dialects/Amp/Gradient/Models.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::grad;

namespace {
void differentiateMaxPool(MaxPoolOp op, Calculus &c) {
  Value input = op.getInput();
  Value g = c.cast(c.stored(op.getResult()), c.elementOf(input));
  c.give(input, MaxPoolGradientOp::create(c.b, c.loc, input.getType(), input, g,
                                          op.getKernel(), op.getStrides(),
                                          op.getPads(), op.getDilations(),
                                          op.getLayout()));
}

void differentiateAvgPool(AvgPoolOp op, Calculus &c) {
  Value input = op.getInput();
  Value g = c.cast(c.stored(op.getResult()), c.elementOf(input));
  c.give(input, AvgPoolGradientOp::create(
                    c.b, c.loc, input.getType(), g, op.getKernel(),
                    op.getStrides(), op.getPads(), op.getDilations(),
                    op.getLayout(), op.getCountIncludePad()));
}

/// What each element along `axis` gives to each result element: resizing the
/// rows of the unit matrix tells.
Value getWeights(ResizeOp op, Calculus &c, int64_t axis, Type element) {
  int64_t from = c.shapeOf(op.getInput())[axis];
  int64_t to = c.shapeOf(op.getResult())[axis];
  auto type = RankedTensorType::get({from, from}, c.b.getF64Type());
  SmallVector<double> unit(from * from, 0);
  for (int64_t i = 0; i < from; ++i) {
    unit[i * from + i] = 1;
  }
  Value rows = ConstantOp::create(
      c.b, c.loc, DenseElementsAttr::get(type, ArrayRef<double>(unit)));
  DenseF64ArrayAttr roi;
  if (op.getRoi()) {
    int64_t rank = c.typeOf(op.getInput()).getRank();
    roi = c.b.getDenseF64ArrayAttr(
        {0, (*op.getRoi())[axis], 1, (*op.getRoi())[axis + rank]});
  }
  // What is filled in outside depends on no element.
  Value weights = ResizeOp::create(
      c.b, c.loc, type.clone({from, to}), rows,
      c.b.getDenseF64ArrayAttr({1, op.getScales()[axis]}), op.getModeAttr(),
      op.getCoordinateModeAttr(), op.getNearestModeAttr(),
      op.getCubicCoeffAttr(), op.getExcludeOutsideAttr(), op.getAntialiasAttr(),
      c.b.getF64FloatAttr(0), roi);
  return c.cast(weights, element);
}

/// Interpolation is a product with one matrix along each dimension.
void differentiateResize(ResizeOp op, Calculus &c) {
  Value g = c.of(op.getResult());
  int64_t rank = c.typeOf(g).getRank();
  for (int64_t axis = 0; axis < rank; ++axis) {
    bool isSame = c.shapeOf(g)[axis] == c.shapeOf(op.getInput())[axis] &&
                  op.getScales()[axis] == 1 &&
                  op.getCoordinateMode() != CoordinateMode::TfCropAndResize;
    if (!isSame) {
      g = c.applyAlong(g, axis, getWeights(op, c, axis, c.elementOf(g)),
                       /*transposed=*/true);
    }
  }
  c.give(op.getInput(), g);
}
} // namespace

void grad::attachWindow(MLIRContext *context) {
  attach<differentiateMaxPool, differentiateAvgPool, differentiateResize>(
      context);
}
