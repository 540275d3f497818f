//===- Deformable.cpp - Bilinear reads at places that data decides --------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ampc::importer {
namespace {

using P = amp::ComparePredicate;

/// The two neighbours of a position along one dimension.
struct Neighbours {
  std::array<Value, 2> index, weight;
  Value isInside; ///< of the position as a whole
};

/// Arithmetic on tensors of one float type.
class Arithmetic {
public:
  Arithmetic(Node &n, Type element) : n(n), element(element) {}
  Value num(double value) { return n.scalar(element, value); }
  Value add(Value l, Value r) { return n.build<amp::AddOp>(l, r); }
  Value sub(Value l, Value r) { return n.build<amp::SubOp>(l, r); }
  Value mul(Value l, Value r) { return n.build<amp::MulOp>(l, r); }
  Value clip(Value x, double low, double high) {
    return n.unary<amp::ClipOp>(x, llvm::APFloat(low), llvm::APFloat(high));
  }
  Value toIndex(Value x) { return n.cast(x, n.b.getI64Type()); }
  /// low <= x <= high
  Value isBetween(Value x, double low, double high) {
    return n.build<amp::AndOp>(n.build<amp::CompareOp>(x, num(low), P::GE),
                               n.build<amp::CompareOp>(x, num(high), P::LE));
  }
  Value orZero(Value condition, Value x) {
    return n.build<amp::SelectOp>(condition, x, num(0));
  }
  Value constant(ArrayRef<float> values, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, n.b.getF32Type());
    return n.cast(n.constant(DenseElementsAttr::get(type, values)), element);
  }

  Node &n;
  Type element;
};

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

class RoiAligner : Arithmetic {
public:
  RoiAligner(Node &n) : Arithmetic(n, {}) {}
  LogicalResult run();

private:
  Neighbours locate(Value start, Value end, int64_t pooled, int64_t length);
  Value build(ArrayRef<Value> in);

  bool isHalfPixel = true, isMax = false;
  int64_t height = 1, width = 1, samples = 0;
  double scale = 1;
};

} // namespace

/// The sampling points of all regions, [regions, pooled * samples].
Neighbours RoiAligner::locate(Value start, Value end, int64_t pooled,
                              int64_t length) {
  auto place = [&](Value x) {
    x = mul(x, num(scale));
    return isHalfPixel ? sub(x, num(0.5)) : x;
  };
  start = place(start);
  Value size = sub(place(end), start);
  if (!isHalfPixel) {
    size = n.build<amp::MaxOp>(size, num(1));
  }
  std::vector<float> centers; // in bins
  for (int64_t i = 0; i < pooled * samples; ++i) {
    centers.push_back((static_cast<float>(i) + 0.5f) /
                      static_cast<float>(samples));
  }
  Value bin = n.build<amp::DivOp>(size, num(pooled));
  Value x = add(start, mul(bin, constant(centers, {1, pooled * samples})));
  Neighbours result;
  result.isInside = isBetween(x, -1, length);
  x = clip(x, 0, length - 1);
  Value low = n.unary<amp::FloorOp>(x);
  Value fraction = sub(x, low);
  result.weight = {sub(num(1), fraction), fraction};
  result.index = {toIndex(low), toIndex(clip(add(low, num(1)), 0, length - 1))};
  return result;
}

Value RoiAligner::build(ArrayRef<Value> in) {
  element = n.element(in[0]);
  ArrayRef<int64_t> image = n.shape(in[0]);
  int64_t regions = n.shape(in[1])[0], channels = image[1];
  int64_t rows = height * samples, columns = width * samples;
  Value boxes = n.cast(in[1], element);
  auto corner = [&](int64_t i) { return n.sliceDim(boxes, 1, i, 1); };
  Neighbours x = locate(corner(0), corner(2), width, image[3]);
  Neighbours y = locate(corner(1), corner(3), height, image[2]);
  auto alongRows = [&](Value v) { return n.reshape(v, {regions, rows, 1}); };
  auto alongColumns = [&](Value v) {
    return n.reshape(v, {regions, 1, columns});
  };
  Type index = n.b.getI64Type();
  // All pixels of all images, each with its channels.
  Value pixels = n.reshape(n.transpose(in[0], {0, 2, 3, 1}),
                           {image[0] * image[2] * image[3], channels});
  Value first = n.build<amp::MulOp>(
      n.reshape(n.cast(in[2], index), {regions, 1, 1}),
      n.scalar(index, static_cast<double>(image[2] * image[3])));
  SmallVector<int64_t> grid{regions, rows, columns, 1};
  Value total;
  for (int corner = 0; corner < 4; ++corner) {
    Value row = alongRows(y.index[corner / 2]);
    Value at = n.build<amp::AddOp>(
        first, n.build<amp::MulOp>(row, n.scalar(index, image[3])));
    at = n.build<amp::AddOp>(at, alongColumns(x.index[corner % 2]));
    Value weight = mul(alongRows(y.weight[corner / 2]),
                       alongColumns(x.weight[corner % 2]));
    Value part =
        mul(n.build<amp::GatherOp>(pixels, at, 0), n.reshape(weight, grid));
    total = !total  ? part
            : isMax ? n.build<amp::MaxOp>(total, part)
                    : add(total, part);
  }
  Value isInside =
      n.build<amp::AndOp>(alongRows(y.isInside), alongColumns(x.isInside));
  total = orZero(n.reshape(isInside, grid), total);
  total =
      n.reshape(total, {regions, height, samples, width, samples, channels});
  SmallVector<int64_t> axes{2, 4};
  Value pooled = isMax ? n.build<amp::ReduceMaxOp>(total, axes, false)
                       : n.build<amp::ReduceMeanOp>(total, axes, false);
  return n.transpose(pooled, {0, 3, 1, 2});
}

LogicalResult RoiAligner::run() {
  Value x = n.in(0), boxes = n.in(1), batches = n.in(2);
  std::string mode = n.attrs.getString("mode", "avg");
  std::string transformation =
      n.attrs.getString("coordinate_transformation_mode",
                        n.opset < 16 ? "output_half_pixel" : "half_pixel");
  isHalfPixel = transformation == "half_pixel";
  isMax = mode == "max";
  height = n.attrs.getInt("output_height", 1);
  width = n.attrs.getInt("output_width", 1);
  samples = n.attrs.getInt("sampling_ratio", 0);
  scale = n.attrs.getFloat("spatial_scale", 1);
  if ((mode != "avg" && !isMax) ||
      (!isHalfPixel && transformation != "output_half_pixel")) {
    return n.invalid("unknown mode or coordinate_transformation_mode");
  }
  if (samples == 0) {
    return n.unsupported("a number of samples that depends on the regions",
                         "set sampling_ratio");
  }
  constexpr int64_t maxSide = 1 << 12;
  if (n.rank(x) != 4 || n.rank(boxes) != 2 || n.shape(boxes)[1] != 4 ||
      n.rank(batches) != 1 || n.shape(batches)[0] != n.shape(boxes)[0] ||
      llvm::is_contained(n.shape(x), 0) || height < 1 || width < 1 ||
      samples < 1 || height > maxSide || width > maxSide || samples > 64) {
    return n.invalid("its regions or sizes do not fit its input");
  }
  n.set(0, n.composite1({x, boxes, batches},
                        [&](ArrayRef<Value> in) { return build(in); }, {1, 2}));
  return success();
}

static LogicalResult convertRoiAlign(Node &n) { return RoiAligner(n).run(); }

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

namespace {

class DeformableConv : Arithmetic {
public:
  DeformableConv(Node &n) : Arithmetic(n, {}) {}
  LogicalResult run();

private:
  /// Positions along spatial dimension `dim`, [batch, groups, taps, places].
  Neighbours locate(Value offset, int dim);
  Value sample(Value image, Value offset, Value mask);

  SmallVector<int64_t> image, weight, out; // shapes; `out` is spatial
  SmallVector<int64_t> strides, pads, dilations;
  int64_t group = 1, offsetGroup = 1, taps = 1, places = 1;
};

} // namespace

Neighbours DeformableConv::locate(Value offset, int dim) {
  std::vector<float> base;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t k = dim == 0 ? tap / weight[3] : tap % weight[3];
    for (int64_t place = 0; place < places; ++place) {
      int64_t i = dim == 0 ? place / out[1] : place % out[1];
      base.push_back(static_cast<float>(i * strides[dim] - pads[dim] +
                                        k * dilations[dim]));
    }
  }
  Value moved = n.reshape(n.sliceDim(offset, 3, dim, 1),
                          {image[0], offsetGroup, taps, places});
  Value x = add(moved, constant(base, {1, 1, taps, places}));
  Value low = n.unary<amp::FloorOp>(x);
  Value fraction = sub(x, low);
  double last = image[dim + 2] - 1;
  Neighbours result;
  for (int i = 0; i < 2; ++i) {
    Value at = i == 0 ? low : add(low, num(1));
    Value share = i == 0 ? sub(num(1), fraction) : fraction;
    result.index[i] = toIndex(clip(at, 0, last));
    result.weight[i] = orZero(isBetween(at, 0, last), share);
  }
  return result;
}

/// What the weights are multiplied with: [batch, channels, taps, places].
Value DeformableConv::sample(Value x, Value offset, Value mask) {
  int64_t channels = image[1] / offsetGroup, pixels = image[2] * image[3];
  offset = n.reshape(offset, {image[0], offsetGroup, taps, 2, places});
  Neighbours y = locate(offset, 0), column = locate(offset, 1);
  Value source = n.transpose(
      n.reshape(x, {image[0], offsetGroup, channels, pixels}), {0, 1, 3, 2});
  Type index = n.b.getI64Type();
  SmallVector<int64_t> grid{image[0], offsetGroup, taps * places, 1};
  Value sum;
  for (int corner = 0; corner < 4; ++corner) {
    Value at = n.build<amp::AddOp>(
        n.build<amp::MulOp>(y.index[corner / 2], n.scalar(index, image[3])),
        column.index[corner % 2]);
    Value weight = mul(y.weight[corner / 2], column.weight[corner % 2]);
    Value picked = n.build<amp::GatherNdOp>(source, n.reshape(at, grid),
                                            /*batch_dims=*/2);
    Value part = mul(picked, n.reshape(weight, grid));
    sum = sum ? add(sum, part) : part;
  }
  if (mask) {
    sum = mul(sum, n.reshape(mask, grid));
  }
  sum = n.reshape(sum, {image[0], offsetGroup, taps, places, channels});
  return n.transpose(sum, {0, 1, 4, 2, 3});
}

LogicalResult DeformableConv::run() {
  Value x = n.in(0), w = n.in(1), offset = n.in(2);
  if (n.rank(x) != 4 || n.rank(w) != 4 || n.rank(offset) != 4) {
    return n.unsupported("any number of spatial dimensions but two");
  }
  image.assign(n.shape(x));
  weight.assign(n.shape(w));
  out.assign(n.shape(offset).drop_front(2));
  auto list = [&](StringRef name, size_t size, int64_t otherwise) {
    return n.attrs.findInts(name).value_or(
        SmallVector<int64_t>(size, otherwise));
  };
  strides = list("strides", 2, 1);
  dilations = list("dilations", 2, 1);
  pads = list("pads", 4, 0);
  n.attrs.ignore("kernel_shape");
  group = n.attrs.getInt("group", 1);
  offsetGroup = n.attrs.getInt("offset_group", 1);
  constexpr int64_t limit = 1 << 24;
  auto inRange = [&](int64_t value) { return value >= 0 && value < limit; };
  if (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4 ||
      !llvm::all_of(strides, inRange) || !llvm::all_of(dilations, inRange) ||
      !llvm::all_of(pads, inRange) || group < 1 || offsetGroup < 1 ||
      image[1] % group != 0 || image[1] % offsetGroup != 0 ||
      weight[0] % group != 0 || weight[1] != image[1] / group ||
      llvm::is_contained(image, 0) || llvm::is_contained(weight, 0)) {
    return n.invalid("its weight or attributes do not fit its input");
  }
  taps = weight[2] * weight[3];
  places = out[0] * out[1];
  if (n.shape(offset) !=
          ArrayRef<int64_t>{image[0], offsetGroup * taps * 2, out[0], out[1]} ||
      (n.has(4) &&
       n.shape(n.in(4)) !=
           ArrayRef<int64_t>{image[0], offsetGroup * taps, out[0], out[1]})) {
    return n.invalid("its offset or mask does not fit its weight");
  }
  for (int dim = 0; dim < 2; ++dim) {
    int64_t span = (weight[dim + 2] - 1) * dilations[dim] + 1;
    int64_t room = image[dim + 2] + pads[dim] + pads[dim + 2] - span;
    if (strides[dim] == 0 || room < 0 || room / strides[dim] + 1 != out[dim]) {
      return n.invalid("its offset does not fit its result");
    }
  }
  SmallVector<Value> operands{x, w, offset};
  bool hasBias = n.has(3), hasMask = n.has(4);
  if (hasBias) {
    operands.push_back(n.in(3));
  }
  if (hasMask) {
    operands.push_back(n.in(4));
  }
  auto body = [&](ArrayRef<Value> in) {
    element = n.element(in[0]);
    Value columns = sample(in[0], in[2], hasMask ? in.back() : Value());
    int64_t depth = weight[1] * taps, each = weight[0] / group;
    Value y = n.build<amp::MatmulOp>(
        n.reshape(in[1], {1, group, each, depth}),
        n.reshape(columns, {image[0], group, depth, places}), Value(),
        /*transpose_lhs=*/false, /*transpose_rhs=*/false);
    y = n.reshape(y, {image[0], weight[0], out[0], out[1]});
    return hasBias ? add(y, n.reshape(in[3], {weight[0], 1, 1})) : y;
  };
  n.set(0, n.composite1(operands, body));
  return success();
}

static LogicalResult convertDeformConv(Node &n) {
  return DeformableConv(n).run();
}

void addDeformableOps(OpTable &table) {
  table.add({
      {"DeformConv", convertDeformConv, AutocastClass::Fp32, 3, 5, 1, 19},
      {"RoiAlign", convertRoiAlign, AutocastClass::Fp32, 3, 3, 1, 10},
  });
}

} // namespace ampc::importer
