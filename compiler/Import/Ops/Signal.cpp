//===- Signal.cpp - Fourier transforms as matrix products -----------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace ampc::importer {
namespace {

/// A transform of `length` points along one axis of [..., length, 1 or 2].
struct Transform {
  int64_t length = 0;
  bool isInverse = false, isOneSided = false;

  /// Points of the result: all, or those not given by symmetry.
  int64_t resultLength() const {
    return isOneSided && !isInverse ? length / 2 + 1 : length;
  }
  /// Points of the operand that enter.
  int64_t operandLength() const {
    return isOneSided && isInverse ? length / 2 + 1 : length;
  }
};

/// A transform takes a matrix of the square of its length.
constexpr int64_t maxLength = 2048;

} // namespace

/// [operand points, result points] of weight * cos or sin of 2 pi j k / length.
static Value buildMatrix(Node &n, const Transform &t, bool isSine,
                         Type element) {
  std::vector<double> values;
  for (int64_t j = 0; j < t.operandLength(); ++j) {
    // Of a one-sided operand, all but the first and middle point stand for two.
    bool isSingle = j == 0 || 2 * j == t.length;
    double weight = t.isInverse && t.isOneSided && !isSingle ? 2 : 1;
    weight /= t.isInverse ? static_cast<double>(t.length) : 1;
    for (int64_t k = 0; k < t.resultLength(); ++k) {
      // Reduced before the division, so that the angle stays exact.
      double turn = static_cast<double>((j * k) % t.length) / t.length;
      double angle = 2 * M_PI * turn;
      values.push_back(weight * (isSine ? std::sin(angle) : std::cos(angle)));
    }
  }
  auto type =
      RankedTensorType::get({t.operandLength(), t.resultLength()}, element);
  if (element.isF64()) {
    return n.constant(DenseElementsAttr::get(type, ArrayRef(values)));
  }
  std::vector<float> narrow(values.begin(), values.end());
  auto attr =
      DenseElementsAttr::get(type.clone(n.b.getF32Type()), ArrayRef(narrow));
  return n.cast(n.constant(attr), element);
}

/// Cuts or pads dimension `axis` to `size`.
static Value fit(Node &n, Value x, int64_t axis, int64_t size) {
  int64_t have = n.shape(x).empty() ? 0 : n.shape(x)[axis];
  if (have >= size) {
    return n.sliceDim(x, axis, 0, size);
  }
  SmallVector<int64_t> low(n.rank(x), 0), high(n.rank(x), 0);
  high[axis] = size - have;
  return n.build<amp::PadOp>(x, Value(), low, high, amp::PadMode::Constant);
}

/// Transforms along `axis` of `x`, whose last dimension holds the real part and
/// perhaps the imaginary one.
static Value buildTransform(Node &n, Value x, int64_t axis,
                            const Transform &t) {
  if (!x) {
    return {};
  }
  int64_t rank = n.rank(x), last = rank - 1;
  bool isComplex = n.shape(x)[last] == 2;
  Type element = n.element(x);
  x = fit(n, x, axis, t.operandLength());
  // Bring the axis to the end: [..., points].
  SmallVector<int64_t> forward = countUp(0, rank - 1), shape;
  forward.erase(forward.begin() + axis);
  forward.push_back(axis);
  auto part = [&](int64_t index) {
    Value slice = n.sliceDim(x, last, index, 1);
    SmallVector<int64_t> flat(n.shape(slice));
    flat.pop_back();
    return n.transpose(n.reshape(slice, flat), forward);
  };
  auto product = [&](Value signal, Value matrix) {
    if (n.rank(signal) == 1) {
      Value row = n.reshape(signal, {1, n.shape(signal)[0]});
      Value y = n.build<amp::MatmulOp>(row, matrix, Value(), false, false);
      return n.reshape(y, {t.resultLength()});
    }
    return n.build<amp::MatmulOp>(signal, matrix, Value(), false, false);
  };
  Value cosine = buildMatrix(n, t, /*isSine=*/false, element);
  Value sine = buildMatrix(n, t, /*isSine=*/true, element);
  // (a + ib)(cos -+ i sin): forward subtracts the sine's part.
  Value a = part(0), b = isComplex ? part(1) : Value();
  Value real = product(a, cosine), imaginary = product(a, sine);
  if (!t.isInverse) {
    imaginary = n.unary<amp::NegOp>(imaginary);
  }
  if (b) {
    Value cross = product(b, sine);
    real = t.isInverse ? n.build<amp::SubOp>(real, cross)
                       : n.build<amp::AddOp>(real, cross);
    imaginary = n.build<amp::AddOp>(imaginary, product(b, cosine));
  }
  SmallVector<int64_t> backward(rank - 1);
  for (auto [to, from] : llvm::enumerate(forward)) {
    backward[from] = to;
  }
  auto expand = [&](Value y) {
    Value moved = n.transpose(y, backward);
    SmallVector<int64_t> full(n.shape(moved));
    full.push_back(1);
    return n.reshape(moved, full);
  };
  bool isReal = t.isInverse && t.isOneSided;
  return isReal ? expand(real)
                : n.concat({expand(real), expand(imaginary)}, last);
}

static LogicalResult convertDft(Node &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  Transform t;
  t.isInverse = n.attrs.getFlag("inverse");
  t.isOneSided = n.attrs.getFlag("onesided");
  int64_t given = n.opset < 20 ? n.attrs.getInt("axis", 1) : -2;
  if (n.opset >= 20 && n.has(2)) {
    auto value = n.constantInt(2, "axis");
    if (!value) {
      return failure();
    }
    given = *value;
  }
  auto axis = n.axis(given, rank);
  if (!axis) {
    return failure();
  }
  int64_t last = rank < 2 ? 0 : n.shape(x)[rank - 1];
  if (*axis == rank - 1 || (last != 1 && last != 2)) {
    return n.invalid("expected a last dimension of 1 or 2 that is not "
                     "transformed");
  }
  t.length = n.shape(x)[*axis];
  if (t.isInverse && t.isOneSided) {
    t.length = 2 * (t.length - 1);
  }
  if (n.has(1)) {
    auto length = n.constantInt(1, "dft_length");
    if (!length) {
      return failure();
    }
    t.length = *length;
  }
  if (t.length < 1 || t.length > maxLength) {
    return n.unsupported("length " + Twine(t.length));
  }
  n.set(0, n.composite1({x}, [&](ArrayRef<Value> in) {
    return buildTransform(n, in[0], *axis, t);
  }));
  return success();
}

static LogicalResult convertStft(Node &n) {
  Value x = n.in(0);
  Transform t;
  t.isOneSided = n.attrs.getFlag("onesided", true);
  auto step = n.constantInt(1, "frame_step");
  if (!step) {
    return failure();
  }
  int64_t samples = n.rank(x) >= 2 ? n.shape(x)[1] : 0;
  t.length = samples;
  if (n.has(3)) {
    auto length = n.constantInt(3, "frame_length");
    if (!length) {
      return failure();
    }
    t.length = *length;
  } else if (n.has(2) && n.rank(n.in(2)) == 1) {
    t.length = n.shape(n.in(2))[0];
  }
  if (n.rank(x) != 3 || *step < 1 || t.length < 1 || t.length > samples ||
      (n.has(2) && n.shape(n.in(2)) != ArrayRef<int64_t>{t.length})) {
    return n.invalid("its frames do not fit its signal");
  }
  if (t.length > maxLength) {
    return n.unsupported("frames of " + Twine(t.length) + " samples");
  }
  int64_t frames = 1 + (samples - t.length) / *step;
  SmallVector<Value> operands{x};
  if (n.has(2)) {
    operands.push_back(n.in(2));
  }
  n.set(0, n.composite1(operands, [&](ArrayRef<Value> in) {
    Type index = n.b.getI64Type();
    Value start = n.build<amp::MulOp>(n.iota(index, {frames, 1}, 0),
                                      n.scalar(index, *step));
    Value place = n.build<amp::AddOp>(start, n.iota(index, {1, t.length}, 1));
    // [batch, frames, length, 1 or 2]
    Value framed = n.build<amp::GatherOp>(in[0], place, /*axis=*/1);
    if (in.size() == 2) {
      framed = n.build<amp::MulOp>(framed, n.reshape(in[1], {t.length, 1}));
    }
    return buildTransform(n, framed, 2, t);
  }));
  return success();
}

void addSignalOps(OpTable &table) {
  table.add({
      {"DFT", convertDft, AutocastClass::Fp32, 1, 3},
      {"STFT", convertStft, AutocastClass::Fp32, 2, 4},
  });
}

} // namespace ampc::importer
