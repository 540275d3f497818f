//===- Tile.cpp - The register tile of contractions -----------------------===//
#include "compiler/Targets/CPU/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

int64_t cpu::tileRowsFor(const CpuTraits &traits, int64_t vectors) {
  // Accumulators, the right-hand vectors and a broadcast must fit.
  int64_t most = (traits.registers - vectors - 1) / vectors;
  return std::clamp<int64_t>(most, 1, traits.registers == 32 ? 12 : 6);
}

void cpu::emitTile(CpuEmitter &e, const MatrixBlock &left,
                   const MatrixBlock &right, Value k, int64_t height,
                   int64_t vectors, const MatrixBlock &target,
                   bool accumulate) {
  int64_t lanes = e.traits.lanes;
  auto vectorType = VectorType::get({lanes}, e.b.getF32Type());
  Value zero =
      arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(vectorType));
  // Few rows leave too few independent sums to hide the latency of an fma:
  // neighbouring k get sums of their own, added in order at the end.
  int64_t sets = std::clamp<int64_t>(8 / (height * vectors), 1, 4);
  int64_t unroll = std::max<int64_t>(sets, 4);
  int64_t count = height * vectors;
  SmallVector<Value> sums(sets * count, zero);
  auto place = [&](int64_t i) {
    return e.addIndex(target.offset, e.index(i / vectors * target.stride +
                                             i % vectors * lanes));
  };
  if (accumulate) {
    for (int64_t i = 0; i < count; ++i) {
      sums[i] = e.load(target.pointer, e.b.getF32Type(), place(i), lanes);
    }
  }
  auto step = [&](Value kk, int64_t steps, SmallVector<Value> acc) {
    for (int64_t u = 0; u < steps; ++u) {
      Value at = e.addIndex(kk, e.index(u));
      Value rightRow = e.addIndex(right.offset, e.mulIndex(at, right.stride));
      SmallVector<Value> b;
      for (int64_t v = 0; v < vectors; ++v) {
        b.push_back(e.load(right.pointer, right.element,
                           e.addIndex(rightRow, e.index(v * lanes)), lanes));
      }
      int64_t base = u % sets * count;
      for (int64_t r = 0; r < height; ++r) {
        Value offset =
            e.addIndex(e.addIndex(left.offset, e.index(r * left.stride)),
                       e.mulIndex(at, left.step));
        Value a = e.load(left.pointer, e.b.getF32Type(), offset, 1);
        Value wide = vector::BroadcastOp::create(e.b, e.loc, vectorType, a);
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = acc[base + r * vectors + v];
          sum = math::FmaOp::create(e.b, e.loc, wide, b[v], sum);
        }
      }
    }
    return acc;
  };
  auto loop = [&](Value from, Value to, int64_t steps) {
    sums = e.forLoopCarried(
        from, to, steps, sums, [&](Value kk, ValueRange carried) {
          return step(kk, steps, SmallVector<Value>(carried));
        });
  };
  if (APInt known; matchPattern(k, m_ConstantInt(&known))) {
    int64_t all = known.getSExtValue(), main = all / unroll * unroll;
    if (main != 0) {
      loop(e.index(0), e.index(main), unroll);
    }
    if (main != all) {
      loop(e.index(main), k, 1);
    }
  } else {
    Value rest = arith::RemUIOp::create(e.b, e.loc, k, e.index(unroll));
    Value main = arith::SubIOp::create(e.b, e.loc, k, rest);
    loop(e.index(0), main, unroll);
    loop(main, k, 1);
  }
  for (int64_t i = 0; i < count; ++i) {
    Value sum = sums[i];
    for (int64_t set = 1; set < sets; ++set) {
      sum = arith::AddFOp::create(e.b, e.loc, sum, sums[set * count + i]);
    }
    e.store(sum, target.pointer, e.b.getF32Type(), place(i));
  }
}

LogicalResult cpu::copyRun(CpuEmitter &e, Value count, Value target,
                           Value offset,
                           function_ref<FailureOr<Value>(Value, int64_t)> get) {
  int64_t lanes = e.traits.lanes;
  bool ok = true;
  auto emit = [&](Value from, Value to, int64_t width) {
    e.forLoop(from, to, width, [&](Value i) {
      FailureOr<Value> value = get(i, width);
      ok = ok && succeeded(value);
      if (ok) {
        e.store(*value, target, e.b.getF32Type(), e.addIndex(offset, i));
      }
    });
  };
  if (APInt known; matchPattern(count, m_ConstantInt(&known))) {
    int64_t all = known.getSExtValue(), main = all / lanes * lanes;
    if (main != 0) {
      emit(e.index(0), e.index(main), lanes);
    }
    if (main != all) {
      emit(e.index(main), count, 1);
    }
    return success(ok);
  }
  Value rest = arith::RemUIOp::create(e.b, e.loc, count, e.index(lanes));
  Value main = arith::SubIOp::create(e.b, e.loc, count, rest);
  emit(e.index(0), main, lanes);
  emit(main, count, 1);
  return success(ok);
}

LogicalResult cpu::copyChannels(CpuEmitter &e, Value tensor,
                                ArrayRef<LaneIndex> at, int64_t channels,
                                Value inside, Value target, Value offset) {
  auto copy = [&] {
    return copyRun(e, e.index(channels), target, offset,
                   [&](Value i, int64_t lanes) -> FailureOr<Value> {
                     SmallVector<LaneIndex> index(at);
                     index.push_back({i, lanes == 1 ? 0 : 1});
                     ElementPuller puller(e, lanes);
                     FailureOr<Value> value = puller.get(tensor, index);
                     return failed(value)
                                ? value
                                : FailureOr<Value>(puller.splat(*value));
                   });
  };
  if (!inside) {
    return copy();
  }
  auto choice = scf::IfOp::create(e.b, e.loc, inside, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.thenBlock());
  LogicalResult copied = copy();
  e.b.setInsertionPointToStart(choice.elseBlock());
  LogicalResult cleared =
      copyRun(e, e.index(channels), target, offset,
              [&](Value, int64_t lanes) -> FailureOr<Value> {
                return ElementPuller(e, lanes).constant(e.b.getF32Type(), 0);
              });
  return success(succeeded(copied) && succeeded(cleared));
}
