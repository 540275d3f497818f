//===- RowWalker.cpp - Reductions over and maps of the rows of a tensor ---===//
#include "compiler/Targets/Codegen/RowWalker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

/// Independent sums that hide the latency of an addition.
static constexpr int64_t unroll = 4;

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) {
    result *= size;
  }
  return result;
}

int64_t RowSpace::rows() const { return product(kept); }
int64_t RowSpace::rowLength() const { return product(row); }

Value RowWalker::splat(Value value, int64_t width) {
  return width == 1 || isa<VectorType>(value.getType())
             ? value
             : vector::BroadcastOp::create(
                   e.b, e.loc, VectorType::get({width}, value.getType()), value)
                   .getResult();
}

Value RowWalker::spread(Value statistic, int64_t width) {
  return splat(statistic, width);
}

void RowWalker::forEachRow(function_ref<void()> body) {
  int64_t length = std::max<int64_t>(space.rowLength(), 1);
  auto setKept = [&](ArrayRef<Value> outer, int64_t width) {
    kept.clear();
    for (Value base : outer) {
      kept.push_back({base, 0});
    }
    if (width > 1) {
      kept.back().step = 1;
    }
    currentLanes = width;
  };
  if (space.lanesAlongRow || lanes == 1) {
    e.launch.items = space.rows();
    e.launch.grain = std::max<int64_t>(1, 8192 / length);
    e.forEachItem([&](Value item) {
      setKept(e.delinearize(item, space.kept), 1);
      body();
    });
    return;
  }
  int64_t last = space.kept.back();
  SmallVector<int64_t> items(space.kept);
  items.back() = llvm::divideCeil(last, lanes);
  e.launch.items = product(items);
  e.launch.grain = std::max<int64_t>(1, 8192 / (length * lanes));
  e.forEachItem([&](Value item) {
    SmallVector<Value> outer = e.delinearize(item, items);
    Value first = e.mulIndex(outer.back(), lanes);
    if (last % lanes == 0) {
      outer.back() = first;
      setKept(outer, lanes);
      body();
      return;
    }
    Value end = e.addIndex(first, e.index(lanes));
    Value whole = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ule,
                                        end, e.index(last));
    auto choice = scf::IfOp::create(e.b, e.loc, whole, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    if (last >= lanes) {
      e.b.setInsertionPointToStart(choice.thenBlock());
      outer.back() = first;
      setKept(outer, lanes);
      body();
    }
    e.b.setInsertionPointToStart(choice.elseBlock());
    e.forLoop(first, e.index(last), 1, [&](Value column) {
      outer.back() = column;
      setKept(outer, 1);
      body();
    });
  });
}

SmallVector<LaneIndex> RowWalker::locate(ArrayRef<Value> row, int64_t width) {
  SmallVector<LaneIndex> index;
  for (Value base : row) {
    index.push_back({base, 0});
  }
  if (width > 1 && currentLanes == 1) {
    index.back().step = 1;
  }
  return space.locate(kept, index);
}

Value RowWalker::horizontal(Value vector, CombineFn combine) {
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  while (width > 1) {
    width /= 2;
    Value low = vector::ExtractStridedSliceOp::create(
        e.b, e.loc, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{width},
        ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(
        e.b, e.loc, vector, ArrayRef<int64_t>{width}, ArrayRef<int64_t>{width},
        ArrayRef<int64_t>{1});
    vector = combine(low, high);
  }
  return vector::ExtractOp::create(e.b, e.loc, vector, ArrayRef<int64_t>{0});
}

Value RowWalker::reduce(TypedAttr identity, ElementFn element,
                        CombineFn combine) {
  Value start = arith::ConstantOp::create(e.b, e.loc, identity);
  if (!space.lanesAlongRow || lanes == 1) {
    int64_t width = currentLanes;
    return e.forLoopCarried(
        e.index(0), e.index(space.rowLength()), 1,
        ValueRange{splat(start, width)},
        [&](Value r, ValueRange acc) -> SmallVector<Value> {
          auto index = locate(e.delinearize(r, space.row), width);
          return {combine(acc[0], element(width, index, r))};
        })[0];
  }
  int64_t inner = space.row.empty() ? 1 : space.row.back();
  int64_t outer = inner == 0 ? 0 : space.rowLength() / inner;
  int64_t main = inner / (unroll * lanes) * unroll * lanes;
  int64_t middle = inner / lanes * lanes;
  SmallVector<Value> init(unroll, splat(start, lanes));
  init.push_back(start);
  ArrayRef<int64_t> outerShape(space.row);
  outerShape = outerShape.empty() ? outerShape : outerShape.drop_back();
  SmallVector<Value> sums = e.forLoopCarried(
      e.index(0), e.index(outer), 1, init, [&](Value o, ValueRange carried) {
        SmallVector<Value> acc(carried);
        SmallVector<Value> prefix = e.delinearize(o, outerShape);
        Value base = e.mulIndex(o, inner);
        auto at = [&](Value i, int64_t width) {
          SmallVector<Value> row(prefix);
          row.push_back(i);
          return element(width, locate(row, width), e.addIndex(base, i));
        };
        if (main != 0) {
          acc = e.forLoopCarried(
              e.index(0), e.index(main), unroll * lanes, acc,
              [&](Value i, ValueRange inside) {
                SmallVector<Value> next(inside);
                for (int64_t u = 0; u < unroll; ++u) {
                  Value value = at(e.addIndex(i, e.index(u * lanes)), lanes);
                  next[u] = combine(next[u], value);
                }
                return next;
              });
        }
        if (middle != main) {
          acc[0] = e.forLoopCarried(
              e.index(main), e.index(middle), lanes, ValueRange{acc[0]},
              [&](Value i, ValueRange inside) -> SmallVector<Value> {
                return {combine(inside[0], at(i, lanes))};
              })[0];
        }
        if (inner != middle) {
          acc[unroll] = e.forLoopCarried(
              e.index(middle), e.index(inner), 1, ValueRange{acc[unroll]},
              [&](Value i, ValueRange inside) -> SmallVector<Value> {
                return {combine(inside[0], at(i, 1))};
              })[0];
        }
        return acc;
      });
  if (middle == 0) {
    return sums[unroll];
  }
  Value left = combine(sums[0], sums[1]), right = combine(sums[2], sums[3]);
  Value total = horizontal(combine(left, right), combine);
  return middle == inner ? total : combine(total, sums[unroll]);
}

void RowWalker::forEachElement(VisitFn visit) {
  if (!space.lanesAlongRow || lanes == 1) {
    e.forLoop(e.index(0), e.index(space.rowLength()), 1, [&](Value r) {
      visit(currentLanes, locate(e.delinearize(r, space.row), currentLanes), r);
    });
    return;
  }
  int64_t inner = space.row.empty() ? 1 : space.row.back();
  int64_t outer = inner == 0 ? 0 : space.rowLength() / inner;
  int64_t middle = inner / lanes * lanes;
  ArrayRef<int64_t> outerShape(space.row);
  outerShape = outerShape.empty() ? outerShape : outerShape.drop_back();
  e.forLoop(e.index(0), e.index(outer), 1, [&](Value o) {
    SmallVector<Value> prefix = e.delinearize(o, outerShape);
    Value base = e.mulIndex(o, inner);
    auto at = [&](Value i, int64_t width) {
      SmallVector<Value> row(prefix);
      row.push_back(i);
      visit(width, locate(row, width), e.addIndex(base, i));
    };
    if (middle != 0) {
      e.forLoop(e.index(0), e.index(middle), lanes,
                [&](Value i) { at(i, lanes); });
    }
    if (middle != inner) {
      e.forLoop(e.index(middle), e.index(inner), 1, [&](Value i) { at(i, 1); });
    }
  });
}
