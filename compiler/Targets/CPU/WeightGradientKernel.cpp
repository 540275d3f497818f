//===- WeightGradientKernel.cpp - Gradients of convolution weights --------===//
// A product over samples and positions: rows are output channels, columns are
// taps and the input channels under each, and what is summed are positions. A
// work item is a block of the result that stays in scratch. Slices of positions
// are copied beside it, as f32 and with a position's channels side by side,
// unless they lie so in memory; tiles of the block accumulate in registers.
#include "compiler/Targets/CPU/Contraction.h"
#include "compiler/Targets/CPU/WeightGradientPlan.h"

#include "compiler/Targets/Codegen/ConvWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

namespace {

class WeightGradientKernel : private WeightGradientPlan {
public:
  WeightGradientKernel(CpuEmitter &e, amp::ConvWeightGradientOp op)
      : WeightGradientPlan(e.machine, op), e(e), op(op), window(op) {}

  using WeightGradientPlan::isEmpty;

  LogicalResult emit();

private:
  LogicalResult emitItem(ArrayRef<Value> at);
  LogicalResult packSlice(Value first, Value count);
  LogicalResult packTaps(ArrayRef<Value> position, Value target);
  LogicalResult packRun(ArrayRef<Value> position, ArrayRef<Value> outer,
                        Value to);
  void multiply(Value first, Value count);
  LogicalResult finish();
  LogicalResult finishElements(Value row, Value tap, Value channel,
                               int64_t width);

  /// Zeros in the right slice.
  LogicalResult clear(Value count, Value at) {
    return copyRun(e, count, e.scratchPointer(rightOffset), at,
                   [&](Value, int64_t width) -> FailureOr<Value> {
                     return ElementPuller(e, width).constant(f32(), 0);
                   });
  }

  /// Builds both under a condition; null stands for always.
  LogicalResult either(Value condition, function_ref<LogicalResult()> then,
                       function_ref<LogicalResult()> otherwise) {
    if (!condition) {
      return then();
    }
    auto choice = scf::IfOp::create(e.b, e.loc, condition, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(choice.thenBlock());
    LogicalResult first = then();
    e.b.setInsertionPointToStart(choice.elseBlock());
    LogicalResult second = otherwise();
    return success(succeeded(first) && succeeded(second));
  }

  /// min(count, limit - first): of a block, what there is of it.
  Value bounded(Value first, int64_t count, int64_t limit) {
    if (limit % count == 0) {
      return e.index(count);
    }
    Value left = arith::SubIOp::create(e.b, e.loc, e.index(limit), first);
    return arith::MinUIOp::create(e.b, e.loc, left, e.index(count));
  }

  /// A tensor's channels from `channel` on, position by position from `first`
  /// on.
  MatrixBlock directSlice(Value tensor, Value first, Value channel) {
    int64_t size = shapeOf(tensor).back();
    auto argument = cast<BlockArgument>(tensor);
    return {e.argumentPointer(argument.getArgNumber()),
            e.addIndex(e.mulIndex(first, size), channel), size, f32()};
  }

  /// `width` channels from `channel` on of a sample at a position.
  FailureOr<Value> pull(Value tensor, Value sample, ArrayRef<Value> position,
                        Value channel, int64_t width) {
    SmallVector<LaneIndex> index{{sample, 0}};
    LaneIndex lane{channel, width == 1 ? 0 : 1};
    if (!isLast) {
      index.push_back(lane);
    }
    for (Value p : position) {
      index.push_back({p, 0});
    }
    if (isLast) {
      index.push_back(lane);
    }
    ElementPuller puller(e, width);
    FailureOr<Value> value = puller.get(tensor, index);
    return failed(value) ? value : FailureOr<Value>(puller.splat(*value));
  }

  Type f32() { return e.b.getF32Type(); }

  CpuEmitter &e;
  amp::ConvWeightGradientOp op;
  ConvWindow window;
  // Of the item that is emitted.
  Value group, firstRow, firstTap, firstChannel;
  Value rowCount, tapCount, channelCount;
  bool hasVectors = true;
};

LogicalResult WeightGradientKernel::emit() {
  for (bool withVectors : {true, false}) {
    hasVectors = withVectors;
    e.reset();
    e.launch.items = items();
    e.launch.grain = 1;
    e.launch.scratchBytes =
        rightOffset + llvm::alignTo(slice * rightStride * 4, 64);
    bool ok = true;
    e.forEachItem([&](Value item) {
      ok = succeeded(emitItem(
          e.delinearize(item, {groups, channelBlocks, tapBlocks, rowBlocks})));
    });
    if (ok) {
      return success();
    }
  }
  return failure();
}

LogicalResult WeightGradientKernel::emitItem(ArrayRef<Value> at) {
  group = at[0];
  firstChannel = e.mulIndex(at[1], blockChannels);
  firstTap = e.mulIndex(at[2], blockTaps);
  firstRow = e.mulIndex(at[3], blockRows);
  channelCount = bounded(firstChannel, blockChannels, channels);
  tapCount = bounded(firstTap, blockTaps, taps);
  rowCount = bounded(firstRow, blockRows, m);
  LogicalResult cleared =
      copyRun(e, e.index(blockRows * sumStride), e.scratchPointer(0),
              e.index(0), [&](Value, int64_t width) -> FailureOr<Value> {
                return ElementPuller(e, width).constant(f32(), 0);
              });
  // Columns beyond the last are multiplied too.
  if (failed(cleared) ||
      failed(clear(e.index(slice * rightStride), e.index(0)))) {
    return failure();
  }
  bool ok = true;
  e.forLoop(e.index(0), e.index(positions), slice, [&](Value first) {
    Value count = bounded(first, slice, positions);
    ok = ok && succeeded(packSlice(first, count));
    multiply(first, count);
  });
  return success(ok && succeeded(finish()));
}

/// Copies the channels of gradient and input at `count` positions from `first`
/// on.
LogicalResult WeightGradientKernel::packSlice(Value first, Value count) {
  if (leftDirect && rightDirect) {
    return success();
  }
  bool ok = true;
  Value left = e.scratchPointer(leftOffset);
  Value channel = e.addIndex(e.mulIndex(group, m), firstRow);
  e.forLoop(e.index(0), count, 1, [&](Value i) {
    SmallVector<Value> position = e.delinearize(e.addIndex(first, i), space);
    ArrayRef<Value> out = ArrayRef(position).drop_front();
    if (!leftDirect) {
      ok = ok &&
           succeeded(copyRun(e, rowCount, left, e.mulIndex(i, leftStride),
                             [&](Value c, int64_t width) {
                               return pull(op.getGradient(), position[0], out,
                                           e.addIndex(channel, c), width);
                             }));
    }
    ok = ok && (rightDirect ||
                succeeded(packTaps(position, e.mulIndex(i, rightStride))));
  });
  return success(ok);
}

/// Copies what lies under each tap at an output position; zeros where that is
/// padding.
LogicalResult WeightGradientKernel::packTaps(ArrayRef<Value> position,
                                             Value target) {
  bool ok = true;
  Value right = e.scratchPointer(rightOffset);
  Value channel = e.addIndex(e.mulIndex(group, channels), firstChannel);
  e.forLoop(e.index(0), tapCount, 1, [&](Value t) {
    SmallVector<Value> offsets = e.delinearize(e.addIndex(firstTap, t), kernel);
    Value inside, to = e.addIndex(target, e.mulIndex(t, blockChannels));
    SmallVector<Value> in;
    for (size_t i = 0; i < window.rank(); ++i) {
      if (run == 1 || i + 1 < window.rank()) {
        in.push_back(window.locate(e, i, position[i + 1], offsets[i], inside));
      }
    }
    auto copy = [&] {
      if (run != 1) {
        return packRun(position, in, to);
      }
      return copyRun(e, channelCount, right, to, [&](Value c, int64_t width) {
        return pull(op.getInput(), position[0], in, e.addIndex(channel, c),
                    width);
      });
    };
    ok = ok && succeeded(either(inside, copy,
                                [&] { return clear(channelCount, to); }));
  });
  return success(ok);
}

/// The same for all taps of the last dimension: one piece of memory, unless it
/// reaches into the padding.
LogicalResult WeightGradientKernel::packRun(ArrayRef<Value> position,
                                            ArrayRef<Value> outer, Value to) {
  size_t last = window.rank() - 1;
  Value right = e.scratchPointer(rightOffset);
  auto argument = cast<BlockArgument>(op.getInput());
  Type element = getElementTypeOrSelf(argument.getType());
  int64_t each = channels / run;
  /// Copies `count` elements of the row from tap `tap` on.
  auto copy = [&](Value tap, int64_t count) {
    Value none;
    SmallVector<Value> at{position[0]};
    llvm::append_range(at, outer);
    at.push_back(window.locate(e, last, position[last + 1], tap, none));
    at.push_back(e.index(0));
    Value from = e.linearize(at, shapeOf(argument));
    return copyRun(e, e.index(count), right,
                   e.addIndex(to, e.mulIndex(tap, each)),
                   [&](Value c, int64_t width) -> FailureOr<Value> {
                     return e.load(e.argumentPointer(argument.getArgNumber()),
                                   element, e.addIndex(from, c), width);
                   });
  };
  Value isWhole;
  window.locate(e, last, position[last + 1], e.index(0), isWhole);
  window.locate(e, last, position[last + 1], e.index(run - 1), isWhole);
  return either(
      isWhole, [&] { return copy(e.index(0), channels); },
      [&] {
        bool ok = true;
        e.forLoop(e.index(0), e.index(run), 1, [&](Value tap) {
          Value inside;
          window.locate(e, last, position[last + 1], tap, inside);
          ok = ok && succeeded(either(
                         inside, [&] { return copy(tap, each); },
                         [&] {
                           Value at = e.addIndex(to, e.mulIndex(tap, each));
                           return clear(e.index(each), at);
                         }));
        });
        return success(ok);
      });
}

/// Adds the slice's products to the block, tile by tile.
void WeightGradientKernel::multiply(Value first, Value count) {
  MatrixBlock left{e.scratchPointer(leftOffset), e.index(0), leftStride, f32()};
  MatrixBlock right{e.scratchPointer(rightOffset), e.index(0), rightStride,
                    f32()};
  if (leftDirect) {
    left = directSlice(op.getGradient(), first,
                       e.addIndex(e.mulIndex(group, m), firstRow));
  }
  if (rightDirect) {
    right = directSlice(op.getInput(), first,
                        e.addIndex(e.mulIndex(group, channels), firstChannel));
  }
  // The left one's columns are positions.
  std::swap(left.stride, left.step);
  Value leftStart = left.offset, rightStart = right.offset;
  MatrixBlock sums{e.scratchPointer(0), {}, sumStride, f32()};
  e.forLoop(e.index(0), e.index(panels), 1, [&](Value j) {
    Value column = e.mulIndex(j, vectors * lanes);
    right.offset = e.addIndex(rightStart, column);
    auto tile = [&](Value row, int64_t height) {
      left.offset = e.addIndex(leftStart, row);
      sums.offset = e.addIndex(e.mulIndex(row, sumStride), column);
      emitTile(e, left, right, count, height, vectors, sums,
               /*accumulate=*/true);
    };
    // Only the last block of rows ends within a tile.
    int64_t rest = m % tileRows;
    Value tail =
        arith::RemUIOp::create(e.b, e.loc, rowCount, e.index(tileRows));
    Value mainEnd =
        rest == 0
            ? rowCount
            : arith::SubIOp::create(e.b, e.loc, rowCount, tail).getResult();
    if (blockRows >= tileRows) {
      e.forLoop(e.index(0), mainEnd, tileRows,
                [&](Value row) { tile(row, tileRows); });
    }
    if (rest != 0) {
      e.forLoop(mainEnd, rowCount, tileRows,
                [&](Value row) { tile(row, rest); });
    }
  });
}

/// The epilogue over the block. A result's taps lie side by side: neighbouring
/// columns do so only where there is one.
LogicalResult WeightGradientKernel::finish() {
  bool ok = true;
  e.forLoop(e.index(0), rowCount, 1, [&](Value row) {
    auto emit = [&](Value tap, Value channel, int64_t width) {
      ok = ok && succeeded(finishElements(row, tap, channel, width));
    };
    if (taps == 1 && run == 1 && hasVectors) {
      Value rest =
          arith::RemUIOp::create(e.b, e.loc, channelCount, e.index(lanes));
      Value main = arith::SubIOp::create(e.b, e.loc, channelCount, rest);
      e.forLoop(e.index(0), main, lanes,
                [&](Value c) { emit(e.index(0), c, lanes); });
      e.forLoop(main, channelCount, 1,
                [&](Value c) { emit(e.index(0), c, 1); });
      return;
    }
    e.forLoop(e.index(0), channelCount, 1, [&](Value c) {
      e.forLoop(e.index(0), tapCount, 1, [&](Value t) { emit(t, c, 1); });
    });
  });
  return success(ok);
}

LogicalResult WeightGradientKernel::finishElements(Value row, Value tap,
                                                   Value channel,
                                                   int64_t width) {
  Value column = e.addIndex(e.mulIndex(tap, blockChannels), channel);
  Value sum = e.load(e.scratchPointer(0), f32(),
                     e.addIndex(e.mulIndex(row, sumStride), column), width);
  SmallVector<LaneIndex> index{
      {e.addIndex(e.mulIndex(group, m), e.addIndex(firstRow, row)), 0},
      {e.addIndex(firstChannel, channel), width == 1 ? 0 : 1}};
  for (Value offset : e.delinearize(e.addIndex(firstTap, tap), kernel)) {
    index.push_back({offset, 0});
  }
  if (run != 1) {
    SmallVector<Value> parts =
        e.delinearize(index[1].base, {run, channels / run});
    index.back().base = parts[0];
    index[1].base = parts[1];
  }
  return emitEpilogue(e, op.getResult(), sum, index, width);
}

} // namespace

LogicalResult cpu::emitWeightGradientKernel(CpuEmitter &emitter,
                                            Operation *root) {
  auto op = dyn_cast<amp::ConvWeightGradientOp>(root);
  if (!op ||
      !getComputeType(op.getInput().getType().getElementType()).isF32()) {
    return failure();
  }
  WeightGradientKernel kernel(emitter, op);
  return kernel.isEmpty() ? failure() : kernel.emit();
}
