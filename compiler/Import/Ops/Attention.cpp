//===- Attention.cpp - Attention and rotary embedding ---------------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace ampc::importer {
namespace {

using P = amp::ComparePredicate;

/// What an Attention node computes, operands as [batch, heads, length, size].
struct AttentionPlan {
  Value query, key, value; // key and value with the past in front
  Value mask;              // boolean or float, null without one
  double scale = 1, softcap = 0;
  bool isCausal = false;
  int64_t leftWindow = -1, rightWindow = -1;
  int64_t pastLength = 0;
  Value validLengths; // per batch: keys that are not padding; or null
};

class AttentionConverter {
public:
  explicit AttentionConverter(Node &n) : n(n) {}
  LogicalResult run();

private:
  LogicalResult readOperands();
  LogicalResult readMask();
  Value splitHeads(Value x, std::optional<int64_t> heads, StringRef name);
  /// Whether query i may see key j by position: [.., S, T], or null if all may.
  Value buildAllowed();
  void combine(Value &all, Value next) {
    all = all ? n.build<amp::AndOp>(all, next) : next;
  }
  /// Puts `allowed` into the mask.
  void restrictMask(Value allowed);
  Value buildScores();

  Node &n;
  AttentionPlan plan;
  bool isFlat = false; // operands of rank 3
};

} // namespace

/// [B, S, H * D] as [B, H, S, D].
Value AttentionConverter::splitHeads(Value x, std::optional<int64_t> heads,
                                     StringRef name) {
  if (n.rank(x) == 4) {
    return x;
  }
  ArrayRef<int64_t> s = n.shape(x);
  if (!heads || *heads < 1 || s[2] % *heads != 0) {
    (void)n.invalid("its " + name + " does not divide into heads");
    return {};
  }
  return n.transpose(n.reshape(x, {s[0], s[1], *heads, s[2] / *heads}),
                     {0, 2, 1, 3});
}

LogicalResult AttentionConverter::readOperands() {
  auto queryHeads = n.attrs.findInt("q_num_heads");
  auto keyHeads = n.attrs.findInt("kv_num_heads");
  Value q = n.in(0), k = n.in(1), v = n.in(2);
  isFlat = n.rank(q) == 3;
  for (Value x : {q, k, v}) {
    if (n.rank(x) != (isFlat ? 3 : 4)) {
      return n.invalid("expected query, key and value of rank 3 or 4");
    }
  }
  plan.query = splitHeads(q, queryHeads, "query");
  plan.key = splitHeads(k, keyHeads, "key");
  plan.value = splitHeads(v, keyHeads, "value");
  if (n.has(4) != n.has(5)) {
    return n.invalid("expected both past_key and past_value, or none");
  }
  if (n.has(4)) {
    if (n.rank(n.in(4)) != 4) {
      return n.invalid("expected past_key of rank 4");
    }
    plan.pastLength = n.shape(n.in(4))[2];
    plan.key = n.concat({n.in(4), plan.key}, 2);
    plan.value = n.concat({n.in(5), plan.value}, 2);
  }
  if (n.has(6)) {
    plan.validLengths = n.cast(n.in(6), n.b.getI64Type());
  }
  if (!plan.query || !plan.key || !plan.value) {
    return failure();
  }
  double size = static_cast<double>(n.shape(plan.query)[3]);
  plan.scale = n.attrs.getFloat("scale", 0);
  if (!n.attrs.has("scale")) {
    plan.scale = 1 / std::sqrt(size);
  }
  plan.softcap = n.attrs.getFloat("softcap", 0);
  plan.isCausal = n.attrs.getFlag("is_causal");
  plan.leftWindow = n.attrs.getInt("left_window_size", -1);
  plan.rightWindow = n.attrs.getInt("right_window_size", -1);
  n.attrs.ignore("softmax_precision"); // never below f32 here
  return success();
}

/// A mask may cover fewer keys than there are; the rest is excluded.
LogicalResult AttentionConverter::readMask() {
  if (!n.has(3)) {
    return success();
  }
  Value mask = n.in(3);
  int64_t keys = n.shape(plan.key)[2], rank = n.rank(mask);
  if (rank < 1 || rank > 4) {
    return n.invalid("expected a mask of rank 1 to 4");
  }
  int64_t missing = keys - n.shape(mask).back();
  if (missing > 0 && n.shape(mask).back() != 1) {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    high.back() = missing;
    Value fill = n.isFloat(mask)
                     ? n.scalar(n.element(mask),
                                -std::numeric_limits<double>::infinity())
                     : Value();
    mask = n.build<amp::PadOp>(mask, fill, low, high, amp::PadMode::Constant);
  }
  plan.mask = mask;
  return success();
}

Value AttentionConverter::buildAllowed() {
  int64_t queries = n.shape(plan.query)[2], keys = n.shape(plan.key)[2];
  Type index = n.b.getI64Type();
  Value allowed;
  Value column = n.iota(index, {1, 1, 1, keys}, 3);
  // Position of query i among the keys: i + offset.
  Value position = n.iota(index, {1, 1, queries, 1}, 2);
  if (plan.validLengths && !n.has(4)) {
    Value lengths =
        n.reshape(plan.validLengths, {n.shape(plan.query)[0], 1, 1, 1});
    position = n.build<amp::AddOp>(
        position, n.build<amp::SubOp>(lengths, n.scalar(index, queries)));
    combine(allowed, n.build<amp::CompareOp>(column, lengths, P::LT));
  } else if (plan.pastLength != 0) {
    position = n.build<amp::AddOp>(position, n.scalar(index, plan.pastLength));
  }
  if (plan.isCausal) {
    combine(allowed, n.build<amp::CompareOp>(column, position, P::LE));
  }
  if (plan.leftWindow >= 0) {
    Value first =
        n.build<amp::SubOp>(position, n.scalar(index, plan.leftWindow));
    combine(allowed, n.build<amp::CompareOp>(column, first, P::GE));
  }
  if (plan.rightWindow >= 0) {
    Value last =
        n.build<amp::AddOp>(position, n.scalar(index, plan.rightWindow));
    combine(allowed, n.build<amp::CompareOp>(column, last, P::LE));
  }
  return allowed;
}

void AttentionConverter::restrictMask(Value allowed) {
  if (!allowed) {
    return;
  }
  if (!plan.mask) {
    plan.mask = allowed;
  } else if (!n.isFloat(plan.mask)) {
    plan.mask = n.build<amp::AndOp>(plan.mask, allowed);
  } else {
    Value lowest = n.scalar(n.element(plan.mask),
                            -std::numeric_limits<double>::infinity());
    plan.mask = n.build<amp::SelectOp>(allowed, plan.mask, lowest);
  }
}

/// The second product's left side at the stage that qk_matmul_output_mode
/// names, for models that look at it.
Value AttentionConverter::buildScores() {
  int64_t mode = n.attrs.getInt("qk_matmul_output_mode", 0);
  SmallVector<Value> operands{plan.query, plan.key};
  if (plan.mask) {
    operands.push_back(plan.mask);
  }
  ArrayRef<int64_t> q = n.shape(plan.query), k = n.shape(plan.key);
  if (k[1] == 0 || q[1] % k[1] != 0) {
    (void)n.invalid("query heads do not divide by key heads");
    return {};
  }
  int64_t repeats = q[1] / k[1];
  auto body = [&](ArrayRef<Value> in) -> Value {
    Type element = n.element(in[0]);
    Value key = in[1];
    if (repeats != 1) {
      key = n.reshape(n.broadcast(n.reshape(key, {k[0], k[1], 1, k[2], k[3]}),
                                  {k[0], k[1], repeats, k[2], k[3]}),
                      {k[0], q[1], k[2], k[3]});
    }
    Value product = n.build<amp::MatmulOp>(in[0], key, Value(), false, true);
    Value scores = n.build<amp::MulOp>(product, n.scalar(element, plan.scale));
    if (mode != 0 && plan.softcap > 0) {
      Value cap = n.scalar(element, plan.softcap);
      scores = n.build<amp::MulOp>(
          n.unary<amp::TanhOp>(n.build<amp::DivOp>(scores, cap)), cap);
    }
    if (mode < 2) {
      return scores;
    }
    Value isOpen;
    if (in.size() == 3) {
      Value lowest =
          n.scalar(element, -std::numeric_limits<double>::infinity());
      Value bias =
          n.isFloat(in[2])
              ? n.cast(in[2], element)
              : n.build<amp::SelectOp>(in[2], n.scalar(element, 0), lowest);
      scores = n.build<amp::AddOp>(scores, bias);
      isOpen = n.build<amp::CompareOp>(
          n.build<amp::ReduceMaxOp>(bias, ArrayRef<int64_t>{n.rank(bias) - 1},
                                    /*keepdims=*/true),
          lowest, P::GT);
    }
    if (mode == 2) {
      return scores;
    }
    Value softmax = n.unary<amp::SoftmaxOp>(scores, 3);
    return isOpen
               ? n.build<amp::SelectOp>(isOpen, softmax, n.scalar(element, 0))
               : softmax;
  };
  SmallVector<int64_t, 1> pinned;
  if (plan.mask) {
    pinned.push_back(2);
  }
  return n.composite1(operands, body, pinned);
}

LogicalResult AttentionConverter::run() {
  if (failed(readOperands()) || failed(readMask())) {
    return failure();
  }
  int64_t queries = n.shape(plan.query)[2], keys = n.shape(plan.key)[2];
  bool hasWindow = plan.leftWindow >= 0 || plan.rightWindow >= 0;
  // The op knows two causal alignments; all else goes through the mask.
  bool isTop = plan.pastLength == 0;
  bool isBottom = plan.pastLength == keys - queries;
  bool isNative =
      !hasWindow && !plan.validLengths && (!plan.isCausal || isTop || isBottom);
  bool looksInside = n.wants(3);
  Value nativeMask = plan.mask;
  if (!isNative || looksInside) {
    restrictMask(buildAllowed());
  }
  Value mask = isNative ? nativeMask : plan.mask;
  Value y = n.build<amp::AttentionOp>(
      plan.query, plan.key, plan.value, mask, llvm::APFloat(plan.scale),
      plan.isCausal && isNative, /*causal_align_end=*/!isTop && isBottom,
      llvm::APFloat(plan.softcap));
  if (isFlat && y) {
    ArrayRef<int64_t> s = n.shape(y);
    y = n.reshape(n.transpose(y, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
  }
  n.set(0, y);
  n.set(1, plan.key);
  n.set(2, plan.value);
  if (looksInside) {
    n.set(3, buildScores());
  } else {
    n.attrs.ignore("qk_matmul_output_mode");
  }
  return success();
}

static LogicalResult convertAttention(Node &n) {
  return AttentionConverter(n).run();
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Rotates pairs of features by an angle that depends on the position.
static LogicalResult convertRotaryEmbedding(Node &n) {
  Value x = n.in(0), cosines = n.in(1), sines = n.in(2);
  bool interleaved = n.attrs.getFlag("interleaved");
  int64_t heads = n.attrs.getInt("num_heads", 0);
  int64_t rotated = n.attrs.getInt("rotary_embedding_dim", 0);
  SmallVector<int64_t> original(n.shape(x));
  bool isFlat = original.size() == 3;
  if ((!isFlat && original.size() != 4) ||
      (isFlat && (heads < 1 || original[2] % heads != 0))) {
    return n.invalid("expected a rank of 4, or of 3 with num_heads");
  }
  // To [batch, length, heads, size].
  x = isFlat
          ? n.reshape(x, {original[0], original[1], heads, original[2] / heads})
          : n.transpose(x, {0, 2, 1, 3});
  ArrayRef<int64_t> s = n.shape(x);
  int64_t size = s[3];
  rotated = rotated == 0 ? size : rotated;
  if (rotated < 2 || rotated % 2 != 0 || rotated > size) {
    return n.invalid("its rotated dimension of " + Twine(rotated) +
                     " does not fit heads of " + Twine(size));
  }
  int64_t half = rotated / 2;
  if (n.has(3)) {
    cosines = n.build<amp::GatherOp>(cosines, n.in(3), 0);
    sines = n.build<amp::GatherOp>(sines, n.in(3), 0);
  }
  if (n.shape(cosines) != ArrayRef<int64_t>{s[0], s[1], half} ||
      n.shape(sines) != n.shape(cosines)) {
    return n.hasFailed() ? failure()
                         : n.invalid("its caches do not fit its input");
  }
  Value y = n.composite1({x, cosines, sines}, [&](ArrayRef<Value> in) {
    Value cosine = n.reshape(in[1], {s[0], s[1], 1, half});
    Value sine = n.reshape(in[2], {s[0], s[1], 1, half});
    int64_t stride = interleaved ? 2 : 1;
    Value first = n.sliceDim(in[0], 3, 0, half, stride);
    Value second = n.sliceDim(in[0], 3, interleaved ? 1 : half, half, stride);
    Value real = n.build<amp::SubOp>(n.build<amp::MulOp>(cosine, first),
                                     n.build<amp::MulOp>(sine, second));
    Value imaginary = n.build<amp::AddOp>(n.build<amp::MulOp>(sine, first),
                                          n.build<amp::MulOp>(cosine, second));
    SmallVector<int64_t> pair{s[0], s[1], s[2], half, 1};
    Value turned = interleaved
                       ? n.reshape(n.concat({n.reshape(real, pair),
                                             n.reshape(imaginary, pair)},
                                            4),
                                   {s[0], s[1], s[2], rotated})
                       : n.concat({real, imaginary}, 3);
    if (rotated == size) {
      return turned;
    }
    Value rest = n.sliceDim(in[0], 3, rotated, size - rotated);
    return n.concat({turned, rest}, 3);
  });
  n.set(0, isFlat ? n.reshape(y, original) : n.transpose(y, {0, 2, 1, 3}));
  return success();
}

void addAttentionOps(OpTable &table) {
  table.add({
      {"Attention", convertAttention, AutocastClass::Lower, 3, 7, 4, 23},
      {"RotaryEmbedding", convertRotaryEmbedding, AutocastClass::Promote, 3, 4,
       1, 23},
  });
}

} // namespace ampc::importer
