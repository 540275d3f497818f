//===- AttentionKernel.cpp - softmax(Q K^T) V without the score matrix ----===//
// A work item is a head and a range of its queries. Keys (transposed) and
// values are copied to scratch in panels as f32 once per item; a block of
// queries then computes its scores, their softmax and the weighted values in
// scratch.
#include "compiler/Targets/CPU/Contraction.h"
#include "compiler/Targets/Codegen/Attention.h"

#include "dialects/Amp/Impl/MathExpansion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

namespace {

class AttentionKernel : AttentionSizes {
public:
  AttentionKernel(CpuEmitter &e, amp::AttentionOp op)
      : AttentionSizes(op), e(e), op(op), lanes(e.traits.lanes) {
    panel = 2 * lanes;
    block = std::min(tileRowsFor(e.machine, 2), std::max<int64_t>(queries, 1));
    paddedKeys = llvm::alignTo(keys, panel);
    paddedWidth = llvm::alignTo(width, panel);
  }

  LogicalResult emit() {
    e.reset();
    int64_t blocks = llvm::divideCeil(queries, block);
    int64_t split =
        std::clamp<int64_t>(llvm::divideCeil(8, batch * heads), 1, blocks);
    int64_t itemBlocks = llvm::divideCeil(blocks, split);
    split = llvm::divideCeil(blocks, itemBlocks);
    planScratch();
    e.launch.items = batch * heads * split;
    e.launch.grain = 1;
    e.forEachItem([&](Value item) {
      SmallVector<Value> at = e.delinearize(item, {batch, heads, split});
      head = {at[0], at[1]};
      Value group = heads == keyHeads
                        ? at[1]
                        : arith::DivUIOp::create(e.b, e.loc, at[1],
                                                 e.index(heads / keyHeads))
                              .getResult();
      packKeys(group);
      packValues(group);
      Value first = e.mulIndex(at[2], itemBlocks * block);
      Value last = arith::MinUIOp::create(
          e.b, e.loc, e.addIndex(first, e.index(itemBlocks * block)),
          e.index(queries));
      int64_t rest = queries % block;
      if (rest == 0) {
        e.forLoop(first, last, block,
                  [&](Value row) { emitBlock(row, block); });
        return;
      }
      Value size = arith::SubIOp::create(e.b, e.loc, last, first);
      Value tail = arith::RemUIOp::create(e.b, e.loc, size, e.index(block));
      Value main = arith::SubIOp::create(e.b, e.loc, last, tail);
      if (queries >= block) {
        e.forLoop(first, main, block,
                  [&](Value row) { emitBlock(row, block); });
      }
      e.forLoop(main, last, block, [&](Value row) { emitBlock(row, rest); });
    });
    return success(ok);
  }

private:
  void planScratch() {
    int64_t offset = 0;
    auto reserve = [&](int64_t elements) {
      int64_t at = offset;
      offset = llvm::alignTo(offset + elements * 4, 64);
      return at;
    };
    keyOffset = reserve(paddedKeys * depth);
    valueOffset = reserve(paddedWidth * keys);
    queryOffset = reserve(block * (depth + 16));
    scoreOffset = reserve(block * (paddedKeys + 16));
    outputOffset = reserve(block * paddedWidth);
    e.launch.scratchBytes = offset;
  }

  Value pull(Value tensor, ArrayRef<LaneIndex> index, int64_t count) {
    FailureOr<Value> value = pullLanes(e, tensor, index, count);
    if (succeeded(value)) {
      return *value;
    }
    ok = false;
    return f32(0, count);
  }

  Value f32(double value, int64_t count) {
    return ElementPuller(e, count).constant(e.b.getF32Type(), value);
  }

  /// Vectors of lanes over [0, count), then single elements.
  void forEach(int64_t count, function_ref<void(Value, int64_t)> body) {
    int64_t main = count / lanes * lanes;
    if (main != 0) {
      e.forLoop(e.index(0), e.index(main), lanes,
                [&](Value i) { body(i, lanes); });
    }
    if (main != count) {
      e.forLoop(e.index(main), e.index(count), 1, [&](Value i) { body(i, 1); });
    }
  }

  LaneIndex along(Value base, int64_t count) {
    return {base, count == 1 ? 0 : 1};
  }

  /// Where element (row, column) of a matrix in panels lies.
  Value inPanels(Value row, Value column, int64_t rows) {
    Value number = arith::DivUIOp::create(e.b, e.loc, column, e.index(panel));
    Value within = arith::RemUIOp::create(e.b, e.loc, column, e.index(panel));
    return e.addIndex(e.mulIndex(number, rows * panel),
                      e.addIndex(e.mulIndex(row, panel), within));
  }

  void packKeys(Value group) {
    Type f32Type = e.b.getF32Type();
    Value base = e.scratchPointer(keyOffset);
    e.forLoop(e.index(0), e.index(paddedKeys), 1, [&](Value t) {
      auto fill = [&](bool zero) {
        forEach(depth, [&](Value d, int64_t count) {
          Value value =
              zero ? f32(0, count)
                   : pull(op.getKey(),
                          {{head[0], 0}, {group, 0}, {t, 0}, along(d, count)},
                          count);
          for (int64_t lane = 0; lane < count; ++lane) {
            Value one = count == 1
                            ? value
                            : vector::ExtractOp::create(e.b, e.loc, value,
                                                        ArrayRef<int64_t>{lane})
                                  .getResult();
            e.store(one, base, f32Type,
                    inPanels(e.addIndex(d, e.index(lane)), t, depth));
          }
        });
      };
      if (paddedKeys == keys) {
        fill(false);
        return;
      }
      Value inside = arith::CmpIOp::create(
          e.b, e.loc, arith::CmpIPredicate::ult, t, e.index(keys));
      auto choice = scf::IfOp::create(e.b, e.loc, inside, true);
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(choice.thenBlock());
      fill(false);
      e.b.setInsertionPointToStart(choice.elseBlock());
      fill(true);
    });
  }

  void packValues(Value group) {
    Value base = e.scratchPointer(valueOffset);
    e.forLoop(e.index(0), e.index(keys), 1, [&](Value t) {
      forEach(width, [&](Value c, int64_t count) {
        Value value =
            pull(op.getValue(),
                 {{head[0], 0}, {group, 0}, {t, 0}, along(c, count)}, count);
        e.store(value, base, e.b.getF32Type(), inPanels(t, c, keys));
      });
      if (paddedWidth != width) {
        e.forLoop(e.index(width), e.index(paddedWidth), 1, [&](Value c) {
          e.store(f32(0, 1), base, e.b.getF32Type(), inPanels(t, c, keys));
        });
      }
    });
  }

  void emitBlock(Value firstRow, int64_t height) {
    Type f32Type = e.b.getF32Type();
    int64_t queryStride = depth + 16, scoreStride = paddedKeys + 16;
    e.forLoop(e.index(0), e.index(height), 1, [&](Value r) {
      Value row = e.addIndex(firstRow, r);
      forEach(depth, [&](Value d, int64_t count) {
        Value q = pull(op.getQuery(),
                       {{head[0], 0}, {head[1], 0}, {row, 0}, along(d, count)},
                       count);
        e.store(q, e.scratchPointer(queryOffset), f32Type,
                e.addIndex(e.mulIndex(r, queryStride), d));
      });
    });
    MatrixBlock query{e.scratchPointer(queryOffset), e.index(0), queryStride,
                      f32Type};
    e.forLoop(e.index(0), e.index(paddedKeys), panel, [&](Value t) {
      emitTile(
          e, query,
          {e.scratchPointer(keyOffset), e.mulIndex(t, depth), panel, f32Type},
          e.index(depth), height, 2,
          {e.scratchPointer(scoreOffset), t, scoreStride, f32Type});
    });
    e.forLoop(e.index(0), e.index(height), 1, [&](Value r) {
      emitSoftmax(e.addIndex(firstRow, r), e.mulIndex(r, scoreStride));
    });
    MatrixBlock weights{e.scratchPointer(scoreOffset), e.index(0), scoreStride,
                        f32Type};
    e.forLoop(e.index(0), e.index(paddedWidth), panel, [&](Value c) {
      emitTile(
          e, weights,
          {e.scratchPointer(valueOffset), e.mulIndex(c, keys), panel, f32Type},
          e.index(keys), height, 2,
          {e.scratchPointer(outputOffset), c, paddedWidth, f32Type});
    });
    e.forLoop(e.index(0), e.index(height), 1, [&](Value r) {
      forEach(width, [&](Value c, int64_t count) {
        Value value = e.load(e.scratchPointer(outputOffset), f32Type,
                             e.addIndex(e.mulIndex(r, paddedWidth), c), count);
        SmallVector<LaneIndex> index{{head[0], 0},
                                     {head[1], 0},
                                     {e.addIndex(firstRow, r), 0},
                                     along(c, count)};
        ok = ok &&
             succeeded(emitEpilogue(e, op.getResult(), value, index, count));
      });
    });
  }

  /// Replaces the scores at `base` by probabilities.
  void emitSoftmax(Value row, Value base) {
    Type f32Type = e.b.getF32Type();
    Value scores = e.scratchPointer(scoreOffset);
    double infinity = std::numeric_limits<double>::infinity();
    auto larger = [&](Value lhs, Value rhs) {
      return amp::buildMax(e.b, e.loc, lhs, rhs);
    };
    Value largest =
        fold(f32(-infinity, 1), larger, [&](Value t, int64_t count) {
          Value at = e.addIndex(base, t);
          Value score = e.load(scores, f32Type, at, count);
          FailureOr<Value> finished =
              finishScore(e, op, score, head, row, t, count);
          ok = ok && succeeded(finished);
          score = ok ? *finished : score;
          e.store(score, scores, f32Type, at);
          return score;
        });
    // A row with nothing left subtracts 0, so that all its powers are 0.
    Value nothing = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ,
                                          largest, f32(-infinity, 1));
    largest = arith::SelectOp::create(e.b, e.loc, nothing, f32(0, 1), largest);
    auto plus = [&](Value lhs, Value rhs) -> Value {
      return arith::AddFOp::create(e.b, e.loc, lhs, rhs);
    };
    Value sum = fold(f32(0, 1), plus, [&](Value t, int64_t count) {
      Value at = e.addIndex(base, t);
      ElementPuller puller(e, count);
      Value shifted =
          arith::SubFOp::create(e.b, e.loc, e.load(scores, f32Type, at, count),
                                puller.splat(largest));
      Value power = amp::buildExp(e.b, e.loc, shifted);
      e.store(power, scores, f32Type, at);
      return power;
    });
    Value isZero = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ,
                                         sum, f32(0, 1));
    Value inverse = arith::DivFOp::create(e.b, e.loc, f32(1, 1), sum);
    inverse = arith::SelectOp::create(e.b, e.loc, isZero, f32(0, 1), inverse);
    Type element = getElementTypeOrSelf(op.getQuery().getType());
    forEach(keys, [&](Value t, int64_t count) {
      Value at = e.addIndex(base, t);
      ElementPuller puller(e, count);
      Value p =
          arith::MulFOp::create(e.b, e.loc, e.load(scores, f32Type, at, count),
                                puller.splat(inverse));
      e.store(e.round(p, element), scores, f32Type, at);
    });
  }

  /// Combines element(t) over all keys: lanes first, then the lanes in order of
  /// halves, then the elements of the tail.
  Value fold(Value identity, function_ref<Value(Value, Value)> combine,
             function_ref<Value(Value, int64_t)> element) {
    int64_t main = keys / lanes * lanes;
    Value total = identity;
    if (main != 0) {
      auto type = VectorType::get({lanes}, e.b.getF32Type());
      Value start = vector::BroadcastOp::create(e.b, e.loc, type, identity);
      Value sums =
          e.forLoopCarried(e.index(0), e.index(main), lanes, ValueRange{start},
                           [&](Value t, ValueRange acc) -> SmallVector<Value> {
                             return {combine(acc[0], element(t, lanes))};
                           })[0];
      int64_t count = lanes;
      while (count > 1) {
        count /= 2;
        auto half = [&](int64_t from) {
          return vector::ExtractStridedSliceOp::create(
                     e.b, e.loc, sums, ArrayRef<int64_t>{from},
                     ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1})
              .getResult();
        };
        Value low = half(0), high = half(count);
        sums = combine(low, high);
      }
      total = vector::ExtractOp::create(e.b, e.loc, sums, ArrayRef<int64_t>{0});
    }
    if (main != keys) {
      total =
          e.forLoopCarried(e.index(main), e.index(keys), 1, ValueRange{total},
                           [&](Value t, ValueRange acc) -> SmallVector<Value> {
                             return {combine(acc[0], element(t, 1))};
                           })[0];
    }
    return total;
  }

  CpuEmitter &e;
  amp::AttentionOp op;
  int64_t lanes;
  int64_t panel, block, paddedKeys, paddedWidth;
  int64_t keyOffset = 0, valueOffset = 0, queryOffset = 0, scoreOffset = 0,
          outputOffset = 0;
  SmallVector<Value> head;
  bool ok = true;
};

} // namespace

LogicalResult cpu::emitAttentionKernel(CpuEmitter &emitter, Operation *root) {
  auto op = cast<amp::AttentionOp>(root);
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  if (element.isF64()) {
    return op.emitOpError("has no f64 kernel for the cpu target");
  }
  return AttentionKernel(emitter, op).emit();
}
