//===- Sampling.cpp - Reading images at computed places -------------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ampc::importer {
namespace {

using P = amp::ComparePredicate;

enum class Interpolation { Nearest, Linear, Cubic };
enum class Padding { Zeros, Border, Reflection };

/// One neighbour along one dimension: its index, its weight (null: 1) and
/// whether it lies inside (null: always).
struct Tap {
  Value index, weight, isInside;
};

/// Interpolates [N, C, spatial...] at the places of a grid. Everything per
/// place has the shape [N, places].
class GridSampler {
public:
  GridSampler(Node &n, Interpolation mode, Padding padding, bool alignCorners)
      : n(n), mode(mode), padding(padding), alignCorners(alignCorners) {}

  Value build(Value image, Value grid);

private:
  Value num(double value) { return n.scalar(element, value); }
  Value add(Value l, Value r) { return n.build<amp::AddOp>(l, r); }
  Value sub(Value l, Value r) { return n.build<amp::SubOp>(l, r); }
  Value mul(Value l, Value r) { return n.build<amp::MulOp>(l, r); }
  Value clip(Value x, double low, double high) {
    return n.unary<amp::ClipOp>(x, llvm::APFloat(low), llvm::APFloat(high));
  }
  /// Folds a coordinate back at the borders until it is between them.
  Value reflect(Value x, int64_t length);
  Value locate(Value coordinate, int64_t length);
  SmallVector<Value> cubicWeights(Value fraction);
  SmallVector<Tap> makeTaps(Value position, int64_t length);
  /// An integral position, still a float, as an index.
  Tap makeTap(Value position, Value weight, int64_t length);

  Node &n;
  Interpolation mode;
  Padding padding;
  bool alignCorners;
  Type element;
};

} // namespace

Value GridSampler::reflect(Value x, int64_t length) {
  double low = alignCorners ? 0 : -0.5;
  double span = alignCorners ? length - 1 : length;
  if (span <= 0) {
    return mul(x, num(0));
  }
  // A triangle wave of period twice the span.
  Value phase = n.build<amp::ModOp>(sub(x, num(low)), num(2 * span),
                                    /*fmod=*/false);
  Value folded = n.build<amp::MinOp>(phase, sub(num(2 * span), phase));
  return add(folded, num(low));
}

/// From [-1, 1] to pixels.
Value GridSampler::locate(Value coordinate, int64_t length) {
  Value x = add(coordinate, num(1));
  x = alignCorners ? mul(x, num((length - 1) / 2.0))
                   : mul(sub(mul(x, num(length)), num(1)), num(0.5));
  if (mode == Interpolation::Nearest) {
    x = n.unary<amp::RoundOp>(x);
  }
  if (padding == Padding::Border) {
    return clip(x, 0, length - 1);
  }
  return padding == Padding::Reflection ? reflect(x, length) : x;
}

Tap GridSampler::makeTap(Value position, Value weight, int64_t length) {
  Tap tap;
  tap.weight = weight;
  if (padding == Padding::Zeros) {
    Value low = n.build<amp::CompareOp>(position, num(0), P::GE);
    Value high = n.build<amp::CompareOp>(position, num(length - 1), P::LE);
    tap.isInside = n.build<amp::AndOp>(low, high);
  } else if (padding == Padding::Reflection) {
    position = reflect(position, length);
  }
  tap.index = n.cast(clip(position, 0, length - 1), n.b.getI64Type());
  return tap;
}

/// Keys' kernel with a = -0.75 for the four neighbours of a fraction.
SmallVector<Value> GridSampler::cubicWeights(Value fraction) {
  constexpr double a = -0.75;
  auto inner = [&](Value x) {
    Value y = sub(mul(num(a + 2), x), num(a + 3));
    return add(mul(mul(y, x), x), num(1));
  };
  auto outer = [&](Value x) {
    Value y = sub(mul(num(a), x), num(5 * a));
    y = add(mul(y, x), num(8 * a));
    return sub(mul(y, x), num(4 * a));
  };
  Value rest = sub(num(1), fraction);
  return {outer(add(fraction, num(1))), inner(fraction), inner(rest),
          outer(add(rest, num(1)))};
}

SmallVector<Tap> GridSampler::makeTaps(Value position, int64_t length) {
  if (mode == Interpolation::Nearest) {
    return {makeTap(position, Value(), length)};
  }
  Value base = n.unary<amp::FloorOp>(position);
  Value fraction = sub(position, base);
  if (mode == Interpolation::Linear) {
    return {makeTap(base, sub(num(1), fraction), length),
            makeTap(add(base, num(1)), fraction, length)};
  }
  SmallVector<Tap> taps;
  for (auto [i, weight] : llvm::enumerate(cubicWeights(fraction))) {
    Value place = add(base, num(static_cast<double>(i) - 1));
    taps.push_back(makeTap(place, weight, length));
  }
  return taps;
}

Value GridSampler::build(Value image, Value grid) {
  element = n.element(grid);
  SmallVector<int64_t> shape(n.shape(image)), gridShape(n.shape(grid));
  int64_t dims = gridShape.back(), batch = shape[0];
  ArrayRef<int64_t> spatial = ArrayRef(shape).drop_front(2);
  int64_t places = 1, pixels = 1;
  for (int64_t size : ArrayRef(gridShape).drop_front().drop_back()) {
    places *= size;
  }
  for (int64_t size : spatial) {
    pixels *= size;
  }
  Value flatGrid = n.reshape(grid, {batch, places, dims});
  SmallVector<SmallVector<Tap>> taps;
  for (int64_t dim = 0; dim < dims; ++dim) {
    // The grid names the last dimension first.
    Value coordinate =
        n.reshape(n.sliceDim(flatGrid, 2, dims - 1 - dim, 1), {batch, places});
    taps.push_back(makeTaps(locate(coordinate, spatial[dim]), spatial[dim]));
  }
  // [N, pixels, C], so that one index fetches all channels.
  Value source =
      n.transpose(n.reshape(image, {batch, shape[1], pixels}), {0, 2, 1});
  Type index = n.b.getI64Type();
  Value sum;
  SmallVector<size_t> choice(dims, 0);
  while (true) {
    Value flat, weight, isInside;
    for (int64_t dim = 0; dim < dims; ++dim) {
      const Tap &tap = taps[dim][choice[dim]];
      flat = flat ? add(mul(flat, n.scalar(index, spatial[dim])), tap.index)
                  : tap.index;
      weight = !tap.weight ? weight
               : weight    ? mul(weight, tap.weight)
                           : tap.weight;
      isInside = !tap.isInside ? isInside
                 : isInside    ? n.build<amp::AndOp>(isInside, tap.isInside)
                               : tap.isInside;
    }
    Value picked = n.build<amp::GatherNdOp>(
        source, n.reshape(flat, {batch, places, 1}), /*batch_dims=*/1);
    if (isInside) {
      picked = n.build<amp::SelectOp>(n.reshape(isInside, {batch, places, 1}),
                                      picked, n.scalar(n.element(picked), 0));
    }
    if (weight) {
      Value factor =
          n.cast(n.reshape(weight, {batch, places, 1}), n.element(picked));
      picked = mul(picked, factor);
    }
    sum = sum ? add(sum, picked) : picked;
    // The next combination of taps.
    int64_t dim = dims - 1;
    while (dim >= 0 && ++choice[dim] == taps[dim].size()) {
      choice[dim--] = 0;
    }
    if (dim < 0 || n.hasFailed()) {
      break;
    }
  }
  SmallVector<int64_t> result{batch, shape[1]};
  result.append(gridShape.begin() + 1, gridShape.end() - 1);
  return n.reshape(n.transpose(sum, {0, 2, 1}), result);
}

static LogicalResult convertGridSample(Node &n) {
  std::string modeName = n.attrs.getString("mode", "linear");
  std::string paddingName = n.attrs.getString("padding_mode", "zeros");
  bool alignCorners = n.attrs.getFlag("align_corners");
  Interpolation mode = Interpolation::Linear;
  if (modeName == "nearest") {
    mode = Interpolation::Nearest;
  } else if (modeName == "cubic" || modeName == "bicubic") {
    mode = Interpolation::Cubic;
  } else if (modeName != "linear" && modeName != "bilinear") {
    return n.invalid("unknown mode '" + printableName(modeName) + "'");
  }
  Padding padding = Padding::Zeros;
  if (paddingName == "border") {
    padding = Padding::Border;
  } else if (paddingName == "reflection") {
    padding = Padding::Reflection;
  } else if (paddingName != "zeros") {
    return n.invalid("unknown padding_mode '" + printableName(paddingName) +
                     "'");
  }
  Value x = n.in(0), grid = n.in(1);
  if (n.rank(x) < 3 || n.rank(x) > 5 || n.rank(grid) != n.rank(x) ||
      n.shape(grid).back() != n.rank(x) - 2 ||
      n.shape(grid)[0] != n.shape(x)[0] || llvm::is_contained(n.shape(x), 0)) {
    return n.invalid("its grid does not fit its input");
  }
  GridSampler sampler(n, mode, padding, alignCorners);
  n.set(0, n.composite1(
               {x, grid},
               [&](ArrayRef<Value> in) { return sampler.build(in[0], in[1]); },
               {1}));
  return success();
}

/// The places of an image's pixels under one affine map per batch entry.
static LogicalResult convertAffineGrid(Node &n) {
  Value theta = n.in(0);
  bool alignCorners = n.attrs.getFlag("align_corners");
  auto size = n.constantInts(1, "size");
  if (!size) {
    return failure();
  }
  int64_t dims = static_cast<int64_t>(size->size()) - 2;
  auto count = countElements(*size);
  constexpr int64_t maxPlaces = 1 << 22;
  if ((dims != 2 && dims != 3) || !count ||
      n.shape(theta) != ArrayRef<int64_t>{(*size)[0], dims, dims + 1}) {
    return n.invalid("its size does not fit its maps");
  }
  ArrayRef<int64_t> spatial = ArrayRef(*size).drop_front(2);
  int64_t places = *countElements(spatial);
  if (places > maxPlaces) {
    return n.unsupported("grid of " + Twine(places) + " places");
  }
  auto coordinate = [&](int64_t i, int64_t length) {
    if (alignCorners) {
      return length == 1 ? 0.0 : -1 + 2.0 * i / (length - 1);
    }
    return (2.0 * i + 1) / length - 1;
  };
  std::vector<float> base; // [places, dims + 1], the last dimension first
  for (int64_t place = 0; place < places; ++place) {
    int64_t rest = place;
    for (int64_t dim = dims - 1; dim >= 0; --dim) {
      base.push_back(
          static_cast<float>(coordinate(rest % spatial[dim], spatial[dim])));
      rest /= spatial[dim];
    }
    base.push_back(1);
  }
  SmallVector<int64_t> result{(*size)[0]};
  result.append(spatial.begin(), spatial.end());
  result.push_back(dims);
  n.set(0, n.composite1({theta}, [&](ArrayRef<Value> in) {
    auto type = RankedTensorType::get({places, dims + 1}, n.b.getF32Type());
    Value grid =
        n.cast(n.constant(DenseElementsAttr::get(type, ArrayRef(base))),
               n.element(in[0]));
    Value moved =
        n.build<amp::MatmulOp>(grid, in[0], Value(), /*transpose_lhs=*/false,
                               /*transpose_rhs=*/true);
    return n.reshape(moved, result);
  }));
  return success();
}

void addSamplingOps(OpTable &table) {
  table.add({
      {"AffineGrid", convertAffineGrid, AutocastClass::Fp32, 2, 2},
      {"GridSample", convertGridSample, AutocastClass::Promote, 2, 2},
  });
}

} // namespace ampc::importer
