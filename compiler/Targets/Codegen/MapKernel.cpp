//===- MapKernel.cpp - Kernels that compute each element by itself --------===//
#include "compiler/Targets/Codegen/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

namespace {

/// Elements worth handing to another thread.
constexpr int64_t grainElements = 16384;

using ShapeMap = DenseMap<Value, SmallVector<int64_t>>;

/// For a body of elementwise ops only: the shape of each of its tensors with
/// neighbouring dimensions merged wherever no tensor broadcasts one of them
/// without the other. False when the body has other ops.
bool mergeDimensions(amp::KernelOp kernel, ArrayRef<int64_t> result,
                     SmallVector<int64_t> &merged, ShapeMap &shapes) {
  Block &body = kernel.getBody().front();
  SmallVector<Value> tensors(body.getArguments().begin(),
                             body.getArguments().end());
  for (Operation &op : body.without_terminator()) {
    if (!isa<ScalarBodyOpInterface, amp::ConstantOp>(op)) {
      return false;
    }
    llvm::append_range(tensors, op.getResults());
  }
  size_t rank = result.size();
  auto aligned = [&](Value tensor) {
    auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
    SmallVector<int64_t> full(rank - shape.size(), 1);
    llvm::append_range(full, shape);
    return full;
  };
  // Dimensions of size 1 say nothing about who broadcasts: they are left out,
  // or they would join neighbours that differ.
  SmallVector<size_t> kept;
  for (size_t i = 0; i < rank; ++i) {
    if (result[i] != 1) {
      kept.push_back(i);
    }
  }
  // startsRun[i]: kept dimension i does not act as one with the one before it
  // for every tensor.
  SmallVector<bool> startsRun(kept.size(), false);
  for (Value tensor : tensors) {
    if (cast<RankedTensorType>(tensor.getType()).getRank() >
        static_cast<int64_t>(rank)) {
      return false;
    }
    auto shape = aligned(tensor);
    for (size_t i = 1; i < kept.size(); ++i) {
      bool outerFull = shape[kept[i - 1]] == result[kept[i - 1]];
      bool innerFull = shape[kept[i]] == result[kept[i]];
      startsRun[i] = startsRun[i] || outerFull != innerFull;
    }
  }
  auto merge = [&](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> out;
    for (auto [i, dim] : llvm::enumerate(kept)) {
      if (i > 0 && !startsRun[i]) {
        out.back() *= shape[dim];
      } else {
        out.push_back(shape[dim]);
      }
    }
    return out;
  };
  merged = merge(result);
  for (Value tensor : tensors) {
    shapes[tensor] = merge(aligned(tensor));
  }
  return true;
}

class MapEmitter {
public:
  MapEmitter(KernelEmitter &emitter, ArrayRef<int64_t> shape,
             const ShapeMap *shapes)
      : emitter(emitter), shape(shape), shapes(shapes) {
    last = shape.empty() ? 1 : shape.back();
    for (int64_t size : shape.drop_back(shape.empty() ? 0 : 1)) {
      rows *= size;
    }
  }

  LogicalResult emit(int64_t lanes) {
    int64_t wanted = emitter.traits.mapChunk;
    chunk = std::min(last, wanted ? wanted : lanes);
    chunks = chunk == 0 ? 0 : llvm::divideCeil(last, chunk);
    emitter.reset();
    emitter.launch.items = rows * chunks;
    emitter.launch.grain =
        std::max<int64_t>(1, grainElements / std::max<int64_t>(chunk, 1));
    bool ok = true;
    emitter.forEachItem([&](Value item) {
      SmallVector<int64_t> space(shape.drop_back(shape.empty() ? 0 : 1));
      space.push_back(chunks);
      SmallVector<Value> index = emitter.delinearize(item, space);
      Value start = emitter.mulIndex(index.pop_back_val(), chunk);
      Value stop = emitter.addIndex(start, emitter.index(chunk));
      if (last % chunk != 0) {
        stop = arith::MinUIOp::create(emitter.b, emitter.loc, stop,
                                      emitter.index(last));
      }
      Value main = stop;
      bool tail = last % lanes != 0 || chunk % lanes != 0;
      if (tail) {
        Value size = arith::SubIOp::create(emitter.b, emitter.loc, stop, start);
        Value rest = arith::RemUIOp::create(emitter.b, emitter.loc, size,
                                            emitter.index(lanes));
        main = arith::SubIOp::create(emitter.b, emitter.loc, stop, rest);
      }
      if (!tail && chunk == lanes) {
        ok = succeeded(emitElements(index, start, lanes));
        return;
      }
      emitter.forLoop(start, main, lanes, [&](Value i) {
        ok = ok && succeeded(emitElements(index, i, lanes));
      });
      if (tail && ok) {
        emitter.forLoop(main, stop, 1, [&](Value i) {
          ok = ok && succeeded(emitElements(index, i, 1));
        });
      }
    });
    return success(ok);
  }

private:
  LogicalResult emitElements(ArrayRef<Value> outer, Value i, int64_t lanes) {
    SmallVector<LaneIndex> index;
    for (Value base : outer) {
      index.push_back({base, 0});
    }
    if (!shape.empty()) {
      index.push_back({i, lanes == 1 ? 0 : 1});
    }
    ElementPuller puller(emitter, lanes);
    puller.mergedShapes = shapes;
    SmallVector<Value> bases;
    for (const LaneIndex &lane : index) {
      bases.push_back(lane.base);
    }
    // A result may overwrite an argument: all is read before any is written.
    auto yield = emitter.kernel.getYield();
    SmallVector<Value> values;
    for (Value tensor : yield.getValues()) {
      FailureOr<Value> value = puller.get(tensor, index);
      if (failed(value)) {
        return failure();
      }
      values.push_back(puller.splat(*value));
    }
    for (auto [number, value] : llvm::enumerate(values)) {
      emitter.store(value, emitter.resultPointer(number),
                    getElementTypeOrSelf(yield.getValues()[number].getType()),
                    emitter.linearize(bases, shape));
    }
    return success();
  }

  KernelEmitter &emitter;
  ArrayRef<int64_t> shape;
  const ShapeMap *shapes;
  int64_t rows = 1, last = 1, chunk = 1, chunks = 1;
};

} // namespace

LogicalResult codegen::emitMapKernel(KernelEmitter &emitter) {
  amp::KernelOp kernel = emitter.kernel;
  auto first = cast<RankedTensorType>(kernel.getResultTypes().front());
  for (Type type : kernel.getResultTypes()) {
    if (cast<RankedTensorType>(type).getShape() != first.getShape()) {
      return kernel.emitOpError(
          "expected results of one shape in a map kernel");
    }
  }
  SmallVector<int64_t> shape(first.getShape());
  ShapeMap shapes;
  SmallVector<int64_t> merged;
  bool elementwise = mergeDimensions(kernel, shape, merged, shapes);
  MapEmitter map(emitter, elementwise ? merged : shape,
                 elementwise ? &shapes : nullptr);
  int64_t last = elementwise ? (merged.empty() ? 1 : merged.back())
                             : (shape.empty() ? 1 : shape.back());
  int64_t lanes = emitter.traits.lanes;
  if (emitter.traits.mapChunk == 0 && last != first.getNumElements() &&
      last != 0) {
    // Of rows that vectors do not fill, every vector but the first would lie
    // askew: threads take what does fill them.
    lanes = std::min<int64_t>(lanes, last & -last);
  }
  if (last >= lanes && succeeded(map.emit(lanes))) {
    return success();
  }
  return map.emit(1);
}
