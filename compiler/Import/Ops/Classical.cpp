//===- Classical.cpp - Small operators of ai.onnx.ml, and determinants ----===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"

using namespace mlir;

namespace ampc::importer {

/// 1 above the threshold, else 0.
static LogicalResult convertBinarizer(Node &n) {
  Value x = n.in(0);
  Value threshold = n.scalar(n.element(x), n.attrs.getFloat("threshold", 0));
  Value isAbove =
      n.build<amp::CompareOp>(x, threshold, amp::ComparePredicate::GT);
  n.set(0, n.build<amp::SelectOp>(isAbove, n.scalar(n.element(x), 1),
                                  n.scalar(n.element(x), 0)));
  return success();
}

/// Picks along the last dimension.
static LogicalResult convertArrayFeatureExtractor(Node &n) {
  Value x = n.in(0), indices = n.in(1);
  int64_t rank = n.rank(x);
  if (rank < 1) {
    return n.invalid("expected an input of rank 1 or more");
  }
  int64_t count = 1;
  for (int64_t size : n.shape(indices)) {
    count *= size;
  }
  SmallVector<int64_t> shape(n.shape(x));
  shape.back() = count;
  if (rank == 1) {
    shape.insert(shape.begin(), 1);
  }
  Value picked =
      n.build<amp::GatherOp>(x, n.reshape(indices, {count}), rank - 1);
  n.set(0, n.reshape(picked, shape));
  return success();
}

/// Expansion along row `row` over what is left of the columns.
static Value buildMinor(Node &n, ArrayRef<Value> cells, int64_t size,
                        int64_t row, ArrayRef<int64_t> columns) {
  if (columns.size() == 1) {
    return cells[row * size + columns.front()];
  }
  Value sum;
  for (size_t i = 0; i < columns.size(); ++i) {
    SmallVector<int64_t> rest(columns);
    rest.erase(rest.begin() + i);
    Value term = n.build<amp::MulOp>(cells[row * size + columns[i]],
                                     buildMinor(n, cells, size, row + 1, rest));
    sum = !sum         ? term
          : i % 2 == 0 ? n.build<amp::AddOp>(sum, term)
                       : n.build<amp::SubOp>(sum, term);
  }
  return sum;
}

static LogicalResult convertDet(Node &n) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  if (rank < 2 || n.shape(x)[rank - 1] != n.shape(x)[rank - 2]) {
    return n.invalid("expected square matrices");
  }
  int64_t size = n.shape(x).back();
  constexpr int64_t maxSize = 4;
  if (size < 1 || size > maxSize) {
    return n.unsupported("matrices larger than " + Twine(maxSize) + " x " +
                         Twine(maxSize));
  }
  n.set(0, n.composite1({x}, [&](ArrayRef<Value> in) {
    SmallVector<int64_t> shape(n.shape(in[0]).drop_back(2));
    SmallVector<Value> cells;
    for (int64_t i = 0; i < size * size; ++i) {
      Value row = n.sliceDim(in[0], rank - 2, i / size, 1);
      cells.push_back(n.reshape(n.sliceDim(row, rank - 1, i % size, 1), shape));
    }
    return buildMinor(n, cells, size, 0, countUp(0, size));
  }));
  return success();
}

void addClassicalOps(OpTable &table) {
  table.add({
      {"Det", convertDet, AutocastClass::Fp32, 1, 1, 1, 11},
      {"ai.onnx.ml.ArrayFeatureExtractor", convertArrayFeatureExtractor,
       OpClass::of<amp::GatherOp>(), 2, 2},
      {"ai.onnx.ml.Binarizer", convertBinarizer, OpClass::of<amp::SelectOp>(),
       1, 1},
  });
}

} // namespace ampc::importer
