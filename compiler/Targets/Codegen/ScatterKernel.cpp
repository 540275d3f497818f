//===- ScatterKernel.cpp - Scatters, in order but shared out --------------===//
// Updates of one element of the result apply in their order; those of others
// are independent. A work item owns a block of the result, which it first
// copies: some of the rows that indices choose among, and some of the columns
// that they do not touch. It goes through all updates of its columns and
// applies those of its rows. So nothing is shared, and the result is that of
// one thread.
#include "compiler/Targets/Codegen/ScatterKernel.h"

#include "dialects/Amp/Impl/MathExpansion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

namespace {

class ScatterKernel {
public:
  ScatterKernel(KernelEmitter &e, Operation *root)
      : e(e), input(root->getOperand(0)), indices(root->getOperand(1)),
        updates(root->getOperand(2)), result(root->getResult(0)),
        storage(getElementTypeOrSelf(input.getType())),
        element(getComputeType(storage)) {
    ArrayRef<int64_t> shape = shapeOf(input), updateShape = shapeOf(updates);
    if (auto scatter = dyn_cast<amp::ScatterElementsOp>(root)) {
      reduction = scatter.getReduction();
      elementwise = true;
      int64_t axis = scatter.getAxis();
      batch.assign(shape.begin(), shape.begin() + axis);
      row = {shape[axis]};
      column.assign(shape.begin() + axis + 1, shape.end());
      list = {updateShape[axis]};
    } else {
      reduction = cast<amp::ScatterNdOp>(root).getReduction();
      int64_t tuple = shapeOf(indices).back();
      row.assign(shape.begin(), shape.begin() + tuple);
      column.assign(shape.begin() + tuple, shape.end());
      list.assign(shapeOf(indices).begin(), shapeOf(indices).end() - 1);
    }
    rows = llvm::product_of(row);
    columns = llvm::product_of(column);
  }

  LogicalResult emit(int64_t width);

private:
  void emitItem(ArrayRef<Value> at);
  void copyRows(Value firstRow, Value rowEnd, Value firstColumn, Value end);
  void applyUpdates(Value firstRow, Value rowEnd, Value firstColumn, Value end);
  /// The number of the row that the indices from `index` on name.
  Value rowOf(ArrayRef<Value> index);
  Value pull(Value tensor, ArrayRef<Value> index, int64_t lanes);
  Value clampIndex(Value raw, int64_t size);
  Value combine(Value old, Value update);
  Value whole(ArrayRef<Value> batchIndex, Value number,
              ArrayRef<Value> columnIndex) {
    SmallVector<Value> index(batchIndex), at = e.delinearize(number, row);
    llvm::append_range(index, at);
    llvm::append_range(index, columnIndex);
    return e.linearize(index, shapeOf(input));
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(e.b, e.loc, predicate, lhs, rhs);
  }
  void onlyIf(Value condition, function_ref<void()> body) {
    auto choice = scf::IfOp::create(e.b, e.loc, condition, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    body();
  }
  Value bounded(Value first, int64_t count, int64_t limit) {
    Value end = e.addIndex(first, e.index(count));
    return limit % count == 0
               ? end
               : arith::MinUIOp::create(e.b, e.loc, end, e.index(limit))
                     .getResult();
  }

  KernelEmitter &e;
  Value input, indices, updates, result;
  Type storage, element;
  amp::ScatterReduction reduction;
  bool elementwise = false; ///< an index for each update, along one dimension
  /// The dimensions of the input: those before the ones that indices choose
  /// along, those, and the others; and those of the updates of an element.
  SmallVector<int64_t> batch, row, column, list;
  int64_t rows = 0, columns = 0;
  int64_t lanes = 1; ///< columns at once
  int64_t blockRows = 1, blockColumns = 1;
  SmallVector<Value> batchIndex;
  bool ok = true;
};

LogicalResult ScatterKernel::emit(int64_t width) {
  // Vectors of columns share their index, and must not run over the end of the
  // last dimension.
  bool isWhole = !elementwise && !column.empty() && column.back() % width == 0;
  if (width != 1 && !isWhole) {
    return failure();
  }
  lanes = width;
  e.reset();
  ok = true;
  // A thread of a GPU takes one vector, of a CPU some cache lines. Rows are
  // shared out as far as there are too few columns: each part goes through all
  // the updates.
  bool isGpu = e.traits.mapChunk == 0;
  int64_t batches = llvm::product_of(batch);
  int64_t wanted = isGpu ? int64_t(1) << 16 : 32;
  blockColumns = std::clamp<int64_t>(columns, 1, isGpu ? lanes : 64);
  int64_t columnBlocks = llvm::divideCeil(columns, blockColumns);
  int64_t others = std::max<int64_t>(batches * columnBlocks, 1);
  constexpr int64_t mostParts = 64, leastRows = 64;
  int64_t parts = std::clamp<int64_t>(
      std::min<int64_t>(llvm::divideCeil(wanted, others), rows / leastRows), 1,
      mostParts);
  blockRows = std::max<int64_t>(llvm::divideCeil(rows, parts), 1);
  int64_t rowBlocks = llvm::divideCeil(rows, blockRows);
  SmallVector<int64_t> items{batches, rowBlocks, columnBlocks};
  e.launch.items = llvm::product_of(items);
  e.launch.grain = 1;
  e.forEachItem([&](Value item) { emitItem(e.delinearize(item, items)); });
  return success(ok);
}

void ScatterKernel::emitItem(ArrayRef<Value> at) {
  batchIndex = e.delinearize(at[0], batch);
  Value firstRow = e.mulIndex(at[1], blockRows);
  Value rowEnd = bounded(firstRow, blockRows, rows);
  Value firstColumn = e.mulIndex(at[2], blockColumns);
  Value end = bounded(firstColumn, blockColumns, columns);
  copyRows(firstRow, rowEnd, firstColumn, end);
  applyUpdates(firstRow, rowEnd, firstColumn, end);
}

void ScatterKernel::copyRows(Value firstRow, Value rowEnd, Value firstColumn,
                             Value end) {
  e.forLoop(firstRow, rowEnd, 1, [&](Value number) {
    e.forLoop(firstColumn, end, lanes, [&](Value c) {
      SmallVector<Value> index(batchIndex);
      llvm::append_range(index, e.delinearize(number, row));
      llvm::append_range(index, e.delinearize(c, column));
      Value value = pull(input, index, lanes);
      e.store(value, e.resultPointer(0), storage,
              e.linearize(index, shapeOf(input)));
    });
  });
}

void ScatterKernel::applyUpdates(Value firstRow, Value rowEnd,
                                 Value firstColumn, Value end) {
  e.forLoop(e.index(0), e.index(llvm::product_of(list)), 1, [&](Value u) {
    SmallVector<Value> place = e.delinearize(u, list);
    if (!elementwise) {
      Value number = rowOf(place);
      Value within = arith::SubIOp::create(e.b, e.loc, number, firstRow);
      Value count = arith::SubIOp::create(e.b, e.loc, rowEnd, firstRow);
      onlyIf(compare(arith::CmpIPredicate::ult, within, count), [&] {
        e.forLoop(firstColumn, end, lanes, [&](Value c) {
          SmallVector<Value> columnIndex = e.delinearize(c, column);
          SmallVector<Value> index(place);
          llvm::append_range(index, columnIndex);
          Value at = whole(batchIndex, number, columnIndex);
          Value old = e.load(e.resultPointer(0), storage, at, lanes);
          Value value = combine(old, pull(updates, index, lanes));
          e.store(e.round(value, storage), e.resultPointer(0), storage, at);
        });
      });
      return;
    }
    e.forLoop(firstColumn, end, 1, [&](Value c) {
      SmallVector<Value> columnIndex = e.delinearize(c, column);
      SmallVector<Value> index(batchIndex);
      index.push_back(u);
      llvm::append_range(index, columnIndex);
      // Where there are fewer updates than elements, some have none.
      Value exists =
          arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
      ArrayRef<int64_t> shape = shapeOf(updates);
      for (size_t i = 0; i < shape.size(); ++i) {
        if (i != batch.size() && shape[i] != shapeOf(input)[i]) {
          Value is =
              compare(arith::CmpIPredicate::ult, index[i], e.index(shape[i]));
          exists = arith::AndIOp::create(e.b, e.loc, exists, is);
        }
      }
      onlyIf(exists, [&] {
        Value number = clampIndex(pull(indices, index, 1), row[0]);
        Value within = arith::SubIOp::create(e.b, e.loc, number, firstRow);
        Value count = arith::SubIOp::create(e.b, e.loc, rowEnd, firstRow);
        onlyIf(compare(arith::CmpIPredicate::ult, within, count), [&] {
          Value at = whole(batchIndex, number, columnIndex);
          Value old = e.load(e.resultPointer(0), storage, at, 1);
          Value value = combine(old, pull(updates, index, 1));
          e.store(e.round(value, storage), e.resultPointer(0), storage, at);
        });
      });
    });
  });
}

Value ScatterKernel::rowOf(ArrayRef<Value> index) {
  SmallVector<Value> place;
  for (auto [t, size] : llvm::enumerate(row)) {
    SmallVector<Value> at(index);
    at.push_back(e.index(static_cast<int64_t>(t)));
    place.push_back(clampIndex(pull(indices, at, 1), size));
  }
  return e.linearize(place, row);
}

/// `count` elements from `index` on along the last dimension.
Value ScatterKernel::pull(Value tensor, ArrayRef<Value> index, int64_t count) {
  SmallVector<LaneIndex> at;
  for (Value i : index) {
    at.push_back({i, 0});
  }
  if (count != 1) {
    at.back().step = 1;
  }
  ElementPuller puller(e, count);
  FailureOr<Value> value = puller.get(tensor, at);
  if (failed(value)) {
    ok = false;
    return puller.constant(
        getComputeType(getElementTypeOrSelf(tensor.getType())), 0);
  }
  return puller.splat(*value);
}

/// `index` counted from the end when negative, clamped into [0, size).
Value ScatterKernel::clampIndex(Value raw, int64_t size) {
  Value i = arith::IndexCastOp::create(e.b, e.loc, e.b.getIndexType(), raw);
  Value negative = compare(arith::CmpIPredicate::slt, i, e.index(0));
  i = arith::SelectOp::create(e.b, e.loc, negative,
                              e.addIndex(i, e.index(size)), i);
  i = arith::MaxSIOp::create(e.b, e.loc, i, e.index(0));
  return arith::MinSIOp::create(e.b, e.loc, i, e.index(size - 1));
}

Value ScatterKernel::combine(Value old, Value update) {
  bool isFloat = isa<FloatType>(element);
  bool isUnsigned = storage.isUnsignedInteger() || element.isInteger(1);
  switch (reduction) {
  case amp::ScatterReduction::None:
    return update;
  case amp::ScatterReduction::Add:
    return isFloat ? arith::AddFOp::create(e.b, e.loc, old, update).getResult()
                   : arith::AddIOp::create(e.b, e.loc, old, update).getResult();
  case amp::ScatterReduction::Mul:
    return isFloat ? arith::MulFOp::create(e.b, e.loc, old, update).getResult()
                   : arith::MulIOp::create(e.b, e.loc, old, update).getResult();
  case amp::ScatterReduction::Max:
    return amp::buildMax(e.b, e.loc, old, update, isUnsigned);
  case amp::ScatterReduction::Min:
    return amp::buildMin(e.b, e.loc, old, update, isUnsigned);
  }
  llvm_unreachable("unknown reduction");
}

} // namespace

LogicalResult codegen::emitScatterKernel(KernelEmitter &emitter,
                                         Operation *root) {
  ScatterKernel kernel(emitter, root);
  return success(succeeded(kernel.emit(emitter.traits.lanes)) ||
                 succeeded(kernel.emit(1)));
}
