//===- FlashAttention.cpp - Attention on tensor cores ---------------------===//
// FlashAttention-2's forward pass (arXiv 2307.08691, algorithm 1). A block of
// warps takes some queries of a head and goes over the keys, a tile at a time:
// while the warps work on one, the next is on its way to the other half of
// shared memory. A warp has whole rows of scores in its registers, so that the
// softmax, kept relative to the largest score so far, needs no more than its
// quads of threads; the probabilities, rounded, are at once the left operand of
// the second product.
#include "compiler/Targets/CUDA/Attention/FlashAttention.h"

#include "compiler/Targets/CUDA/Attention/RowLoader.h"
#include "compiler/Targets/CUDA/MmaFragment.h"
#include "compiler/Targets/Codegen/Attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

static constexpr double infinity = std::numeric_limits<double>::infinity();

FlashAttention::FlashAttention(CudaEmitter &e, amp::AttentionOp op,
                               const FlashShape &shape, bool vectors)
    : e(e), op(op), sizes(op), shape(shape), vectors(vectors),
      element(getElementTypeOrSelf(op.getQuery().getType())),
      queryTile(e, shape.queryOffset(), shape.rows(), shape.depth, element,
                SharedTile::Swizzle::EightRows),
      keyTile(e, 0, shape.keys, shape.depth, element,
              SharedTile::Swizzle::EightRows),
      valueTile(e, shape.keyBytes(), shape.keys, shape.width, element,
                SharedTile::Swizzle::EightRows),
      rowTiles(shape.warpRows / 16), keyTiles(shape.keys / 8),
      columnTiles(shape.width / 8) {
  double scale = op.getScale().convertToDouble();
  // With nothing but a positive factor between product and score, the largest
  // product is that of the largest score, and the factor goes into the base.
  foldsScale =
      !op.getMask() && op.getSoftcap().convertToDouble() <= 0 && scale > 0;
  factor = llvm::numbers::log2e * (foldsScale ? scale : 1);
  // A sum of the mask's lowest number and a score must not overflow in the
  // multiplication by the factor, unless f16 keeps scores far from that.
  bool isFloatMask = op.getMask() &&
                     !getElementTypeOrSelf(op.getMask().getType()).isInteger(1);
  fusesFactor = !isFloatMask && (element.isF16() || factor <= 1);
}

Value FlashAttention::f32(double value) {
  return arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(value));
}

//===----------------------------------------------------------------------===//
// The blocks and their loop over the keys
//===----------------------------------------------------------------------===//

LogicalResult FlashAttention::emit() {
  e.reset();
  int64_t blocks = llvm::divideCeil(sizes.queries, shape.rows());
  e.launch.items = sizes.batch * sizes.heads * blocks;
  e.launch.scratchBytes = shape.sharedBytes();
  // ptxas would rather spill a little than have fewer warps.
  e.function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      e.b.getI32IntegerAttr(1));
  e.forEachBlock(shape.threads(), [&](Value item) {
    SmallVector<Value> at =
        e.delinearize(item, {sizes.batch, sizes.heads, blocks});
    head = {at[0], at[1]};
    group = sizes.heads == sizes.keyHeads
                ? at[1]
                : arith::DivUIOp::create(e.b, e.loc, at[1],
                                         e.index(sizes.heads / sizes.keyHeads))
                      .getResult();
    // The last queries of a causal head have the most to do: they go first.
    Value block =
        op.getCausal()
            ? arith::SubIOp::create(e.b, e.loc, e.index(blocks - 1), at[2])
                  .getResult()
            : at[2];
    firstRow = e.mulIndex(block, shape.rows());
    thread = e.threadIndex();
    lane = arith::RemUIOp::create(e.b, e.loc, thread, e.index(32));
    Value warp = arith::DivUIOp::create(e.b, e.loc, thread, e.index(32));
    warpRow = e.mulIndex(warp, shape.warpRows);
    emitBlock();
  });
  return success(ok);
}

void FlashAttention::emitBlock() {
  auto matrix = [&](Value tensor, Value headOf, int64_t rows, int64_t columns) {
    return RowLoader::Matrix{tensor, rows, columns,
                             [this, headOf](Value row, LaneIndex column) {
                               return SmallVector<LaneIndex>{
                                   {head[0], 0}, {headOf, 0}, {row, 0}, column};
                             }};
  };
  RowLoader queries(e, queryTile,
                    matrix(op.getQuery(), head[1], sizes.queries, sizes.depth),
                    shape.threads(), thread);
  RowLoader keys(e, keyTile,
                 matrix(op.getKey(), group, sizes.keys, sizes.depth),
                 shape.threads(), thread);
  RowLoader values(e, valueTile,
                   matrix(op.getValue(), group, sizes.keys, sizes.width),
                   shape.threads(), thread);
  bool async = queries.isAsync() || keys.isAsync() || values.isAsync();
  auto commit = [&] {
    if (async) {
      NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
    }
  };
  auto arrive = [&](int64_t pending) {
    if (async) {
      NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, pending);
    }
    e.barrier();
  };
  // What passes through registers stays there during the products where there
  // is room beside the sums and queries.
  constexpr int64_t roomForChunks = 150;
  int64_t held = shape.keepsQueries ? shape.depth / 16 * 4 : 4;
  held = rowTiles * (columnTiles * 4 + keyTiles * 4 + held) +
         4 * (keys.chunksInFlight() + values.chunksInFlight());
  bool overlaps = held <= roomForChunks;
  FragmentLoader fragments(e, lane);
  Value start = e.index(0);
  SmallVector<Value> chunks = queries.begin(firstRow, start, Value());
  commit();
  queries.end(chunks, start);
  chunks = keys.begin(start, start, Value());
  keys.end(chunks, start);
  chunks = values.begin(start, start, Value());
  values.end(chunks, start);
  commit();
  SmallVector<Fragment> kept;
  if (shape.keepsQueries) {
    arrive(1);
    for (int64_t i = 0; i < rowTiles; ++i) {
      for (int64_t k = 0; k < shape.depth; k += 16) {
        kept.push_back(fragments.left(queryTile, start, warpRow, i * 16, k));
      }
    }
  }
  KeyBlocks blocks = keyBlocks();
  SmallVector<Value> carried = initialState();
  auto step = [&](Value block, ValueRange values_, bool isPartial) {
    State state = unpack(values_);
    Value two = e.index(2);
    Value parity = arith::RemUIOp::create(e.b, e.loc, block, two);
    Value other = arith::SubIOp::create(e.b, e.loc, e.index(1), parity);
    Value here = e.mulIndex(parity, shape.stageBytes());
    Value there = e.mulIndex(other, shape.stageBytes());
    Value next = e.addIndex(block, e.index(1));
    arrive(0);
    Value hasNext = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt,
                                          next, blocks.all);
    Value nextKey = e.mulIndex(next, shape.keys);
    SmallVector<Value> keyChunks = keys.begin(nextKey, there, hasNext);
    if (!overlaps) {
      keys.end(keyChunks, there);
    }
    SmallVector<Value> valueChunks = values.begin(nextKey, there, hasNext);
    if (!overlaps) {
      values.end(valueChunks, there);
    }
    commit();
    SmallVector<Value> scores = multiplyQueries(fragments, kept, here);
    accumulate(state, scores, e.mulIndex(block, shape.keys), isPartial,
               fragments, here);
    if (overlaps) {
      keys.end(keyChunks, there);
      values.end(valueChunks, there);
    }
    return pack(state);
  };
  APInt constant;
  if (!matchPattern(blocks.whole, m_ConstantInt(&constant)) ||
      !constant.isZero()) {
    carried = e.forLoopCarried(
        e.index(0), blocks.whole, 1, carried,
        [&](Value block, ValueRange v) { return step(block, v, false); });
  }
  if (op.getCausal() || sizes.keys % shape.keys != 0) {
    carried = e.forLoopCarried(
        blocks.whole, blocks.all, 1, carried,
        [&](Value block, ValueRange v) { return step(block, v, true); });
  }
  arrive(0);
  ok = ok && queries.isComplete() && keys.isComplete() && values.isComplete();
  State state = unpack(carried);
  finish(state);
}

FlashAttention::KeyBlocks FlashAttention::keyBlocks() {
  int64_t whole = sizes.keys / shape.keys;
  int64_t all = llvm::divideCeil(sizes.keys, shape.keys);
  if (!op.getCausal()) {
    return {e.index(whole), e.index(all)};
  }
  auto seenBy = [&](int64_t row) -> Value {
    int64_t shift = op.getCausalAlignEnd() ? sizes.keys - sizes.queries : 0;
    Value seen = e.addIndex(firstRow, e.index(row + shift + 1));
    seen = arith::MaxSIOp::create(e.b, e.loc, seen, e.index(0));
    return arith::MinSIOp::create(e.b, e.loc, seen, e.index(sizes.keys));
  };
  Value size = e.index(shape.keys);
  Value rounded = e.addIndex(seenBy(shape.rows() - 1), e.index(shape.keys - 1));
  return {arith::DivUIOp::create(e.b, e.loc, seenBy(0), size),
          arith::DivUIOp::create(e.b, e.loc, rounded, size)};
}

//===----------------------------------------------------------------------===//
// What the loop carries
//===----------------------------------------------------------------------===//

SmallVector<Value> FlashAttention::initialState() {
  State state;
  state.result.assign(rowTiles * columnTiles * 4, f32(0));
  state.largest.assign(rowTiles * 2, f32(-infinity));
  state.sum.assign(rowTiles * 2, f32(0));
  return pack(state);
}

SmallVector<Value> FlashAttention::pack(const State &state) {
  SmallVector<Value> all(state.result);
  llvm::append_range(all, state.largest);
  llvm::append_range(all, state.sum);
  return all;
}

FlashAttention::State FlashAttention::unpack(ValueRange all) {
  State state;
  size_t results = rowTiles * columnTiles * 4, rows = rowTiles * 2;
  llvm::append_range(state.result, all.take_front(results));
  llvm::append_range(state.largest, all.slice(results, rows));
  llvm::append_range(state.sum, all.take_back(rows));
  return state;
}

//===----------------------------------------------------------------------===//
// A block of keys
//===----------------------------------------------------------------------===//

/// The products of this warp's queries and the keys `stage` bytes into shared
/// memory: four for each fragment of 16 rows and 8 keys.
SmallVector<Value> FlashAttention::multiplyQueries(FragmentLoader &fragments,
                                                   ArrayRef<Fragment> kept,
                                                   Value stage) {
  SmallVector<Value> sums(rowTiles * keyTiles * 4, f32(0));
  int64_t steps = shape.depth / 16;
  for (int64_t k = 0; k < steps; ++k) {
    SmallVector<Fragment> left;
    for (int64_t i = 0; i < rowTiles; ++i) {
      left.push_back(
          shape.keepsQueries
              ? kept[i * steps + k]
              : fragments.left(queryTile, e.index(0), warpRow, i * 16, k * 16));
    }
    for (int64_t j = 0; j < keyTiles; j += 2) {
      Fragment right = fragments.right(keyTile, stage, j * 8, k * 16);
      for (int64_t i = 0; i < rowTiles; ++i) {
        for (int64_t half = 0; half < 2; ++half) {
          multiplyAccumulate(e, element, left[i],
                             ArrayRef<Value>(right).slice(half * 2, 2),
                             MutableArrayRef<Value>(sums).slice(
                                 (i * keyTiles + j + half) * 4, 4));
        }
      }
    }
  }
  return sums;
}

/// The two scores from `key` on of query `row`, from their products.
std::array<Value, 2> FlashAttention::finishPair(Value first, Value second,
                                                Value row, Value key,
                                                bool isPartial) {
  std::array<Value, 2> scores{first, second};
  if (!foldsScale) {
    // What is read beyond the last row or key takes part in nothing.
    Value within = row, at = key;
    if (sizes.queries % shape.rows() != 0) {
      within =
          arith::MinUIOp::create(e.b, e.loc, row, e.index(sizes.queries - 1));
    }
    int64_t count = sizes.keys % 2 == 0 ? 2 : 1;
    bool overruns = isPartial && sizes.keys % shape.keys != 0;
    auto bounded = [&](Value value) {
      return overruns ? arith::MinUIOp::create(e.b, e.loc, value,
                                               e.index(sizes.keys - count))
                            .getResult()
                      : value;
    };
    auto adjust = [&](Value score, Value from) {
      FailureOr<Value> value =
          adjustScore(e, op, score, head, within, bounded(from), count);
      ok = ok && succeeded(value);
      return ok ? *value : score;
    };
    if (count == 2) {
      Value pair = vector::FromElementsOp::create(
          e.b, e.loc, VectorType::get({2}, e.b.getF32Type()),
          ValueRange(scores));
      pair = adjust(pair, at);
      for (int64_t i = 0; i < 2; ++i) {
        scores[i] = vector::ExtractOp::create(e.b, e.loc, pair, i);
      }
    } else {
      scores[0] = adjust(scores[0], at);
      scores[1] = adjust(scores[1], e.addIndex(at, e.index(1)));
    }
  }
  if (!isPartial) {
    return scores;
  }
  Value limit = e.index(sizes.keys - 1);
  if (op.getCausal()) {
    limit =
        arith::MinSIOp::create(e.b, e.loc, lastVisibleKey(e, op, row), limit);
  }
  for (int64_t i = 0; i < 2; ++i) {
    Value visible = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sle,
                                          e.addIndex(key, e.index(i)), limit);
    scores[i] =
        arith::SelectOp::create(e.b, e.loc, visible, scores[i], f32(-infinity));
  }
  return scores;
}

Value FlashAttention::powerOfTwo(Value exponent) {
  // Error 2^-22 (PTX ISA, ex2): nothing beside the rounding to 16 bits.
  return LLVM::CallIntrinsicOp::create(
             e.b, e.loc, e.b.getF32Type(),
             e.b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"),
             ValueRange{exponent})
      .getResult(0);
}

/// Adds the block of keys from `firstKey` on to `state`.
void FlashAttention::accumulate(State &state, ArrayRef<Value> products,
                                Value firstKey, bool isPartial,
                                FragmentLoader &fragments, Value stage) {
  SmallVector<Value> scores(products);
  // Thread t of a warp holds columns 2 * (t % 4) and one more of rows t / 4 and
  // t / 4 + 8 of a fragment.
  Value four = e.index(4);
  Value row =
      e.addIndex(e.addIndex(firstRow, warpRow),
                 arith::DivUIOp::create(e.b, e.loc, lane, four).getResult());
  Value column = e.addIndex(
      firstKey, e.mulIndex(arith::RemUIOp::create(e.b, e.loc, lane, four), 2));
  SmallVector<Value> powers(scores.size());
  for (int64_t line = 0; line < rowTiles * 2; ++line) {
    int64_t i = line / 2, half = line % 2;
    Value at = e.addIndex(row, e.index(i * 16 + half * 8));
    auto place = [&](int64_t j) { return (i * keyTiles + j) * 4 + half * 2; };
    Value largest = state.largest[line];
    for (int64_t j = 0; j < keyTiles; ++j) {
      auto pair = finishPair(scores[place(j)], scores[place(j) + 1], at,
                             e.addIndex(column, e.index(j * 8)), isPartial);
      for (int64_t n = 0; n < 2; ++n) {
        scores[place(j) + n] = pair[n];
        // A NaN, ignored here, comes through the powers.
        largest = arith::MaxNumFOp::create(e.b, e.loc, largest, pair[n]);
      }
    }
    for (int64_t mask : {1, 2}) {
      largest = arith::MaxNumFOp::create(e.b, e.loc, largest,
                                         e.shuffleXor(largest, mask));
    }
    // A row with nothing so far subtracts 0, so that all its powers are 0.
    Value nothing = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ,
                                          largest, f32(-infinity));
    Value origin =
        arith::SelectOp::create(e.b, e.loc, nothing, f32(0), largest);
    Value shift = arith::NegFOp::create(
        e.b, e.loc, arith::MulFOp::create(e.b, e.loc, origin, f32(factor)));
    auto power = [&](Value score) {
      if (fusesFactor) {
        return powerOfTwo(
            math::FmaOp::create(e.b, e.loc, score, f32(factor), shift));
      }
      Value difference = arith::SubFOp::create(e.b, e.loc, score, origin);
      return powerOfTwo(
          arith::MulFOp::create(e.b, e.loc, difference, f32(factor)));
    };
    Value rescale = power(state.largest[line]);
    state.largest[line] = largest;
    Value sum = arith::MulFOp::create(e.b, e.loc, state.sum[line], rescale);
    for (int64_t j = 0; j < keyTiles; ++j) {
      for (int64_t n = 0; n < 2; ++n) {
        Value p = power(scores[place(j) + n]);
        powers[place(j) + n] = p;
        sum = arith::AddFOp::create(e.b, e.loc, sum, p);
      }
    }
    state.sum[line] = sum;
    for (int64_t j = 0; j < columnTiles; ++j) {
      for (int64_t n = 0; n < 2; ++n) {
        Value &value = state.result[(i * columnTiles + j) * 4 + half * 2 + n];
        value = arith::MulFOp::create(e.b, e.loc, value, rescale);
      }
    }
  }
  // Two fragments of results side by side are one of a left operand.
  for (int64_t k = 0; k < keyTiles; k += 2) {
    SmallVector<Fragment> left(rowTiles);
    for (int64_t i = 0; i < rowTiles; ++i) {
      for (int64_t word = 0; word < 4; ++word) {
        size_t from = (i * keyTiles + k) * 4 + word * 2;
        left[i].push_back(packPair(e, element, powers[from], powers[from + 1]));
      }
    }
    for (int64_t j = 0; j < columnTiles; j += 2) {
      Fragment right =
          fragments.rightTransposed(valueTile, stage, j * 8, k * 8);
      for (int64_t i = 0; i < rowTiles; ++i) {
        for (int64_t half = 0; half < 2; ++half) {
          multiplyAccumulate(e, element, left[i],
                             ArrayRef<Value>(right).slice(half * 2, 2),
                             MutableArrayRef<Value>(state.result)
                                 .slice((i * columnTiles + j + half) * 4, 4));
        }
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Divides by the sums and hands the rows over through shared memory, so that
/// the epilogue works on vectors of neighbours.
void FlashAttention::finish(State &state) {
  for (int64_t line = 0; line < rowTiles * 2; ++line) {
    Value sum = state.sum[line];
    for (int64_t mask : {1, 2}) {
      sum = arith::AddFOp::create(e.b, e.loc, sum, e.shuffleXor(sum, mask));
    }
    Value isZero = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ,
                                         sum, f32(0));
    Value inverse = arith::DivFOp::create(e.b, e.loc, f32(1), sum);
    inverse = arith::SelectOp::create(e.b, e.loc, isZero, f32(0), inverse);
    int64_t i = line / 2, half = line % 2;
    for (int64_t j = 0; j < columnTiles; ++j) {
      for (int64_t n = 0; n < 2; ++n) {
        Value &value = state.result[(i * columnTiles + j) * 4 + half * 2 + n];
        value = arith::MulFOp::create(e.b, e.loc, value, inverse);
      }
    }
  }
  int64_t perPass = shape.resultColumns();
  for (int64_t first = 0; first < shape.width; first += perPass) {
    if (first != 0) {
      e.barrier();
    }
    int64_t columns = std::min(perPass, shape.width - first);
    handOver(state.result, first, columns);
    e.barrier();
    emitResult(first, columns);
  }
}

void FlashAttention::handOver(ArrayRef<Value> result, int64_t first,
                              int64_t columns) {
  int64_t stride = FlashShape::resultStride(columns);
  Value four = e.index(4);
  Value row = e.addIndex(
      warpRow, arith::DivUIOp::create(e.b, e.loc, lane, four).getResult());
  Value column = e.mulIndex(arith::RemUIOp::create(e.b, e.loc, lane, four), 2);
  auto pair = VectorType::get({2}, e.b.getF32Type());
  for (int64_t line = 0; line < rowTiles * 2; ++line) {
    int64_t i = line / 2, half = line % 2;
    Value base =
        e.mulIndex(e.addIndex(row, e.index(i * 16 + half * 8)), stride);
    for (int64_t j = 0; j < columns; j += 8) {
      size_t from = (i * columnTiles + (first + j) / 8) * 4 + half * 2;
      Value two = vector::FromElementsOp::create(
          e.b, e.loc, pair, ValueRange{result[from], result[from + 1]});
      e.store(two, e.scratchPointer(0), e.b.getF32Type(),
              e.addIndex(base, e.addIndex(column, e.index(j))));
    }
  }
}

void FlashAttention::emitResult(int64_t first, int64_t columns) {
  constexpr int64_t lanes = 8;
  int64_t stride = FlashShape::resultStride(columns), perRow = columns / lanes;
  bool whole = vectors && sizes.width % lanes == 0;
  auto emit = [&](Value row, Value column, Value from, int64_t count) {
    Value value = e.load(e.scratchPointer(0), e.b.getF32Type(), from, count);
    SmallVector<LaneIndex> index{
        {head[0], 0}, {head[1], 0}, {row, 0}, {column, count == 1 ? 0 : 1}};
    ok = ok && succeeded(emitEpilogue(e, op.getResult(), value, index, count));
  };
  e.forLoop(
      thread, e.index(shape.rows() * perRow), shape.threads(), [&](Value id) {
        Value local = arith::DivUIOp::create(e.b, e.loc, id, e.index(perRow));
        Value within = e.mulIndex(
            arith::RemUIOp::create(e.b, e.loc, id, e.index(perRow)), lanes);
        Value row = e.addIndex(firstRow, local);
        Value column = e.addIndex(e.index(first), within);
        Value from = e.addIndex(e.mulIndex(local, stride), within);
        Value inside = sizes.queries % shape.rows() == 0
                           ? Value()
                           : e.isBelow(row, sizes.queries);
        if (first + columns > sizes.width) {
          inside = e.bothOf(inside, e.isBelow(column, sizes.width));
        }
        e.onlyIf(inside, [&] {
          if (whole) {
            emit(row, column, from, lanes);
            return;
          }
          Value end = arith::MinUIOp::create(e.b, e.loc,
                                             e.addIndex(column, e.index(lanes)),
                                             e.index(sizes.width));
          e.forLoop(column, end, 1, [&](Value c) {
            Value moved =
                arith::SubIOp::create(e.b, e.loc, c, column).getResult();
            emit(row, c, e.addIndex(from, moved), 1);
          });
        });
      });
}

LogicalResult cuda::emitFlashAttention(CudaEmitter &e, amp::AttentionOp op) {
  auto elementOf = [](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  Type element = elementOf(op.getQuery());
  AttentionSizes sizes(op);
  bool isFit = (element.isF16() || (element.isBF16() && e.hasWideMma)) &&
               elementOf(op.getKey()) == element &&
               elementOf(op.getValue()) == element && sizes.keys > 0 &&
               sizes.depth > 0;
  if (!isFit) {
    return failure();
  }
  auto shape =
      chooseFlashShape(sizes, e.sharedBytes, e.architecture.hasAsyncCopy());
  if (!shape) {
    return failure();
  }
  return success(
      succeeded(FlashAttention(e, op, *shape, /*vectors=*/true).emit()) ||
      succeeded(FlashAttention(e, op, *shape, /*vectors=*/false).emit()));
}
