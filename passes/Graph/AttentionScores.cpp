//===- AttentionScores.cpp - Recognises attention -------------------------===//
// From the second product back: probabilities, masks, soft cap, scale, first
// product.
#include "passes/Graph/AttentionScores.h"

#include "passes/Graph/ConstantMask.h"
#include "passes/Graph/Match.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::graph;

SmallVector<int64_t> graph::getHeadShape(ArrayRef<int64_t> shape,
                                         bool transpose) {
  SmallVector<int64_t> lifted(shape);
  if (transpose) {
    std::swap(lifted[lifted.size() - 1], lifted[lifted.size() - 2]);
  }
  if (lifted.size() == 3) {
    lifted.insert(lifted.begin() + 1, 1);
  }
  return lifted;
}

namespace {
/// Masks and scales that are looked through.
constexpr unsigned maxSteps = 8;
/// Wider heads are no attention heads; their products are better off alone.
constexpr int64_t maxHeadSize = 1024;
/// A value put in place of a score that is at least this low drowns any score
/// added to it, so that it may as well be added.
constexpr double drowningFill = -1e8;

/// The probabilities behind a rounding to the operands' type and behind a
/// selection of zero where a row had nothing left.
Value stripProbabilities(Value value) {
  if (auto narrow = value.getDefiningOp<CastOp>();
      narrow && narrow->hasOneUse() &&
      tensorType(narrow.getInput()).getElementType().isF32()) {
    value = narrow.getInput();
  }
  auto select = value.getDefiningOp<SelectOp>();
  auto test =
      select ? select.getCondition().getDefiningOp<IsNanOp>() : IsNanOp();
  if (test && test.getInput() == select.getOnFalse() &&
      getScalarConstant(select.getOnTrue()) == 0.0) {
    return select.getOnFalse();
  }
  return value;
}

/// Whether only the attention reads the probabilities, which reach it as
/// `last`.
bool isOnlyReadBy(Value probabilities, Value last) {
  return last.hasOneUse() &&
         (probabilities == last ||
          llvm::all_of(probabilities.getUsers(), [](Operation *user) {
            return isa<IsNanOp, SelectOp, CastOp>(user);
          }));
}

/// Whether a cast only says what the op does: compute scores in f32.
bool isWidening(CastOp cast, const Attention &attention) {
  return cast.getType().getElementType().isF32() &&
         tensorType(cast.getInput()).getElementType() ==
             tensorType(attention.value).getElementType();
}

/// Whether scores can come out of `value`: a product behind scales and masks.
bool leadsToProduct(Value value) {
  for (unsigned step = 0; step < maxSteps; ++step) {
    if (value.getDefiningOp<MatmulOp>()) {
      return true;
    }
    if (auto scale = matchScale(value)) {
      value = scale->value;
    } else if (isa_and_nonnull<TanhOp, CastOp>(value.getDefiningOp())) {
      value = value.getDefiningOp()->getOperand(0);
    } else if (auto select = value.getDefiningOp<SelectOp>()) {
      value = getScalarConstant(select.getOnTrue()) ? select.getOnFalse()
                                                    : select.getOnTrue();
    } else if (auto add = value.getDefiningOp<AddOp>()) {
      value = add.getLhs().getType() == value.getType() ? add.getLhs()
                                                        : add.getRhs();
    } else {
      return false;
    }
  }
  return false;
}

/// Takes a mask that is added off `scores`.
bool stripAddedMask(AddOp add, Value &scores, Attention &attention) {
  for (unsigned i : {0u, 1u}) {
    Value inner = add->getOperand(i);
    if (inner.getType() == scores.getType() && leadsToProduct(inner)) {
      Mask mask;
      mask.value = add->getOperand(1 - i);
      attention.masks.push_back(mask);
      scores = inner;
      return true;
    }
  }
  return false;
}

/// Takes a selection of a low value off `scores`.
bool stripSelectedMask(SelectOp select, Value &scores, Attention &attention) {
  for (bool inverted : {false, true}) {
    Value inner = inverted ? select.getOnFalse() : select.getOnTrue();
    auto fill =
        getScalarConstant(inverted ? select.getOnTrue() : select.getOnFalse());
    if (!fill || inner.getType() != scores.getType()) {
      continue;
    }
    bool excludes = *fill <= drowningFill ||
                    (*fill <= excludingFill &&
                     keepsScoreInEachRow(select.getCondition(), inverted));
    if (excludes) {
      Mask mask;
      mask.value = select.getCondition();
      mask.isCondition = true;
      mask.isInverted = inverted;
      mask.fill = *fill;
      attention.masks.push_back(mask);
      scores = inner;
      return true;
    }
  }
  return false;
}

/// Takes scores * factor - offset off, where that is a mask, as the first GPT-2
/// was written.
bool stripFactorMask(SubOp difference, Value &scores, Attention &attention) {
  auto product = difference.getLhs().getDefiningOp<MulOp>();
  if (!product || product.getType() != scores.getType()) {
    return false;
  }
  for (unsigned i : {0u, 1u}) {
    Value inner = product->getOperand(i);
    if (inner.getType() == scores.getType() &&
        isFactorMask(product->getOperand(1 - i), difference.getRhs())) {
      Mask mask;
      mask.value = difference.getRhs();
      mask.isNegated = true;
      attention.masks.push_back(mask);
      scores = inner;
      return true;
    }
  }
  return false;
}

/// Takes one mask, or a widening to f32, off `scores`.
bool stripMask(Value &scores, Attention &attention) {
  Operation *op = scores.getDefiningOp();
  if (auto widen = dyn_cast_or_null<CastOp>(op)) {
    if (!isWidening(widen, attention)) {
      return false;
    }
    scores = widen.getInput();
    return true;
  }
  if (auto add = dyn_cast_or_null<AddOp>(op)) {
    return stripAddedMask(add, scores, attention);
  }
  if (auto select = dyn_cast_or_null<SelectOp>(op)) {
    return stripSelectedMask(select, scores, attention);
  }
  auto difference = dyn_cast_or_null<SubOp>(op);
  return difference && stripFactorMask(difference, scores, attention);
}

/// Takes c * tanh(scores / c) off.
void stripSoftcap(Value &scores, Attention &attention) {
  auto outer = matchScale(scores);
  auto tanh = outer ? outer->value.getDefiningOp<TanhOp>() : TanhOp();
  auto inner = tanh ? matchScale(tanh.getInput()) : std::nullopt;
  if (inner && outer->scalar > 0.0) {
    attention.softcap = outer->scalar;
    attention.scale = inner->scalar * outer->scalar;
    scores = inner->value;
  }
}

/// Moves scales of `value` into `scale`.
void stripScale(Value &value, double &scale) {
  for (unsigned step = 0; step < maxSteps; ++step) {
    auto match = matchScale(value);
    if (!match) {
      return;
    }
    scale *= match->scalar;
    value = match->value;
  }
}

/// Reads `scores` back to the product of queries and keys.
LogicalResult matchScores(Value scores, Attention &attention) {
  for (unsigned step = 0; step < maxSteps; ++step) {
    if (!stripMask(scores, attention)) {
      break;
    }
  }
  stripSoftcap(scores, attention);
  stripScale(scores, attention.scale);
  if (auto widen = scores.getDefiningOp<CastOp>();
      widen && isWidening(widen, attention)) {
    scores = widen.getInput();
    stripScale(scores, attention.scale);
  }
  auto product = scores.getDefiningOp<MatmulOp>();
  if (!product || product.getBias() || !product->hasOneUse()) {
    return failure();
  }
  attention.query = product.getLhs();
  attention.key = product.getRhs();
  attention.transposeQuery = product.getTransposeLhs();
  attention.transposeKey = !product.getTransposeRhs();
  stripScale(attention.query, attention.scale);
  stripScale(attention.key, attention.scale);
  return success(std::isfinite(attention.scale));
}

bool fits(const Attention &attention, RankedTensorType result) {
  auto q = tensorType(attention.query), k = tensorType(attention.key),
       v = tensorType(attention.value);
  int64_t rank = result.getRank();
  if ((rank != 3 && rank != 4) || q.getRank() != rank || k.getRank() != rank ||
      v.getRank() != rank) {
    return false;
  }
  auto qs = getHeadShape(q.getShape(), attention.transposeQuery);
  auto ks = getHeadShape(k.getShape(), attention.transposeKey);
  auto vs = getHeadShape(v.getShape(), attention.transposeValue);
  return qs[0] == ks[0] && ks[0] == vs[0] && qs[1] == ks[1] && ks[1] == vs[1] &&
         qs[3] == ks[3] && ks[2] == vs[2] && qs[3] <= maxHeadSize &&
         vs[3] <= maxHeadSize && q.getElementType() == k.getElementType() &&
         q.getElementType() == v.getElementType() &&
         q.getElementType() == result.getElementType();
}
} // namespace

std::optional<Attention> graph::matchAttention(MatmulOp op) {
  if (op.getBias() || op.getTransposeLhs()) {
    return std::nullopt;
  }
  Value probabilities = stripProbabilities(op.getLhs());
  auto softmax = probabilities.getDefiningOp<SoftmaxOp>();
  if (!softmax ||
      static_cast<int64_t>(softmax.getAxis()) !=
          softmax.getType().getRank() - 1 ||
      !isOnlyReadBy(probabilities, op.getLhs())) {
    return std::nullopt;
  }
  Attention attention;
  attention.value = op.getRhs();
  attention.transposeValue = op.getTransposeRhs();
  if (failed(matchScores(softmax.getInput(), attention)) ||
      !fits(attention, op.getType())) {
    return std::nullopt;
  }
  return attention;
}
