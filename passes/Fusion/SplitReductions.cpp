//===- SplitReductions.cpp - Few long sums as sums of many parts ----------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Fusion/Passes.h"

using namespace mlir;

namespace ampc::fusion {
#define GEN_PASS_DEF_FUSIONSPLITREDUCTIONSPASS
#include "passes/Fusion/Passes.h.inc"

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// What a target can do at once.
struct Machine {
  int64_t items;   ///< that keep it busy
  int64_t columns; ///< neighbouring ones that an item reduces together
};

/// The parts of a row: indices of the reduced axes before `axis`, and `parts`
/// of `axis` itself.
struct Split {
  unsigned axis = 0; ///< its number among the reduced ones
  int64_t parts = 1; ///< of it; a divisor of its size
  int64_t total = 1;
};

/// The coarsest split into `wanted` parts or more of at least `least` elements
/// each; the finest one if none is fine enough. A split between axes, which
/// moves nothing, may be somewhat coarser or finer.
std::optional<Split> chooseSplit(ArrayRef<int64_t> sizes, int64_t wanted,
                                 int64_t most) {
  std::optional<Split> best;
  bool isBetween = false;
  int64_t before = 1;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    for (int64_t parts = 2; parts <= size && before * parts <= most; ++parts) {
      if (size % parts != 0) {
        continue;
      }
      Split split{static_cast<unsigned>(axis), parts, before * parts};
      bool between = parts == size;
      constexpr int64_t near = 4;
      bool better;
      if (between && split.total * near >= wanted) {
        better = !isBetween || best->total < wanted;
        isBetween = isBetween || better;
      } else {
        better = !isBetween && (!best || best->total < wanted);
      }
      if (better) {
        best = split;
      }
    }
    before *= size;
  }
  return best;
}

/// Tensors with a dimension split in two.
class DimensionSplitter {
public:
  /// `dimension` counts from the last one, which is 0.
  DimensionSplitter(OpBuilder &b, int64_t dimension, int64_t parts)
      : b(b), dimension(dimension), parts(parts) {}

  /// `value` so; what computes it for this use alone is computed so, and what
  /// is broadcast along the dimension is along both.
  Value get(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() <= dimension) {
      return value;
    }
    Value &known = split[value];
    if (!known) {
      known = build(value, type);
    }
    return known;
  }

private:
  RankedTensorType typeOf(RankedTensorType type) const {
    SmallVector<int64_t> shape(type.getShape());
    auto *at = shape.end() - 1 - dimension;
    int64_t outer = *at == 1 ? 1 : parts;
    *at /= outer;
    shape.insert(at, outer);
    return type.clone(shape);
  }

  Value build(Value value, RankedTensorType type) {
    Operation *op = value.getDefiningOp();
    if (auto constant = dyn_cast_or_null<amp::ConstantOp>(op)) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (dense && dense.isSplat()) {
        return amp::ConstantOp::create(b, op->getLoc(),
                                       dense.resizeSplat(typeOf(type)));
      }
    }
    if (isa_and_nonnull<ScalarBodyOpInterface>(op) &&
        (value.hasOneUse() || value.use_empty())) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        operands.push_back(get(operand));
      }
      Operation *clone = b.clone(*op);
      clone->setOperands(operands);
      clone->getResult(0).setType(typeOf(type));
      return clone->getResult(0);
    }
    return amp::ReshapeOp::create(b, value.getLoc(), typeOf(type), value);
  }

  OpBuilder &b;
  int64_t dimension, parts;
  DenseMap<Value, Value> split;
};

template <typename OpT>
Value reduce(OpBuilder &b, Location loc, Value input, ArrayRef<int64_t> axes,
             bool keepdims) {
  return OpT::create(b, loc, input, b.getDenseI64ArrayAttr(axes),
                     b.getBoolAttr(keepdims));
}

/// `CombineOp`: what combines the results of parts.
template <typename OpT, typename CombineOp>
void visit(func::FuncOp function, const Machine &machine) {
  for (auto op : llvm::make_early_inc_range(function.getOps<OpT>())) {
    Value input = op.getInput();
    auto type = cast<RankedTensorType>(input.getType());
    ArrayRef<int64_t> axes = op.getAxes();
    constexpr bool isMean = std::is_same_v<OpT, amp::ReduceMeanOp>;
    constexpr bool isSum = std::is_same_v<CombineOp, amp::ReduceSumOp>;
    bool isFloat = isa<FloatType>(type.getElementType());
    if (axes.empty() || (isMean && !isFloat)) {
      continue;
    }
    SmallVector<int64_t> sizes;
    for (int64_t axis : axes) {
      sizes.push_back(type.getDimSize(axis));
    }
    // Rows along memory are reduced one by one, others side by side.
    int64_t length = llvm::product_of(sizes);
    int64_t items = length == 0 ? 0 : type.getNumElements() / length;
    int64_t columns = 1;
    if (axes.back() + 1 != type.getRank()) {
      columns = std::min(type.getShape().back(), machine.columns);
      items /= std::max<int64_t>(columns, 1);
    }
    constexpr int64_t leastElements = 1 << 13; // of a part
    int64_t most = length * columns / leastElements;
    if (items == 0 || items * 2 > machine.items || most < 4) {
      continue;
    }
    auto split =
        chooseSplit(sizes, llvm::divideCeil(machine.items, items), most);
    if (!split || split->total < 4) {
      continue;
    }
    OpBuilder b(op);
    Location loc = op.getLoc();
    if (isSum && isFloat && type.getElementTypeBitWidth() < 32) {
      type = type.clone(b.getF32Type());
      input = amp::CastOp::create(b, loc, type, input, false, false);
    }
    // The parts: outer indices stay, inner ones are reduced.
    int64_t axis = axes[split->axis];
    SmallVector<int64_t> inner(axes.drop_front(split->axis + 1));
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = split->parts;
    for (int64_t i : inner) {
      shape[i] = 1;
    }
    if (split->parts != type.getDimSize(axis)) {
      input = DimensionSplitter(b, type.getRank() - 1 - axis, split->parts)
                  .get(input);
      for (int64_t &i : inner) {
        ++i;
      }
      inner.insert(inner.begin(), axis + 1);
    }
    Value parts = reduce<CombineOp>(b, loc, input, inner, /*keepdims=*/true);
    if (shapeOf(parts) != ArrayRef(shape)) {
      parts = amp::ReshapeOp::create(b, loc, type.clone(shape), parts);
    }
    Value result = reduce<CombineOp>(b, loc, parts, axes, op.getKeepdims());
    auto wide = cast<RankedTensorType>(result.getType());
    if (isMean) {
      auto count =
          FloatAttr::get(wide.getElementType(), static_cast<double>(length));
      Value divisor = amp::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(wide.clone(ArrayRef<int64_t>()), count));
      result = amp::DivOp::create(b, loc, result, divisor);
    }
    if (wide != op.getType()) {
      result = amp::CastOp::create(b, loc, op.getType(), result, false, false);
    }
    op.replaceAllUsesWith(result);
    op.erase();
  }
}

struct FusionSplitReductionsPass final
    : impl::FusionSplitReductionsPassBase<FusionSplitReductionsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<amp::TargetAttr>("amp.target");
    if (!target || target.getPanel() == 0) {
      return;
    }
    // A thread reduces some vectors of neighbouring columns together.
    Machine machine{/*items=*/32, /*columns=*/target.getVectorBytes()};
    for (auto function : module.getOps<func::FuncOp>()) {
      visit<amp::ReduceSumOp, amp::ReduceSumOp>(function, machine);
      visit<amp::ReduceMeanOp, amp::ReduceSumOp>(function, machine);
      visit<amp::ReduceProdOp, amp::ReduceProdOp>(function, machine);
      visit<amp::ReduceMaxOp, amp::ReduceMaxOp>(function, machine);
      visit<amp::ReduceMinOp, amp::ReduceMinOp>(function, machine);
    }
  }
};

} // namespace
} // namespace ampc::fusion
