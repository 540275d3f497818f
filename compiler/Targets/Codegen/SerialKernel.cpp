//===- SerialKernel.cpp - Kernels whose elements depend on an order -------===//
// arg_max, arg_min, cumsum and top_k walk rows one element after the other,
// rows in parallel.
#include "compiler/Targets/Codegen/ScatterKernel.h"

#include "dialects/Amp/Impl/MathExpansion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

namespace {

class SerialKernel {
public:
  SerialKernel(KernelEmitter &e, Operation *root)
      : e(e), root(root), input(root->getOperand(0)),
        storage(getElementTypeOrSelf(input.getType())),
        element(getComputeType(storage)) {}

  LogicalResult emit() {
    e.reset();
    if (isa<amp::ArgMaxOp, amp::ArgMinOp, amp::CumSumOp, amp::TopKOp>(root)) {
      emitRows();
    } else {
      return root->emitOpError("has no serial kernel");
    }
    return success(ok);
  }

private:
  Value pull(Value tensor, ArrayRef<Value> index) {
    SmallVector<LaneIndex> at;
    for (Value i : index) {
      at.push_back({i, 0});
    }
    FailureOr<Value> value = ElementPuller(e, 1).get(tensor, at);
    if (failed(value)) {
      ok = false;
      return ElementPuller(e, 1).constant(
          getComputeType(getElementTypeOrSelf(tensor.getType())), 0);
    }
    return *value;
  }

  /// Stores `value`, of the compute type, as result `number` of the root.
  void put(unsigned number, Value value, ArrayRef<Value> index) {
    Value tensor = root->getResult(number);
    SmallVector<LaneIndex> at;
    for (Value i : index) {
      at.push_back({i, 0});
    }
    ok = ok && succeeded(emitEpilogue(e, tensor, value, at, 1));
  }

  /// Whether `lhs` comes before `rhs` in descending (ascending) order; NaN
  /// comes before all numbers.
  Value before(Value lhs, Value rhs, bool descending) {
    if (isa<FloatType>(element)) {
      auto predicate =
          descending ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
      Value less = arith::CmpFOp::create(e.b, e.loc, predicate, lhs, rhs);
      Value lhsNan = arith::CmpFOp::create(e.b, e.loc,
                                           arith::CmpFPredicate::UNO, lhs, lhs);
      Value rhsNumber = arith::CmpFOp::create(
          e.b, e.loc, arith::CmpFPredicate::ORD, rhs, rhs);
      Value nan = arith::AndIOp::create(e.b, e.loc, lhsNan, rhsNumber);
      return arith::OrIOp::create(e.b, e.loc, less, nan);
    }
    using P = arith::CmpIPredicate;
    bool isUnsigned = storage.isUnsignedInteger();
    P predicate = descending ? (isUnsigned ? P::ugt : P::sgt)
                             : (isUnsigned ? P::ult : P::slt);
    return arith::CmpIOp::create(e.b, e.loc, predicate, lhs, rhs);
  }

  Value both(Value lhs, Value rhs) {
    return arith::AndIOp::create(e.b, e.loc, lhs, rhs);
  }
  Value negate(Value condition) {
    Value yes = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
    return arith::XOrIOp::create(e.b, e.loc, condition, yes);
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return arith::SelectOp::create(e.b, e.loc, condition, lhs, rhs);
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(e.b, e.loc, e.b.getI64Type(), index);
  }

  void emitRows() {
    int64_t axis = root->getAttrOfType<IntegerAttr>("axis").getInt();
    ArrayRef<int64_t> shape = shapeOf(input);
    SmallVector<int64_t> kept(shape);
    kept[axis] = 1;
    int64_t rows = 1;
    for (int64_t size : kept) {
      rows *= size;
    }
    e.launch.items = rows;
    e.launch.grain =
        std::max<int64_t>(1, 4096 / std::max<int64_t>(shape[axis], 1));
    e.forEachItem([&](Value item) {
      SmallVector<Value> at = e.delinearize(item, kept);
      auto element = [&](Value i) {
        SmallVector<Value> index(at);
        index[axis] = i;
        return pull(input, index);
      };
      if (auto sum = dyn_cast<amp::CumSumOp>(root)) {
        emitCumSum(sum, at, element);
      } else if (auto top = dyn_cast<amp::TopKOp>(root)) {
        emitTopK(top, at, element);
      } else {
        emitArg(axis, at, element);
      }
    });
  }

  void emitArg(int64_t axis, ArrayRef<Value> at,
               function_ref<Value(Value)> get) {
    bool largest = isa<amp::ArgMaxOp>(root);
    bool last = root->getAttrOfType<BoolAttr>("select_last").getValue();
    bool keepdims = root->getAttrOfType<BoolAttr>("keepdims").getValue();
    int64_t length = shapeOf(input)[axis];
    Value best = e.index(0);
    if (length > 0) {
      Value first = get(e.index(0));
      best = e.forLoopCarried(
          e.index(1), e.index(length), 1, ValueRange{first, e.index(0)},
          [&](Value i, ValueRange acc) -> SmallVector<Value> {
            Value value = get(i);
            Value better = last ? negate(before(acc[0], value, largest))
                                : before(value, acc[0], largest);
            return {select(better, value, acc[0]), select(better, i, acc[1])};
          })[1];
    }
    SmallVector<Value> index(at);
    if (!keepdims) {
      index.erase(index.begin() + axis);
    }
    put(0, toI64(best), index);
  }

  void emitCumSum(amp::CumSumOp op, ArrayRef<Value> at,
                  function_ref<Value(Value)> get) {
    int64_t axis = op.getAxis(), length = shapeOf(input)[axis];
    Value zero = arith::ConstantOp::create(
        e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(element)));
    e.forLoopCarried(
        e.index(0), e.index(length), 1, ValueRange{zero},
        [&](Value i, ValueRange acc) -> SmallVector<Value> {
          Value place =
              op.getReverse()
                  ? arith::SubIOp::create(e.b, e.loc, e.index(length - 1), i)
                        .getResult()
                  : i;
          Value value = get(place);
          Value sum =
              isa<FloatType>(element)
                  ? arith::AddFOp::create(e.b, e.loc, acc[0], value).getResult()
                  : arith::AddIOp::create(e.b, e.loc, acc[0], value)
                        .getResult();
          SmallVector<Value> index(at);
          index[axis] = place;
          put(0, op.getExclusive() ? acc[0] : sum, index);
          return {sum};
        });
  }

  /// Finds each next element of the order by a pass over the row.
  void emitTopK(amp::TopKOp op, ArrayRef<Value> at,
                function_ref<Value(Value)> get) {
    int64_t axis = op.getAxis(), length = shapeOf(input)[axis];
    bool largest = op.getLargest();
    Value zero = arith::ConstantOp::create(
        e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(element)));
    Value no = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(false));
    e.forLoopCarried(
        e.index(0), e.index(op.getK()), 1, ValueRange{zero, e.index(0)},
        [&](Value k, ValueRange previous) -> SmallVector<Value> {
          Value isFirst = arith::CmpIOp::create(
              e.b, e.loc, arith::CmpIPredicate::eq, k, e.index(0));
          auto found = e.forLoopCarried(
              e.index(0), e.index(length), 1, ValueRange{zero, e.index(0), no},
              [&](Value i, ValueRange acc) -> SmallVector<Value> {
                Value value = get(i);
                // After the previous one: later in order, or equal and behind.
                Value later = before(previous[0], value, largest);
                Value equal = both(negate(later),
                                   negate(before(value, previous[0], largest)));
                Value behind = arith::CmpIOp::create(
                    e.b, e.loc, arith::CmpIPredicate::ugt, i, previous[1]);
                Value left = arith::OrIOp::create(e.b, e.loc, later,
                                                  both(equal, behind));
                left = arith::OrIOp::create(e.b, e.loc, left, isFirst);
                Value better = arith::OrIOp::create(
                    e.b, e.loc, negate(acc[2]), before(value, acc[0], largest));
                Value take = both(left, better);
                return {select(take, value, acc[0]), select(take, i, acc[1]),
                        arith::OrIOp::create(e.b, e.loc, acc[2], take)};
              });
          SmallVector<Value> index(at);
          index[axis] = k;
          put(0, found[0], index);
          put(1, toI64(found[1]), index);
          return {found[0], found[1]};
        });
  }

  KernelEmitter &e;
  Operation *root;
  Value input;
  Type storage, element;
  bool ok = true;
};

} // namespace

LogicalResult codegen::emitSerialKernel(KernelEmitter &emitter,
                                        Operation *root) {
  if (isa<amp::ScatterElementsOp, amp::ScatterNdOp>(root)) {
    return emitScatterKernel(emitter, root);
  }
  return SerialKernel(emitter, root).emit();
}
