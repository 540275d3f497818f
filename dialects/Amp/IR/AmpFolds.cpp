//===- AmpFolds.cpp - Folds of the amp dialect ----------------------------===//
// Folds that need no knowledge of values; constants are folded by a pass with a
// budget, so that no fold can blow up the size of a program.
#include "dialects/Amp/IR/AmpOps.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

/// Whether each value of `from` is one of `to`.
static bool isExactConversion(Type from, Type to) {
  if (from == to) {
    return true;
  }
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat) {
    const auto &f = fromFloat.getFloatSemantics();
    const auto &t = toFloat.getFloatSemantics();
    return llvm::APFloat::isRepresentableBy(f, t);
  }
  auto fromInt = dyn_cast<IntegerType>(from), toInt = dyn_cast<IntegerType>(to);
  if (fromInt && toInt && !fromInt.isInteger(1) && !toInt.isInteger(1)) {
    return fromInt.isUnsigned() == toInt.isUnsigned() &&
           fromInt.getWidth() <= toInt.getWidth();
  }
  return false;
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getFromModel()) {
    return {};
  }
  if (getInput().getType() == getType()) {
    return getInput();
  }
  // cast(cast(x : A) : B) : A is x when B holds every A.
  auto inner = getInput().getDefiningOp<CastOp>();
  if (inner && !inner.getFromModel() &&
      inner.getInput().getType() == getType() &&
      isExactConversion(getElementTypeOrSelf(inner.getInput()),
                        getElementTypeOrSelf(inner.getType()))) {
    return inner.getInput();
  }
  return {};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType()) {
    return getInput();
  }
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPermutation(),
                  llvm::seq<int64_t>(0, getPermutation().size()))) {
    return getInput();
  }
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t dim : getPermutation()) {
      composed.push_back(inner.getPermutation()[dim]);
    }
    setPermutation(composed);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType() &&
      llvm::all_of(getStarts(), [](int64_t start) { return start == 0; }) &&
      llvm::all_of(getStrides(), [](int64_t stride) { return stride == 1; })) {
    return getInput();
  }
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput())
                                           : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 && getInputs()[0].getType() == getType()
             ? OpFoldResult(getInputs()[0])
             : OpFoldResult();
}
