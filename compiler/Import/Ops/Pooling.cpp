//===- Pooling.cpp - Pools and resizing -----------------------------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "compiler/Import/Ops/Windows.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace ampc::importer {

static LogicalResult convertMaxPool(Node &n) {
  Value x = n.in(0);
  bool ceilMode = n.attrs.getFlag("ceil_mode");
  bool isColumnMajor = n.attrs.getFlag("storage_order"); // of the indices
  auto window = readWindow(n, x, {});
  if (!window) {
    return failure();
  }
  Value y = n.build<amp::MaxPoolOp>(x, window->kernel, window->strides,
                                    window->pads, window->dilations, ceilMode,
                                    amp::Layout::ChannelsFirst);
  n.set(0, y);
  if (y && n.wants(1)) {
    n.set(1, buildMaxPoolIndices(n, x, *window, n.shape(y), isColumnMajor));
  }
  return success();
}

static Value buildAveragePool(Node &n, Value x, const Window &window,
                              bool ceilMode, bool countsPads) {
  return n.build<amp::AvgPoolOp>(x, window.kernel, window.strides, window.pads,
                                 window.dilations, ceilMode,
                                 amp::Layout::ChannelsFirst, countsPads);
}

static LogicalResult convertAveragePool(Node &n) {
  Value x = n.in(0);
  bool ceilMode = n.attrs.getFlag("ceil_mode");
  bool countsPads = n.attrs.getFlag("count_include_pad");
  auto window = readWindow(n, x, {});
  if (!window) {
    return failure();
  }
  n.set(0, buildAveragePool(n, x, *window, ceilMode, countsPads));
  return success();
}

/// |x|^p
static Value buildPower(Node &n, Value x, int64_t p) {
  Value positive = n.unary<amp::AbsOp>(x);
  return p == 1 ? positive
                : n.build<amp::PowOp>(positive, n.scalar(n.element(x), p));
}

static Value buildRoot(Node &n, Value x, int64_t p) {
  return p == 1 ? x : n.build<amp::PowOp>(x, n.scalar(n.element(x), 1.0 / p));
}

/// (sum of |x|^p)^(1/p): the mean with pads counted, times the window's size,
/// is the sum.
static LogicalResult convertLpPool(Node &n) {
  Value x = n.in(0);
  int64_t p = n.attrs.getInt("p", 2);
  bool ceilMode = n.attrs.getFlag("ceil_mode");
  auto window = readWindow(n, x, {});
  if (!window) {
    return failure();
  }
  if (p < 1 || ceilMode) {
    return p < 1 ? n.invalid("expected a positive p, got " + Twine(p))
                 : n.unsupported("ceil_mode");
  }
  double size = 1;
  for (int64_t dim : window->kernel) {
    size *= static_cast<double>(dim);
  }
  n.set(0, n.composite1({x}, [&](ArrayRef<Value> in) {
    Value mean = buildAveragePool(n, buildPower(n, in[0], p), *window,
                                  /*ceilMode=*/false, /*countsPads=*/true);
    Value sum = n.build<amp::MulOp>(mean, n.scalar(n.element(mean), size));
    return buildRoot(n, sum, p);
  }));
  return success();
}

//===----------------------------------------------------------------------===//
// Global pools
//===----------------------------------------------------------------------===//

/// The spatial axes; nothing after reporting.
static std::optional<SmallVector<int64_t>> spatialAxes(Node &n, Value x) {
  if (n.rank(x) < 2) {
    (void)n.invalid("expected a rank of 2 or more");
    return std::nullopt;
  }
  return countUp(2, n.rank(x));
}

template <typename OpTy>
static LogicalResult convertGlobalPool(Node &n) {
  Value x = n.in(0);
  auto axes = spatialAxes(n, x);
  if (!axes) {
    return failure();
  }
  n.set(0, n.build<OpTy>(x, *axes, /*keepdims=*/true));
  return success();
}

static LogicalResult convertGlobalLpPool(Node &n) {
  Value x = n.in(0);
  int64_t p = n.attrs.getInt("p", 2);
  auto axes = spatialAxes(n, x);
  if (!axes) {
    return failure();
  }
  if (p < 1) {
    return n.invalid("expected a positive p, got " + Twine(p));
  }
  n.set(0, n.composite1({x}, [&](ArrayRef<Value> in) {
    return buildRoot(
        n, n.reduceSum(buildPower(n, in[0], p), *axes, /*keepdims=*/true), p);
  }));
  return success();
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of a Resize and the scales its coordinates use.
struct ResizePlan {
  SmallVector<int64_t> sizes;
  SmallVector<double> scales;
};
} // namespace

/// Sets one dimension from a scale.
static LogicalResult applyScale(Node &n, ResizePlan &plan, int64_t axis,
                                double scale) {
  int64_t dim = plan.sizes[axis];
  double size = std::floor(static_cast<double>(dim) * scale);
  if (!(scale > 0) || !(size < static_cast<double>(maxElements))) {
    return n.invalid("scale " + Twine(std::to_string(scale)) +
                     " is out of range");
  }
  plan.sizes[axis] = static_cast<int64_t>(size);
  plan.scales[axis] = scale;
  return success();
}

/// Sizes that keep the aspect ratio: all axes get the smallest or largest of
/// the scales that their sizes ask for.
static void keepAspectRatio(ResizePlan &plan, ArrayRef<int64_t> axes,
                            ArrayRef<int64_t> wanted, bool isLarger) {
  double scale = isLarger ? 0 : std::numeric_limits<double>::infinity();
  for (auto [axis, size] : llvm::zip_equal(axes, wanted)) {
    double ratio = static_cast<double>(size) / plan.sizes[axis];
    scale = isLarger ? std::max(scale, ratio) : std::min(scale, ratio);
  }
  for (int64_t axis : axes) {
    plan.scales[axis] = scale;
    plan.sizes[axis] =
        static_cast<int64_t>(std::floor(scale * plan.sizes[axis] + 0.5));
  }
}

static std::optional<ResizePlan> planResize(Node &n, ArrayRef<int64_t> axes) {
  Value x = n.in(0);
  ResizePlan plan;
  plan.sizes.assign(n.shape(x).begin(), n.shape(x).end());
  plan.scales.assign(n.rank(x), 1);
  std::string policy = n.attrs.getString("keep_aspect_ratio_policy", "stretch");
  bool hasScales = n.has(2) && !llvm::is_contained(n.shape(n.in(2)), 0);
  bool hasSizes = n.has(3) && !llvm::is_contained(n.shape(n.in(3)), 0);
  if (hasScales == hasSizes) {
    (void)n.invalid("expected either scales or sizes");
    return std::nullopt;
  }
  if (hasScales) {
    auto scales = n.constantFloats(2, "scales");
    if (!scales) {
      return std::nullopt;
    }
    if (scales->size() != axes.size()) {
      (void)n.invalid("expected " + Twine(axes.size()) + " scales, got " +
                      Twine(scales->size()));
      return std::nullopt;
    }
    for (auto [axis, scale] : llvm::zip_equal(axes, *scales)) {
      if (failed(applyScale(n, plan, axis, scale))) {
        return std::nullopt;
      }
    }
    return plan;
  }
  auto sizes = n.constantInts(3, "sizes");
  if (!sizes) {
    return std::nullopt;
  }
  if (sizes->size() != axes.size() || !countElements(*sizes)) {
    (void)n.invalid("expected " + Twine(axes.size()) +
                    " sizes that are not negative");
    return std::nullopt;
  }
  if (policy == "not_larger" || policy == "not_smaller") {
    keepAspectRatio(plan, axes, *sizes, policy == "not_smaller");
    return plan;
  }
  if (policy != "stretch") {
    (void)n.invalid("unknown keep_aspect_ratio_policy '" +
                    printableName(policy) + "'");
    return std::nullopt;
  }
  for (auto [axis, size] : llvm::zip_equal(axes, *sizes)) {
    if (plan.sizes[axis] != 0) {
      plan.scales[axis] = static_cast<double>(size) / plan.sizes[axis];
    }
    plan.sizes[axis] = size;
  }
  return plan;
}

static Value buildResize(Node &n, const ResizePlan &plan, amp::ResizeMode mode,
                         amp::CoordinateMode coordinates,
                         amp::NearestMode nearest, double cubic,
                         bool excludeOutside, bool antialias,
                         double extrapolation, DenseF64ArrayAttr roi) {
  Value x = n.in(0);
  auto type = RankedTensorType::get(plan.sizes, n.element(x));
  return n.buildTyped<amp::ResizeOp>(
      type, x, n.b.getDenseF64ArrayAttr(plan.scales), mode, coordinates,
      nearest, llvm::APFloat(cubic), excludeOutside, antialias,
      llvm::APFloat(extrapolation), roi);
}

/// Region of interest over all dimensions, starts before ends.
static DenseF64ArrayAttr readRoi(Node &n, ArrayRef<int64_t> axes) {
  auto values = n.constantFloats(1, "roi");
  if (!values) {
    if (!n.hasFailed()) {
      (void)n.invalid("tf_crop_and_resize needs a roi");
    }
    return {};
  }
  if (values->size() != 2 * axes.size()) {
    (void)n.invalid("expected " + Twine(2 * axes.size()) +
                    " numbers as roi, got " + Twine(values->size()));
    return {};
  }
  int64_t rank = n.rank(n.in(0));
  SmallVector<double> roi(2 * rank, 0);
  std::fill(roi.begin() + rank, roi.end(), 1.0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    roi[axis] = (*values)[i];
    roi[axis + rank] = (*values)[i + axes.size()];
  }
  return n.b.getDenseF64ArrayAttr(roi);
}

static LogicalResult convertResize(Node &n) {
  Value x = n.in(0);
  std::string modeName = n.attrs.getString("mode", "nearest");
  std::string coordinateName =
      n.attrs.getString("coordinate_transformation_mode", "half_pixel");
  std::string nearestName =
      n.attrs.getString("nearest_mode", "round_prefer_floor");
  double cubic = n.attrs.getFloat("cubic_coeff_a", -0.75f);
  bool excludeOutside = n.attrs.getFlag("exclude_outside");
  bool antialias = n.attrs.getFlag("antialias");
  double extrapolation = n.attrs.getFloat("extrapolation_value", 0);
  auto given = n.attrs.findInts("axes");
  auto mode = amp::symbolizeResizeMode(modeName);
  auto coordinates = amp::symbolizeCoordinateMode(coordinateName);
  auto nearest = amp::symbolizeNearestMode(nearestName);
  if (!mode || !coordinates || !nearest) {
    return n.unsupported("mode " + printableName(modeName) + ", " +
                         printableName(coordinateName) + ", " +
                         printableName(nearestName));
  }
  SmallVector<int64_t> axes = countUp(0, n.rank(x));
  if (given) {
    axes.clear();
    for (int64_t entry : *given) {
      auto axis = n.axis(entry, n.rank(x));
      if (!axis) {
        return failure();
      }
      axes.push_back(*axis);
    }
  }
  auto plan = planResize(n, axes);
  if (!plan) {
    return failure();
  }
  DenseF64ArrayAttr roi;
  if (*coordinates == amp::CoordinateMode::TfCropAndResize) {
    roi = readRoi(n, axes);
    if (!roi) {
      return failure();
    }
  }
  n.set(0, buildResize(n, *plan, *mode, *coordinates, *nearest, cubic,
                       excludeOutside, antialias, extrapolation, roi));
  return success();
}

/// Upsample (7 to 9) and Resize 10: scales only, asymmetric coordinates.
static LogicalResult buildUpsample(Node &n, ArrayRef<double> scales) {
  Value x = n.in(0);
  std::string modeName = n.attrs.getString("mode", "nearest");
  bool isNearest = modeName == "nearest";
  if (!isNearest && modeName != "linear" && modeName != "bilinear") {
    return n.invalid("unknown mode '" + printableName(modeName) + "'");
  }
  if (static_cast<int64_t>(scales.size()) != n.rank(x)) {
    return n.invalid("expected " + Twine(n.rank(x)) + " scales, got " +
                     Twine(scales.size()));
  }
  ResizePlan plan;
  plan.sizes.assign(n.shape(x).begin(), n.shape(x).end());
  plan.scales.assign(scales.begin(), scales.end());
  for (auto [axis, scale] : llvm::enumerate(scales)) {
    if (failed(applyScale(n, plan, axis, scale))) {
      return failure();
    }
  }
  n.set(0, buildResize(n, plan,
                       isNearest ? amp::ResizeMode::Nearest
                                 : amp::ResizeMode::Linear,
                       amp::CoordinateMode::Asymmetric, amp::NearestMode::Floor,
                       -0.75, false, false, 0, {}));
  return success();
}

static LogicalResult convertUpsampleAttribute(Node &n) {
  auto scales = n.attrs.findFloats("scales");
  if (!scales) {
    return n.invalid("it has no scales");
  }
  return buildUpsample(n, SmallVector<double>(scales->begin(), scales->end()));
}

static LogicalResult convertUpsample(Node &n) {
  auto scales = n.constantFloats(1, "scales");
  return scales ? buildUpsample(n, *scales) : failure();
}

void addPoolingOps(OpTable &table) {
  table.add({
      {"AveragePool", convertAveragePool, OpClass::of<amp::AvgPoolOp>(), 1, 1},
      {"GlobalAveragePool", convertGlobalPool<amp::ReduceMeanOp>,
       OpClass::of<amp::ReduceMeanOp>(), 1, 1},
      {"GlobalLpPool", convertGlobalLpPool, AutocastClass::Fp32, 1, 1, 1, 2},
      {"GlobalMaxPool", convertGlobalPool<amp::ReduceMaxOp>,
       OpClass::of<amp::ReduceMaxOp>(), 1, 1},
      {"LpPool", convertLpPool, AutocastClass::Fp32, 1, 1, 1, 2},
      {"MaxPool", convertMaxPool, OpClass::of<amp::MaxPoolOp>(), 1, 1, 2},
      {"Resize", convertUpsample, OpClass::of<amp::ResizeOp>(), 2, 2, 1, 10,
       10},
      {"Resize", convertResize, OpClass::of<amp::ResizeOp>(), 1, 4, 1, 11},
      {"Upsample", convertUpsampleAttribute, OpClass::of<amp::ResizeOp>(), 1, 1,
       1, 7, 8},
      {"Upsample", convertUpsample, OpClass::of<amp::ResizeOp>(), 2, 2, 1, 9,
       9},
  });
}

} // namespace ampc::importer
