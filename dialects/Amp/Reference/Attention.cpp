//===- Attention.cpp - Evaluation of attention ----------------------------===//
#include "dialects/Amp/Reference/Arrays.h"
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Amp/Reference/ScalarMath.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

/// What is added to the score of query i and key j: a float mask's value, or
/// minus infinity where a boolean one excludes.
std::vector<double> getMask(const Tensor &mask, ArrayRef<int64_t> scores) {
  std::vector<double> values = getBroadcastArray<double>(mask, scores);
  if (mask.getKind() == Kind::Bool) {
    for (double &value : values) {
      value = value != 0 ? 0 : -HUGE_VAL;
    }
  }
  return values;
}

/// Replaces scores by probabilities rounded to `kind`; all zero when nothing is
/// left to attend to.
void softmaxRow(Kind kind, MutableArrayRef<double> scores) {
  double largest = -HUGE_VAL, sum = 0;
  for (double score : scores) {
    largest = math::max(largest, score);
  }
  if (largest == -HUGE_VAL) {
    std::fill(scores.begin(), scores.end(), 0.0);
    return;
  }
  for (double &score : scores) {
    score = std::exp(score - largest);
    sum += score;
  }
  for (double &score : scores) {
    score = roundTo(kind, score / sum);
  }
}

std::optional<Tensor> attention(AttentionOp op, ArrayRef<Tensor> operands) {
  RankedTensorType type = getResultType(op);
  auto result = Tensor::allocate(type);
  if (!result || result->size() == 0) {
    return result;
  }
  auto query = operands[0].getShape(), key = operands[1].getShape();
  int64_t batch = query[0], heads = query[1], s = query[2], d = query[3];
  int64_t keyHeads = key[1], t = key[2], e = type.getShape()[3];
  std::vector<double> q = getArray<double>(operands[0]),
                      k = getArray<double>(operands[1]),
                      v = getArray<double>(operands[2]), mask;
  if (op.getMask()) {
    mask = getMask(operands[3], {batch, heads, s, t});
  }
  double scale = op.getScale().convertToDouble();
  double cap = op.getSoftcap().convertToDouble();
  int64_t shift = op.getCausalAlignEnd() ? t - s : 0;
  Kind kind = operands[0].getKind();
  std::vector<double> scores(t), sums(e);
  char *to = result->mutableBytes();
  for (int64_t row = 0; row < batch * heads * s; ++row) {
    int64_t i = row % s, head = row / s % heads, b = row / s / heads;
    int64_t keyHead = b * keyHeads + head / (heads / keyHeads);
    for (int64_t j = 0; j < t; ++j) {
      const double *left = q.data() + row * d;
      const double *right = k.data() + (keyHead * t + j) * d;
      double dot = 0;
      for (int64_t p = 0; p < d; ++p) {
        dot += left[p] * right[p];
      }
      double score = dot * scale;
      score = cap > 0 ? cap * std::tanh(score / cap) : score;
      score = mask.empty() ? score : score + mask[row * t + j];
      scores[j] = op.getCausal() && j > i + shift ? -HUGE_VAL : score;
    }
    softmaxRow(kind, scores);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t j = 0; j < t; ++j) {
      // An excluded key takes no part, whatever its value holds.
      if (scores[j] == 0) {
        continue;
      }
      const double *value = v.data() + (keyHead * t + j) * e;
      for (int64_t p = 0; p < e; ++p) {
        sums[p] += scores[j] * value[p];
      }
    }
    storeArray(result->getKind(), sums, to);
    to += e * result->getByteWidth();
  }
  return result;
}
} // namespace

void ref::attachAttention(MLIRContext *context) { attach<attention>(context); }
