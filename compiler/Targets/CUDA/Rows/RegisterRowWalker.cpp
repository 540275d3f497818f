//===- RegisterRowWalker.cpp - Rows in the registers of some threads ------===//
#include "compiler/Targets/CUDA/Rows/RegisterRowWalker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cuda;

static constexpr int64_t warpThreads = 32;
static constexpr int64_t blockThreads = 128; ///< of a block of several groups
static constexpr int64_t maxGroup = 512;
/// Of a row in a thread's registers.
static constexpr int64_t bytesPerThread = 128;
/// That give every multiprocessor something to do.
static constexpr int64_t wantedBlocks = 256;

/// Vectors of `lanes` elements, or as many as divide the innermost dimension:
/// then every one is as aligned as it is long.
static int64_t wholeLanes(const RowSpace &space, int64_t lanes) {
  int64_t inner = space.row.empty() ? 1 : space.row.back();
  return inner == 0 ? 1 : std::min<int64_t>(lanes, inner & -inner);
}

static int64_t groupFor(int64_t vectors, int64_t vectorBytes) {
  int64_t perThread = std::max<int64_t>(bytesPerThread / vectorBytes, 1);
  int64_t threads = llvm::divideCeil(vectors, perThread);
  int64_t least = std::min<int64_t>(vectors, warpThreads);
  return llvm::PowerOf2Ceil(std::max({threads, least, int64_t(1)}));
}

bool RegisterRowWalker::covers(const RowSpace &space, int64_t lanes,
                               int64_t elementBytes) {
  int64_t whole = wholeLanes(space, lanes);
  return groupFor(llvm::divideCeil(space.rowLength(), whole),
                  whole * elementBytes) <= maxGroup;
}

RegisterRowWalker::RegisterRowWalker(CudaEmitter &emitter,
                                     const RowSpace &space, int64_t lanes,
                                     int64_t elementBytes)
    : RowWalker(emitter, space, wholeLanes(space, lanes)), cuda(emitter),
      length(space.rowLength()) {
  int64_t vectors = length / this->lanes;
  group = groupFor(vectors, this->lanes * elementBytes);
  slots = llvm::divideCeil(vectors, group);
  rowsPerBlock = group > warpThreads ? 1 : blockThreads / group;
  while (rowsPerBlock > 1 && rowsPerBlock * group > warpThreads &&
         llvm::divideCeil(space.rows(), rowsPerBlock) < wantedBlocks) {
    rowsPerBlock /= 2;
  }
}

void RegisterRowWalker::forEachRow(function_ref<void()> body) {
  int64_t rows = space.rows();
  e.launch.items = llvm::divideCeil(rows, rowsPerBlock);
  cuda.forEachBlock(rowsPerBlock * group, [&](Value block) {
    Value thread = cuda.threadIndex(), row = block;
    member = thread;
    if (rowsPerBlock > 1) {
      Value size = e.index(group);
      member = arith::RemUIOp::create(e.b, e.loc, thread, size);
      row = e.addIndex(e.mulIndex(block, rowsPerBlock),
                       arith::DivUIOp::create(e.b, e.loc, thread, size));
    }
    exists = Value();
    if (rows % rowsPerBlock != 0) {
      // All threads of a warp shuffle: those without a row go along with the
      // last one, and store nothing.
      exists = cuda.isBelow(row, rows);
      row = arith::MinUIOp::create(e.b, e.loc, row, e.index(rows - 1));
    }
    kept.clear();
    for (Value base : e.delinearize(row, space.kept)) {
      kept.push_back({base, 0});
    }
    currentLanes = 1;
    values.clear();
    body();
  });
}

Value RegisterRowWalker::position() {
  return e.addIndex(e.mulIndex(member, lanes), e.index(slot * group * lanes));
}

Value RegisterRowWalker::isActive(Value position) {
  return (slot + 1) * group * lanes <= length ? Value()
                                              : cuda.isBelow(position, length);
}

SmallVector<LaneIndex> RegisterRowWalker::at(Value position) {
  return locate(e.delinearize(position, space.row), lanes);
}

/// The elements of the slot, or `otherwise` where the thread has none.
Value RegisterRowWalker::guarded(Value position, Value otherwise,
                                 ElementFn element) {
  Value active = isActive(position);
  if (!active) {
    return element(lanes, at(position), position);
  }
  auto choice = scf::IfOp::create(e.b, e.loc, otherwise.getType(), active,
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(e.b, e.loc, element(lanes, at(position), position));
  e.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(e.b, e.loc, otherwise);
  return choice.getResult(0);
}

bool RegisterRowWalker::hold(TypedAttr zero, ElementFn element) {
  Value nothing =
      splat(arith::ConstantOp::create(e.b, e.loc, zero).getResult(), lanes);
  SmallVector<Value> loaded;
  for (slot = 0; slot < slots; ++slot) {
    loaded.push_back(guarded(position(), nothing, element));
  }
  values = loaded;
  return true;
}

Value RegisterRowWalker::reduce(TypedAttr identity, ElementFn element,
                                CombineFn combine) {
  Value start = arith::ConstantOp::create(e.b, e.loc, identity);
  Value neutral = splat(start, lanes), total = neutral;
  for (slot = 0; slot < slots; ++slot) {
    Value p = position(), value;
    if (values.empty()) {
      value = guarded(p, neutral, element);
    } else {
      value = element(lanes, at(p), p);
      if (Value active = isActive(p)) {
        value = arith::SelectOp::create(e.b, e.loc, active, value, neutral);
      }
    }
    total = slot == 0 ? value : combine(total, value);
  }
  total = lanes == 1 ? total : horizontal(total, combine);
  if (group > warpThreads) {
    return cuda.reduceBlock(total, group, combine);
  }
  for (int64_t mask = group / 2; mask > 0; mask /= 2) {
    total = combine(total, cuda.shuffleXor(total, mask));
  }
  return total;
}

void RegisterRowWalker::forEachElement(VisitFn visit) {
  for (slot = 0; slot < slots; ++slot) {
    Value p = position();
    cuda.onlyIf(cuda.bothOf(exists, isActive(p)),
                [&] { visit(lanes, at(p), p); });
  }
}

void RegisterRowWalker::once(function_ref<void()> body) {
  Value first = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                      member, e.index(0));
  cuda.onlyIf(cuda.bothOf(exists, first), body);
}
