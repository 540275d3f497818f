//===- Indexing.cpp - Gathers, scatters, order, running sums --------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"

using namespace mlir;

namespace ampc::importer {

/// Whether indices, as far as import knows them, lie in [-size, size); reports
/// when one does not. Others are clamped at run time.
static bool areInside(Node &n, Value indices, int64_t size) {
  const HostTensor *known = indices ? n.known(indices) : nullptr;
  if (!known) {
    return true;
  }
  for (int64_t index : known->ints) {
    if (index < -size || index >= size) {
      (void)n.invalid("index " + Twine(index) +
                      " lies outside of a dimension "
                      "of size " +
                      Twine(size));
      return false;
    }
  }
  return true;
}

template <typename OpTy>
static LogicalResult convertGather(Node &n) {
  Value x = n.in(0);
  auto axis = n.axis(n.attrs.getInt("axis", 0), n.rank(x));
  if (!axis) {
    return failure();
  }
  if (!areInside(n, n.in(1), n.shape(x)[*axis])) {
    return failure();
  }
  n.set(0, n.build<OpTy>(x, n.in(1), *axis));
  return success();
}

static LogicalResult convertGatherNd(Node &n) {
  int64_t batchDims = n.attrs.getInt("batch_dims", 0);
  n.set(0, n.build<amp::GatherNdOp>(n.in(0), n.in(1), batchDims));
  return success();
}

static std::optional<amp::ScatterReduction> readReduction(Node &n) {
  std::string name = n.attrs.getString("reduction", "none");
  auto reduction = amp::symbolizeScatterReduction(name);
  if (!reduction) {
    (void)n.invalid("unknown reduction '" + printableName(name) + "'");
  }
  return reduction;
}

/// Converts a scatter of data, indices and updates. What accumulates is a
/// composite, whose body is f32: in 16 bits, a sum of ones ends at 2048 or 256.
static LogicalResult
convertScatter(Node &n, amp::ScatterReduction reduction,
               llvm::function_ref<Value(Value, Value, Value)> scatter) {
  bool accumulates = reduction == amp::ScatterReduction::Add ||
                     reduction == amp::ScatterReduction::Mul;
  if (accumulates && isa<FloatType>(n.element(n.in(0)))) {
    n.set(0, n.composite1({n.in(0), n.in(1), n.in(2)}, [&](ArrayRef<Value> in) {
      return scatter(in[0], in[1], in[2]);
    }));
    return success();
  }
  n.set(0, scatter(n.in(0), n.in(1), n.in(2)));
  return success();
}

static LogicalResult convertScatterElements(Node &n) {
  auto axis = n.axis(n.attrs.getInt("axis", 0), n.rank(n.in(0)));
  auto reduction = readReduction(n);
  if (!axis || !reduction) {
    return failure();
  }
  return convertScatter(n, *reduction,
                        [&](Value data, Value indices, Value updates) {
                          return n.build<amp::ScatterElementsOp>(
                              data, indices, updates, *axis, *reduction);
                        });
}

static LogicalResult convertScatterNd(Node &n) {
  auto reduction = readReduction(n);
  if (!reduction) {
    return failure();
  }
  return convertScatter(
      n, *reduction, [&](Value data, Value indices, Value updates) {
        return n.build<amp::ScatterNdOp>(data, indices, updates, *reduction);
      });
}

static LogicalResult convertOneHot(Node &n) {
  Value indices = n.in(0), values = n.in(2);
  auto depths = n.constantFloats(1, "depth");
  auto axis = n.axis(n.attrs.getInt("axis", -1), n.rank(indices) + 1);
  if (!depths || !axis) {
    return failure();
  }
  if (depths->size() != 1 || !((*depths)[0] >= 0 && (*depths)[0] < 1e12) ||
      n.shape(values) != ArrayRef<int64_t>{2}) {
    return n.invalid("expected a scalar depth and two values");
  }
  auto depth = static_cast<int64_t>((*depths)[0]);
  Type index = n.b.getI64Type();
  Value position = n.cast(indices, index);
  Value isNegative = n.build<amp::CompareOp>(position, n.scalar(index, 0),
                                             amp::ComparePredicate::LT);
  position = n.build<amp::SelectOp>(
      isNegative, n.build<amp::AddOp>(position, n.scalar(index, depth)),
      position);
  SmallVector<int64_t> expanded(n.shape(indices)), row(expanded.size() + 1, 1);
  expanded.insert(expanded.begin() + *axis, 1);
  row[*axis] = depth;
  Value isOn = n.build<amp::CompareOp>(n.reshape(position, expanded),
                                       n.iota(index, row, *axis),
                                       amp::ComparePredicate::EQ);
  Value off = n.reshape(n.sliceDim(values, 0, 0, 1), {});
  Value on = n.reshape(n.sliceDim(values, 0, 1, 1), {});
  n.set(0, n.build<amp::SelectOp>(isOn, on, off));
  return success();
}

static LogicalResult buildTopK(Node &n, int64_t k) {
  Value x = n.in(0);
  auto axis = n.axis(n.attrs.getInt("axis", -1), n.rank(x));
  bool largest = n.attrs.getFlag("largest", true);
  n.attrs.ignore("sorted"); // sorted is one of the orders that may be returned
  if (!axis) {
    return failure();
  }
  if (k < 0 || k > n.shape(x)[*axis]) {
    return n.invalid("k is " + Twine(k) + ", but the axis has " +
                     Twine(n.shape(x)[*axis]) + " elements");
  }
  auto [values, indices] = n.buildPair<amp::TopKOp>(
      x, static_cast<uint64_t>(k), static_cast<uint64_t>(*axis), largest);
  n.set(0, values);
  n.set(1, indices);
  return success();
}

static LogicalResult convertTopKAttribute(Node &n) {
  return buildTopK(n, n.attrs.requireInt("k"));
}

static LogicalResult convertTopK(Node &n) {
  auto k = n.constantInt(1, "k");
  return k ? buildTopK(n, *k) : failure();
}

template <typename OpTy>
static LogicalResult convertArg(Node &n) {
  Value x = n.in(0);
  auto axis = n.axis(n.attrs.getInt("axis", 0), n.rank(x));
  bool keepdims = n.attrs.getFlag("keepdims", true);
  bool selectLast = n.attrs.getFlag("select_last_index");
  if (!axis) {
    return failure();
  }
  n.set(0, n.build<OpTy>(x, *axis, keepdims, selectLast));
  return success();
}

static LogicalResult convertCumSum(Node &n) {
  Value x = n.in(0);
  bool exclusive = n.attrs.getFlag("exclusive");
  bool reverse = n.attrs.getFlag("reverse");
  auto given = n.constantInt(1, "axis");
  auto axis = given ? n.axis(*given, n.rank(x)) : std::nullopt;
  if (!axis) {
    return failure();
  }
  n.set(0, n.unary<amp::CumSumOp>(x, *axis, exclusive, reverse));
  return success();
}

/// Reads time step len - 1 - t for t < len, and t behind that.
static LogicalResult convertReverseSequence(Node &n) {
  Value x = n.in(0);
  auto batch = n.axis(n.attrs.getInt("batch_axis", 1), n.rank(x));
  auto time = n.axis(n.attrs.getInt("time_axis", 0), n.rank(x));
  if (!batch || !time) {
    return failure();
  }
  if (*batch == *time || n.shape(n.in(1)) != n.shape(x).slice(*batch, 1)) {
    return n.invalid("expected one length per batch entry and two axes");
  }
  Type index = n.b.getI64Type();
  SmallVector<int64_t> row(n.rank(x), 1), column(n.rank(x), 1);
  row[*time] = n.shape(x)[*time];
  column[*batch] = n.shape(x)[*batch];
  Value step = n.iota(index, row, *time);
  Value length = n.reshape(n.cast(n.in(1), index), column);
  Value last = n.build<amp::SubOp>(length, n.scalar(index, 1));
  Value isInside =
      n.build<amp::CompareOp>(step, length, amp::ComparePredicate::LT);
  Value source =
      n.build<amp::SelectOp>(isInside, n.build<amp::SubOp>(last, step), step);
  n.set(0, n.build<amp::GatherElementsOp>(x, n.broadcast(source, n.shape(x)),
                                          *time));
  return success();
}

//===----------------------------------------------------------------------===//
// Results whose size depends on values
//===----------------------------------------------------------------------===//

static LogicalResult convertCompress(Node &n) {
  Value x = n.in(0);
  auto axisAttr = n.attrs.findInt("axis");
  auto condition = n.constantInts(1, "condition");
  if (!condition) {
    return failure();
  }
  int64_t axis = 0;
  if (axisAttr) {
    auto resolved = n.axis(*axisAttr, n.rank(x));
    if (!resolved) {
      return failure();
    }
    axis = *resolved;
  } else {
    x = n.reshape(x, {*countElements(n.shape(x))});
  }
  SmallVector<int64_t> picked;
  for (auto [i, isPicked] : llvm::enumerate(*condition)) {
    if (isPicked && static_cast<int64_t>(i) < n.shape(x)[axis]) {
      picked.push_back(i);
    }
  }
  n.set(0, n.build<amp::GatherOp>(x, n.ints(picked), axis));
  return success();
}

static LogicalResult convertNonZero(Node &n) {
  auto values = n.constantFloats(0, "input");
  if (!values) {
    return failure();
  }
  SmallVector<int64_t> shape(n.shape(n.in(0)));
  if (shape.empty()) {
    shape.push_back(1);
  }
  std::vector<std::vector<int64_t>> coordinates(shape.size());
  for (auto [flat, value] : llvm::enumerate(*values)) {
    if (value == 0) {
      continue;
    }
    int64_t rest = flat;
    for (size_t dim = shape.size(); dim > 0; --dim) {
      coordinates[dim - 1].push_back(rest % shape[dim - 1]);
      rest /= shape[dim - 1];
    }
  }
  HostTensor result;
  auto count = static_cast<int64_t>(coordinates.front().size());
  result.type = RankedTensorType::get(
      {static_cast<int64_t>(shape.size()), count}, n.b.getI64Type());
  for (const std::vector<int64_t> &row : coordinates) {
    result.ints.insert(result.ints.end(), row.begin(), row.end());
  }
  n.set(0, n.constant(result));
  return success();
}

void addIndexingOps(OpTable &table) {
  table.add({
      {"ArgMax", convertArg<amp::ArgMaxOp>, OpClass::of<amp::ArgMaxOp>(), 1, 1},
      {"ArgMin", convertArg<amp::ArgMinOp>, OpClass::of<amp::ArgMinOp>(), 1, 1},
      {"Compress", convertCompress, OpClass::of<amp::GatherOp>(), 2, 2},
      {"CumSum", convertCumSum, OpClass::of<amp::CumSumOp>(), 2, 2},
      {"Gather", convertGather<amp::GatherOp>, OpClass::of<amp::GatherOp>(), 2,
       2},
      {"GatherElements", convertGather<amp::GatherElementsOp>,
       OpClass::of<amp::GatherElementsOp>(), 2, 2},
      {"GatherND", convertGatherNd, OpClass::of<amp::GatherNdOp>(), 2, 2},
      {"NonZero", convertNonZero, OpClass::none(), 1, 1},
      {"OneHot", convertOneHot, OpClass::of<amp::SelectOp>(), 3, 3},
      {"ReverseSequence", convertReverseSequence,
       OpClass::of<amp::GatherElementsOp>(), 2, 2},
      {"Scatter", convertScatterElements, OpClass::of<amp::ScatterElementsOp>(),
       3, 3},
      {"ScatterElements", convertScatterElements,
       OpClass::of<amp::ScatterElementsOp>(), 3, 3},
      {"ScatterND", convertScatterNd, OpClass::of<amp::ScatterNdOp>(), 3, 3},
      {"TopK", convertTopKAttribute, OpClass::of<amp::TopKOp>(), 1, 1, 2, 1, 9},
      {"TopK", convertTopK, OpClass::of<amp::TopKOp>(), 2, 2, 2, 10},
  });
}

} // namespace ampc::importer
