//===- Slicing.cpp - Concatenation, slices, padding -----------------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "compiler/Import/TensorView.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::importer {

//===----------------------------------------------------------------------===//
// Joining and cutting
//===----------------------------------------------------------------------===//

static LogicalResult convertConcat(Node &n) {
  SmallVector<Value> inputs = n.allInputs();
  auto axis = n.axis(n.opset < 4 ? n.attrs.getInt("axis", 1)
                                 : n.attrs.requireInt("axis"),
                     n.rank(inputs.front()));
  if (!axis) {
    return failure();
  }
  n.set(0, n.concat(inputs, *axis));
  return success();
}

static LogicalResult convertSplit(Node &n) {
  Value x = n.in(0);
  auto axis = n.axis(n.attrs.getInt("axis", 0), n.rank(x));
  auto numOutputs = n.attrs.findInt("num_outputs");
  auto sizes = n.attributeOrInput("split", 1, 13);
  if (!axis || n.hasFailed()) {
    return failure();
  }
  int64_t dim = n.shape(x)[*axis];
  int64_t count = n.numOutputs();
  if (count == 0) {
    return n.invalid("it has no outputs");
  }
  if (!sizes) {
    // All parts equal, but for a shorter last one.
    if (numOutputs && *numOutputs != count) {
      return n.invalid("num_outputs is " + Twine(*numOutputs) +
                       ", but it has " + Twine(count) + " outputs");
    }
    int64_t part = llvm::divideCeil(static_cast<uint64_t>(dim),
                                    static_cast<uint64_t>(count));
    sizes.emplace(count, part);
    sizes->back() = dim - part * (count - 1);
    if (!numOutputs && sizes->back() != part) {
      return n.invalid("dimension of size " + Twine(dim) +
                       " does not split into " + Twine(count) + " equal parts");
    }
  }
  int64_t total = 0;
  for (int64_t size : *sizes) {
    if (size < 0 || size > dim - total) {
      return n.invalid("its parts do not sum to the dimension's size");
    }
    total += size;
  }
  if (total != dim || static_cast<int64_t>(sizes->size()) != count) {
    return n.invalid("its parts do not fit the dimension's size of " +
                     Twine(dim) + " and its outputs");
  }
  int64_t start = 0;
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    n.set(i, n.sliceDim(x, *axis, start, size));
    start += size;
  }
  return success();
}

/// Start, size and stride of one dimension of a Slice, with NumPy's clamping.
static void resolveSlice(int64_t dim, int64_t &start, int64_t end,
                         int64_t &step, int64_t &size) {
  auto clampIndex = [&](int64_t index, int64_t low, int64_t high) {
    return std::clamp(index < 0 ? index + dim : index, low, high);
  };
  if (step > 0) {
    start = clampIndex(start, 0, dim);
    end = clampIndex(end, 0, dim);
    size = end > start ? 1 + (end - start - 1) / step : 0;
  } else {
    step = std::max(step, -std::numeric_limits<int64_t>::max());
    start = clampIndex(start, 0, dim - 1);
    end = clampIndex(end, -1, dim - 1);
    size = start > end ? 1 + (start - end - 1) / -step : 0;
  }
  if (size == 0) {
    start = 0;
  }
  if (size <= 1) {
    step = 1; // a huge step would leave the range of index arithmetic
  }
}

static LogicalResult buildSlice(Node &n, ArrayRef<int64_t> starts,
                                ArrayRef<int64_t> ends,
                                std::optional<SmallVector<int64_t>> axes,
                                std::optional<SmallVector<int64_t>> steps) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  if (!axes) {
    axes = countUp(0, starts.size());
  }
  if (!steps) {
    steps.emplace(starts.size(), 1);
  }
  if (starts.size() != ends.size() || starts.size() != axes->size() ||
      starts.size() != steps->size()) {
    return n.invalid("its starts, ends, axes and steps differ in length");
  }
  SmallVector<int64_t> begins(rank, 0), sizes(n.shape(x)), strides(rank, 1);
  SmallVector<bool> isSeen(rank, false);
  for (size_t i = 0; i < starts.size(); ++i) {
    auto axis = n.axis((*axes)[i], rank);
    if (!axis) {
      return failure();
    }
    if (isSeen[*axis] || (*steps)[i] == 0) {
      return n.invalid(isSeen[*axis] ? "an axis stands twice"
                                     : "a step is zero");
    }
    isSeen[*axis] = true;
    begins[*axis] = starts[i];
    strides[*axis] = (*steps)[i];
    resolveSlice(n.shape(x)[*axis], begins[*axis], ends[i], strides[*axis],
                 sizes[*axis]);
  }
  bool isWhole = ArrayRef<int64_t>(sizes) == n.shape(x) &&
                 llvm::all_of(strides, [](int64_t s) { return s == 1; });
  n.set(0, isWhole ? x : n.build<amp::SliceOp>(x, begins, sizes, strides));
  return success();
}

static LogicalResult convertSliceAttributes(Node &n) {
  auto starts = n.attrs.findInts("starts"), ends = n.attrs.findInts("ends");
  auto axes = n.attrs.findInts("axes");
  if (!starts || !ends) {
    return n.invalid("it has no starts or no ends");
  }
  return buildSlice(n, *starts, *ends, axes, std::nullopt);
}

static LogicalResult convertSlice(Node &n) {
  auto starts = n.constantInts(1, "starts"), ends = n.constantInts(2, "ends");
  auto optional = [&](unsigned i, StringRef what) {
    return n.has(i) ? n.constantInts(i, what) : std::nullopt;
  };
  auto axes = optional(3, "axes"), steps = optional(4, "steps");
  if (n.hasFailed()) {
    return failure();
  }
  return buildSlice(n, *starts, *ends, axes, steps);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

static LogicalResult buildPad(Node &n, ArrayRef<int64_t> pads,
                              ArrayRef<int64_t> axes, Value value) {
  Value x = n.in(0);
  std::string name = n.attrs.getString("mode", "constant");
  auto mode = amp::symbolizePadMode(name);
  if (!mode) {
    return n.unsupported("mode '" + printableName(name) + "'");
  }
  if (pads.size() != 2 * axes.size()) {
    return n.invalid("expected " + Twine(2 * axes.size()) + " pads, got " +
                     Twine(pads.size()));
  }
  SmallVector<int64_t> low(n.rank(x), 0), high(n.rank(x), 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    low[axis] = pads[i];
    high[axis] = pads[i + axes.size()];
    auto isOutside = [](int64_t pad) {
      return pad < -maxElements || pad > maxElements;
    };
    if (isOutside(low[axis]) || isOutside(high[axis])) {
      return n.invalid("a pad is out of range");
    }
  }
  auto isZero = [](int64_t pad) { return pad == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero)) {
    n.set(0, x);
    return success();
  }
  n.set(0, n.build<amp::PadOp>(
               x, *mode == amp::PadMode::Constant ? value : Value(), low, high,
               *mode));
  return success();
}

static LogicalResult convertPadAttributes(Node &n) {
  Value x = n.in(0);
  auto pads = n.attrs.findInts("pads");
  double value = n.attrs.getFloat("value", 0);
  if (!pads) {
    return n.invalid("it has no pads");
  }
  SmallVector<int64_t> axes = countUp(0, n.rank(x));
  Value fill = value == 0 ? Value() : n.scalar(n.element(x), value);
  return buildPad(n, *pads, axes, fill);
}

static LogicalResult convertPad(Node &n) {
  Value x = n.in(0);
  auto pads = n.constantInts(1, "pads");
  SmallVector<int64_t> axes = countUp(0, n.rank(x));
  if (n.has(3)) {
    auto list = n.constantInts(3, "axes");
    if (!list) {
      return failure();
    }
    axes.clear();
    for (int64_t entry : *list) {
      auto axis = n.axis(entry, n.rank(x));
      if (!axis) {
        return failure();
      }
      axes.push_back(*axis);
    }
  }
  if (!pads) {
    return failure();
  }
  Value fill = n.has(2) ? n.reshape(n.in(2), {}) : Value();
  return buildPad(n, *pads, axes, fill);
}

/// Crops or pads each axis around its middle.
static LogicalResult convertCenterCropPad(Node &n) {
  Value x = n.in(0);
  auto target = n.constantInts(1, "shape");
  auto list = n.attrs.findInts("axes");
  if (!target) {
    return failure();
  }
  SmallVector<int64_t> axes = countUp(0, n.rank(x));
  if (list) {
    auto resolved = n.axes(*list, n.rank(x));
    if (!resolved) {
      return failure();
    }
    axes.clear();
    for (int64_t axis : *list) {
      axes.push_back(axis < 0 ? axis + n.rank(x) : axis);
    }
  }
  if (axes.size() != target->size() || !countElements(*target)) {
    return n.invalid("expected one size per axis");
  }
  SmallVector<int64_t> low(n.rank(x), 0), high(n.rank(x), 0);
  for (auto [axis, size] : llvm::zip_equal(axes, *target)) {
    int64_t dim = n.shape(x)[axis];
    int64_t excess = dim - size;
    if (excess > 0) {
      low[axis] = -(excess / 2);
      high[axis] = -(excess - excess / 2);
    } else {
      low[axis] = -excess / 2;
      high[axis] = -excess - low[axis];
    }
  }
  n.set(0, n.build<amp::PadOp>(x, Value(), low, high, amp::PadMode::Constant));
  return success();
}

void addSlicingOps(OpTable &table) {
  table.add({
      {"CenterCropPad", convertCenterCropPad, OpClass::of<amp::PadOp>(), 2, 2},
      {"Concat", convertConcat, OpClass::of<amp::ConcatOp>(), 1, anyNumber},
      {"Pad", convertPadAttributes, OpClass::of<amp::PadOp>(), 1, 1, 1, 2, 10},
      {"Pad", convertPad, OpClass::of<amp::PadOp>(), 2, 4, 1, 11},
      {"Slice", convertSliceAttributes, OpClass::of<amp::SliceOp>(), 1, 1, 1, 1,
       9},
      {"Slice", convertSlice, OpClass::of<amp::SliceOp>(), 3, 5, 1, 10},
      {"Split", convertSplit, OpClass::of<amp::SliceOp>(), 1, 2, anyNumber, 2},
  });
}

} // namespace ampc::importer
