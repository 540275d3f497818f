//===- Attention.cpp - What attention kernels share -----------------------===//
#include "compiler/Targets/Codegen/Attention.h"

#include "dialects/Amp/Impl/MathExpansion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

AttentionSizes::AttentionSizes(amp::AttentionOp op) {
  ArrayRef<int64_t> q = shapeOf(op.getQuery()), k = shapeOf(op.getKey());
  batch = q[0];
  heads = q[1];
  queries = q[2];
  depth = q[3];
  keyHeads = k[1];
  keys = k[2];
  width = shapeOf(op.getValue())[3];
}

FailureOr<Value> codegen::pullLanes(KernelEmitter &e, Value tensor,
                                    ArrayRef<LaneIndex> index, int64_t count) {
  ElementPuller puller(e, count);
  FailureOr<Value> value = puller.get(tensor, index);
  if (succeeded(value)) {
    return puller.splat(*value);
  }
  if (count == 1) {
    return failure();
  }
  Value lanes;
  for (int64_t lane = 0; lane < count; ++lane) {
    SmallVector<LaneIndex> at;
    for (const LaneIndex &i : index) {
      at.push_back({e.addIndex(i.base, e.index(lane * i.step)), 0});
    }
    FailureOr<Value> one = pullLanes(e, tensor, at, 1);
    if (failed(one)) {
      return failure();
    }
    lanes = lane == 0 ? puller.splat(*one)
                      : vector::InsertOp::create(e.b, e.loc, *one, lanes, lane)
                            .getResult();
  }
  return lanes;
}

FailureOr<Value> codegen::adjustScore(KernelEmitter &e, amp::AttentionOp op,
                                      Value score, ValueRange head, Value row,
                                      Value key, int64_t count) {
  auto f32 = [&](double value) {
    return ElementPuller(e, count).constant(e.b.getF32Type(), value);
  };
  score = arith::MulFOp::create(e.b, e.loc, score,
                                f32(op.getScale().convertToDouble()));
  double cap = op.getSoftcap().convertToDouble();
  if (cap > 0) {
    Value scaled = arith::DivFOp::create(e.b, e.loc, score, f32(cap));
    score = arith::MulFOp::create(e.b, e.loc,
                                  amp::buildTanh(e.b, e.loc, scaled), f32(cap));
  }
  Value lowest = f32(-std::numeric_limits<double>::infinity());
  if (Value mask = op.getMask()) {
    LaneIndex full[] = {
        {head[0], 0}, {head[1], 0}, {row, 0}, {key, count == 1 ? 0 : 1}};
    FailureOr<Value> value =
        pullLanes(e, mask, broadcastIndex(e, full, shapeOf(mask)), count);
    if (failed(value)) {
      return failure();
    }
    score = getElementTypeOrSelf(mask.getType()).isInteger(1)
                ? arith::SelectOp::create(e.b, e.loc, *value, score, lowest)
                      .getResult()
                : arith::AddFOp::create(e.b, e.loc, score, *value).getResult();
  }
  return score;
}

Value codegen::lastVisibleKey(KernelEmitter &e, amp::AttentionOp op,
                              Value row) {
  int64_t keys = shapeOf(op.getKey())[2], queries = shapeOf(op.getQuery())[2];
  int64_t shift = op.getCausalAlignEnd() ? keys - queries : 0;
  return e.addIndex(row, e.index(shift));
}

FailureOr<Value> codegen::finishScore(KernelEmitter &e, amp::AttentionOp op,
                                      Value score, ValueRange head, Value row,
                                      Value key, int64_t count) {
  FailureOr<Value> adjusted = adjustScore(e, op, score, head, row, key, count);
  if (failed(adjusted) || !op.getCausal()) {
    return adjusted;
  }
  Value position = key, limit = lastVisibleKey(e, op, row);
  if (count > 1) {
    auto type = VectorType::get({count}, e.b.getIndexType());
    position = arith::AddIOp::create(
        e.b, e.loc, vector::BroadcastOp::create(e.b, e.loc, type, key),
        vector::StepOp::create(e.b, e.loc, type));
    limit = vector::BroadcastOp::create(e.b, e.loc, type, limit);
  }
  Value visible = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sle,
                                        position, limit);
  Value lowest = ElementPuller(e, count).constant(
      e.b.getF32Type(), -std::numeric_limits<double>::infinity());
  return arith::SelectOp::create(e.b, e.loc, visible, *adjusted, lowest)
      .getResult();
}
