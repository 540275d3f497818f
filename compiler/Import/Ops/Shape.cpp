//===- Shape.cpp - Reshapes, broadcasts, blocks, triangles
//-----------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "compiler/Import/TensorView.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::importer {

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

static LogicalResult convertReshape(Node &n) {
  bool allowsZero = n.attrs.getFlag("allowzero");
  Value x = n.in(0);
  auto target = n.attributeOrInput("shape", 1, 5);
  if (!target) {
    return n.hasFailed() ? failure() : n.invalid("it has no shape");
  }
  SmallVector<int64_t> shape(*target);
  std::optional<size_t> inferred;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    if (dim == 0 && !allowsZero) {
      if (static_cast<int64_t>(i) >= n.rank(x)) {
        return n.invalid("dimension " + Twine(i) +
                         " is copied from an input that lacks it");
      }
      dim = n.shape(x)[i];
    } else if (dim == -1) {
      if (inferred) {
        return n.invalid("two dimensions are to be inferred");
      }
      inferred = i;
      dim = 1;
    }
  }
  auto count = countElements(shape);
  if (!count) {
    return n.invalid("its shape has a negative dimension or too many elements");
  }
  if (inferred) {
    int64_t total = *countElements(n.shape(x));
    if (*count == 0 || total % *count != 0) {
      return n.invalid("cannot infer a dimension: " + Twine(total) +
                       " elements do not divide by " + Twine(*count));
    }
    shape[*inferred] = total / *count;
  }
  n.set(0, n.reshape(x, shape));
  return success();
}

static LogicalResult convertFlatten(Node &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  int64_t axis = n.attrs.getInt("axis", 1);
  if (axis < -rank || axis > rank) {
    return n.invalid("axis " + Twine(axis) +
                     " is no dimension of a tensor of "
                     "rank " +
                     Twine(rank));
  }
  axis = axis < 0 ? axis + rank : axis;
  ArrayRef<int64_t> shape = n.shape(x);
  auto outer = countElements(shape.take_front(axis));
  auto inner = countElements(shape.drop_front(axis));
  n.set(0, n.reshape(x, {*outer, *inner}));
  return success();
}

static LogicalResult convertSqueeze(Node &n) {
  Value x = n.in(0);
  auto list = n.attributeOrInput("axes", 1, 13);
  if (!list && n.hasFailed()) {
    return failure();
  }
  SmallVector<int64_t> shape;
  if (!list) {
    llvm::copy_if(n.shape(x), std::back_inserter(shape),
                  [](int64_t dim) { return dim != 1; });
    n.set(0, n.reshape(x, shape));
    return success();
  }
  auto axes = n.axes(*list, n.rank(x));
  if (!axes) {
    return failure();
  }
  for (auto [i, dim] : llvm::enumerate(n.shape(x))) {
    if (!llvm::is_contained(*axes, static_cast<int64_t>(i))) {
      shape.push_back(dim);
    } else if (dim != 1) {
      return n.invalid("cannot drop dimension " + Twine(i) + " of size " +
                       Twine(dim));
    }
  }
  n.set(0, n.reshape(x, shape));
  return success();
}

static LogicalResult convertUnsqueeze(Node &n) {
  Value x = n.in(0);
  auto list = n.attributeOrInput("axes", 1, 13);
  if (!list) {
    return n.hasFailed() ? failure() : n.invalid("it has no axes");
  }
  int64_t rank = n.rank(x) + static_cast<int64_t>(list->size());
  auto axes = n.axes(*list, rank);
  if (!axes) {
    return failure();
  }
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> rest = n.shape(x);
  for (int64_t i = 0; i < rank; ++i) {
    if (llvm::is_contained(*axes, i)) {
      shape.push_back(1);
    } else {
      shape.push_back(rest.front());
      rest = rest.drop_front();
    }
  }
  n.set(0, n.reshape(x, shape));
  return success();
}

static LogicalResult convertTranspose(Node &n) {
  Value x = n.in(0);
  auto permutation = n.attrs.findInts("perm");
  if (!permutation) {
    permutation = countUp(0, n.rank(x));
    std::reverse(permutation->begin(), permutation->end());
  }
  n.set(0, n.transpose(x, *permutation));
  return success();
}

static LogicalResult convertExpand(Node &n) {
  Value x = n.in(0);
  auto target = n.constantInts(1, "shape");
  if (!target) {
    return failure();
  }
  if (!countElements(*target)) {
    return n.invalid("its shape has a negative dimension or too many elements");
  }
  auto shape = amp::broadcastShapes(n.shape(x), *target);
  if (!shape) {
    return n.invalid("the input does not broadcast to the shape");
  }
  n.set(0, n.broadcast(x, *shape));
  return success();
}

static LogicalResult convertTile(Node &n) {
  Value x = n.in(0);
  auto repeats = n.constantInts(1, "repeats");
  if (!repeats) {
    return failure();
  }
  if (static_cast<int64_t>(repeats->size()) != n.rank(x) ||
      !countElements(*repeats)) {
    return n.invalid("expected " + Twine(n.rank(x)) +
                     " repeats that are not negative");
  }
  // [a, b] -> [1, a, 1, b] -> [r, a, s, b] -> [r * a, s * b]
  SmallVector<int64_t> split, repeated, joined;
  for (auto [dim, repeat] : llvm::zip_equal(n.shape(x), *repeats)) {
    split.append({1, dim});
    repeated.append({repeat, dim});
    joined.push_back(repeat * dim); // both at most 2^40
  }
  if (!countElements(repeated)) {
    return n.invalid("its result has too many elements");
  }
  n.set(0, n.reshape(n.broadcast(n.reshape(x, split), repeated), joined));
  return success();
}

//===----------------------------------------------------------------------===//
// Blocks and triangles
//===----------------------------------------------------------------------===//

static LogicalResult convertDepthToSpace(Node &n) {
  Value x = n.in(0);
  int64_t block = n.attrs.requireInt("blocksize");
  std::string mode = n.attrs.getString("mode", "DCR");
  ArrayRef<int64_t> s = n.shape(x);
  if (s.size() != 4 || block < 1 || block > (1 << 20) ||
      s[1] % (block * block) != 0) {
    return n.invalid("expected a rank of 4 and channels that divide by the "
                     "square of blocksize");
  }
  if (mode != "DCR" && mode != "CRD") {
    return n.invalid("expected mode DCR or CRD, got '" + printableName(mode) +
                     "'");
  }
  int64_t depth = s[1] / (block * block);
  SmallVector<int64_t> result{s[0], depth, s[2] * block, s[3] * block};
  Value y =
      mode == "DCR"
          ? n.transpose(n.reshape(x, {s[0], block, block, depth, s[2], s[3]}),
                        {0, 3, 4, 1, 5, 2})
          : n.transpose(n.reshape(x, {s[0], depth, block, block, s[2], s[3]}),
                        {0, 1, 4, 2, 5, 3});
  n.set(0, n.reshape(y, result));
  return success();
}

static LogicalResult convertSpaceToDepth(Node &n) {
  Value x = n.in(0);
  int64_t block = n.attrs.requireInt("blocksize");
  std::string mode = n.attrs.getString("mode", "DCR");
  ArrayRef<int64_t> s = n.shape(x);
  if (s.size() != 4 || block < 1 || block > (1 << 20) || s[2] % block != 0 ||
      s[3] % block != 0) {
    return n.invalid("expected a rank of 4 and an image that divides by "
                     "blocksize");
  }
  SmallVector<int64_t> result{s[0], s[1] * block * block, s[2] / block,
                              s[3] / block};
  Value y =
      n.reshape(x, {s[0], s[1], s[2] / block, block, s[3] / block, block});
  if (mode != "DCR" && mode != "CRD") {
    return n.invalid("expected mode DCR or CRD, got '" + printableName(mode) +
                     "'");
  }
  y = mode == "DCR" ? n.transpose(y, {0, 3, 5, 1, 2, 4})
                    : n.transpose(y, {0, 1, 3, 5, 2, 4});
  n.set(0, n.reshape(y, result));
  return success();
}

static LogicalResult convertTrilu(Node &n) {
  Value x = n.in(0);
  bool isUpper = n.attrs.getFlag("upper", true);
  if (n.rank(x) < 2) {
    return n.invalid("expected a rank of 2 or more");
  }
  Type index = n.b.getI64Type();
  ArrayRef<int64_t> matrix = n.shape(x).take_back(2);
  Value row = n.iota(index, {matrix[0], 1}, 0);
  Value column = n.iota(index, {1, matrix[1]}, 1);
  Value offset = n.has(1) ? n.reshape(n.in(1), {}) : n.scalar(index, 0);
  Value diagonal = n.build<amp::AddOp>(row, offset);
  auto predicate =
      isUpper ? amp::ComparePredicate::GE : amp::ComparePredicate::LE;
  Value isKept = n.build<amp::CompareOp>(column, diagonal, predicate);
  n.set(0, n.build<amp::SelectOp>(isKept, x, n.scalar(n.element(x), 0)));
  return success();
}

void addShapeOps(OpTable &table) {
  table.add({
      {"DepthToSpace", convertDepthToSpace, OpClass::of<amp::TransposeOp>(), 1,
       1},
      {"Expand", convertExpand, OpClass::of<amp::BroadcastOp>(), 2, 2},
      {"Flatten", convertFlatten, OpClass::of<amp::ReshapeOp>(), 1, 1},
      {"Reshape", convertReshape, OpClass::of<amp::ReshapeOp>(), 1, 2},
      {"SpaceToDepth", convertSpaceToDepth, OpClass::of<amp::TransposeOp>(), 1,
       1},
      {"Squeeze", convertSqueeze, OpClass::of<amp::ReshapeOp>(), 1, 2},
      {"Tile", convertTile, OpClass::of<amp::BroadcastOp>(), 2, 2, 1, 6},
      {"Transpose", convertTranspose, OpClass::of<amp::TransposeOp>(), 1, 1},
      {"Trilu", convertTrilu, OpClass::of<amp::SelectOp>(), 1, 2},
      {"Unsqueeze", convertUnsqueeze, OpClass::of<amp::ReshapeOp>(), 1, 2},
  });
}

} // namespace ampc::importer
