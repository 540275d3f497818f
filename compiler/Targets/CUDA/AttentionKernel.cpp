//===- AttentionKernel.cpp - Attention, a block for each query ------------===//
// Serves every element type and size whose scores fit shared memory.
#include "compiler/Targets/CUDA/Attention/FlashAttention.h"

#include "compiler/Targets/Codegen/Attention.h"
#include "dialects/Amp/Impl/MathExpansion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

namespace {

constexpr int64_t blockThreads = 128;
/// Scores that every architecture's shared memory holds.
constexpr int64_t maxKeys = 12288;

class AttentionKernel : AttentionSizes {
public:
  AttentionKernel(CudaEmitter &e, amp::AttentionOp op)
      : AttentionSizes(op), e(e), op(op) {}

  LogicalResult emit() {
    e.reset();
    e.launch.items = batch * heads * queries;
    e.launch.scratchBytes = llvm::alignTo(keys * 4, 16);
    e.forEachBlock(blockThreads, [&](Value item) {
      SmallVector<Value> at = e.delinearize(item, {batch, heads, queries});
      head = {at[0], at[1]};
      row = at[2];
      group = heads == keyHeads
                  ? at[1]
                  : arith::DivUIOp::create(e.b, e.loc, at[1],
                                           e.index(heads / keyHeads))
                        .getResult();
      emitScores();
      emitResult();
    });
    return success(ok);
  }

private:
  Value f32(double value) {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getF32FloatAttr(value));
  }
  Value pull(Value tensor, ArrayRef<LaneIndex> index, int64_t count) {
    FailureOr<Value> value = pullLanes(e, tensor, index, count);
    ok = ok && succeeded(value);
    return ok ? *value : ElementPuller(e, count).constant(e.b.getF32Type(), 0);
  }
  Value loadScore(Value at) {
    return e.load(e.scratchPointer(0), e.b.getF32Type(), at, 1);
  }
  void storeScore(Value score, Value at) {
    e.store(score, e.scratchPointer(0), e.b.getF32Type(), at);
  }

  /// Combines what `element` makes of each key of this thread.
  Value overKeys(Value identity, function_ref<Value(Value, Value)> combine,
                 function_ref<Value(Value)> element) {
    Value mine = e.forLoopCarried(
        e.threadIndex(), e.index(keys), blockThreads, ValueRange{identity},
        [&](Value t, ValueRange acc) -> SmallVector<Value> {
          return {combine(acc[0], element(t))};
        })[0];
    return e.reduceBlock(mine, blockThreads, combine);
  }

  /// Leaves the probabilities in scratch.
  void emitScores() {
    auto larger = [&](Value lhs, Value rhs) {
      return amp::buildMax(e.b, e.loc, lhs, rhs);
    };
    auto plus = [&](Value lhs, Value rhs) -> Value {
      return arith::AddFOp::create(e.b, e.loc, lhs, rhs);
    };
    double infinity = std::numeric_limits<double>::infinity();
    Value largest = overKeys(f32(-infinity), larger, [&](Value t) {
      FailureOr<Value> score = finishScore(e, op, product(t), head, row, t, 1);
      ok = ok && succeeded(score);
      Value value = ok ? *score : f32(0);
      storeScore(value, t);
      return value;
    });
    // A row with nothing left subtracts 0, so that all its powers are 0.
    Value nothing = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ,
                                          largest, f32(-infinity));
    largest = arith::SelectOp::create(e.b, e.loc, nothing, f32(0), largest);
    Value sum = overKeys(f32(0), plus, [&](Value t) {
      Value power = amp::buildExp(
          e.b, e.loc, arith::SubFOp::create(e.b, e.loc, loadScore(t), largest));
      storeScore(power, t);
      return power;
    });
    Value isZero = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ,
                                         sum, f32(0));
    Value inverse = arith::DivFOp::create(e.b, e.loc, f32(1), sum);
    inverse = arith::SelectOp::create(e.b, e.loc, isZero, f32(0), inverse);
    Type element = getElementTypeOrSelf(op.getQuery().getType());
    e.forLoop(e.threadIndex(), e.index(keys), blockThreads, [&](Value t) {
      Value p = arith::MulFOp::create(e.b, e.loc, loadScore(t), inverse);
      storeScore(e.round(p, element), t);
    });
    e.barrier();
  }

  /// The product of the query and key `t`.
  Value product(Value t) {
    int64_t lanes = depth % 8 == 0 ? 8 : depth % 4 == 0 ? 4 : 1;
    Value zero = ElementPuller(e, lanes).constant(e.b.getF32Type(), 0);
    Value sums = e.forLoopCarried(
        e.index(0), e.index(depth), lanes, ValueRange{zero},
        [&](Value d, ValueRange acc) -> SmallVector<Value> {
          LaneIndex along{d, lanes == 1 ? 0 : 1};
          Value q = pull(op.getQuery(),
                         {{head[0], 0}, {head[1], 0}, {row, 0}, along}, lanes);
          Value k = pull(op.getKey(), {{head[0], 0}, {group, 0}, {t, 0}, along},
                         lanes);
          return {math::FmaOp::create(e.b, e.loc, q, k, acc[0])};
        })[0];
    if (lanes == 1) {
      return sums;
    }
    Value total;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value one =
          vector::ExtractOp::create(e.b, e.loc, sums, ArrayRef<int64_t>{lane});
      total = lane == 0
                  ? one
                  : arith::AddFOp::create(e.b, e.loc, total, one).getResult();
    }
    return total;
  }

  void emitResult() {
    e.forLoop(e.threadIndex(), e.index(width), blockThreads, [&](Value c) {
      Value sum = e.forLoopCarried(
          e.index(0), e.index(keys), 1, ValueRange{f32(0)},
          [&](Value t, ValueRange acc) -> SmallVector<Value> {
            Value v = pull(op.getValue(),
                           {{head[0], 0}, {group, 0}, {t, 0}, {c, 0}}, 1);
            return {math::FmaOp::create(e.b, e.loc, loadScore(t), v, acc[0])};
          })[0];
      SmallVector<LaneIndex> index{
          {head[0], 0}, {head[1], 0}, {row, 0}, {c, 0}};
      ok = ok && succeeded(emitEpilogue(e, op.getResult(), sum, index, 1));
    });
  }

  CudaEmitter &e;
  amp::AttentionOp op;
  SmallVector<Value> head;
  Value row, group;
  bool ok = true;
};

} // namespace

LogicalResult cuda::emitAttentionKernel(CudaEmitter &emitter, Operation *root) {
  auto op = cast<amp::AttentionOp>(root);
  if (succeeded(emitFlashAttention(emitter, op))) {
    return success();
  }
  if (getElementTypeOrSelf(op.getQuery().getType()).isF64()) {
    return op.emitOpError("has no f64 kernel for the cuda target");
  }
  int64_t keys = shapeOf(op.getKey())[2];
  if (keys > maxKeys) {
    return op.emitOpError("has no kernel for the cuda target with ")
           << keys << " keys; " << maxKeys << " are the most";
  }
  return AttentionKernel(emitter, op).emit();
}
