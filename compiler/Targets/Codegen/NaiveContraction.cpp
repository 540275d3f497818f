//===- NaiveContraction.cpp - Any contraction, element by element ---------===//
// The form every contraction has: for each result element a loop over what is
// contracted. Serves element types and layouts that the panel kernel does not.
#include "compiler/Targets/Codegen/ConvWindow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

namespace {

/// The operands of conv and conv_transpose, in either layout.
struct Window : ConvWindow {
  template <typename ConvOp>
  explicit Window(ConvOp op)
      : ConvWindow(op), input(op.getInput()), weight(op.getWeight()),
        group(op.getGroup()),
        channelsLast(op.getLayout() == amp::Layout::ChannelsLast) {}

  int64_t channels() const {
    return channelsLast ? shapeOf(input).back() : shapeOf(input)[1];
  }

  Value input, weight;
  int64_t group;
  bool channelsLast;
};

class NaiveContraction {
public:
  NaiveContraction(KernelEmitter &e, Operation *root) : e(e), root(root) {}

  LogicalResult emit() {
    e.reset();
    ArrayRef<int64_t> shape = shapeOf(root->getResult(0));
    int64_t count = 1;
    for (int64_t size : shape) {
      count *= size;
    }
    e.launch.items = count;
    e.launch.grain = 64;
    bool ok = true;
    e.forEachItem([&](Value item) {
      SmallVector<Value> at = e.delinearize(item, shape);
      ok = succeeded(emitElement(at));
    });
    return success(ok);
  }

private:
  LogicalResult emitElement(ArrayRef<Value> at) {
    FailureOr<Value> acc = failure();
    Value bias;
    if (auto matmul = dyn_cast<amp::MatmulOp>(root)) {
      acc = emitMatmul(matmul, at);
      bias = matmul.getBias();
    } else if (auto conv = dyn_cast<amp::ConvOp>(root)) {
      acc = emitConvolution(Window(conv), conv.getBias(), at);
    } else if (auto conv = dyn_cast<amp::ConvTransposeOp>(root)) {
      acc = emitConvolution(Window(conv), conv.getBias(), at);
    } else if (auto gradient = dyn_cast<amp::ConvWeightGradientOp>(root)) {
      acc = emitWeightGradient(gradient, at);
    }
    if (failed(acc)) {
      return root->emitOpError("has no code in this form");
    }
    SmallVector<LaneIndex> index;
    for (Value i : at) {
      index.push_back({i, 0});
    }
    FailureOr<Value> biased =
        addBias(e, bias, root->getResult(0), *acc, index, 1);
    if (failed(biased)) {
      return failure();
    }
    return emitEpilogue(e, root->getResult(0), *biased, index, 1);
  }

  /// A convolution's bias is added here, as its one dimension is not the
  /// result's last in channels_first.
  FailureOr<Value> emitConvolution(const Window &window, Value bias,
                                   ArrayRef<Value> at) {
    FailureOr<Value> acc = emitWindow(window, at);
    if (!bias || failed(acc)) {
      return acc;
    }
    FailureOr<Value> value = ElementPuller(e, 1).get(
        bias, {{window.channelsLast ? at.back() : at[1], 0}});
    return failed(value) ? value : FailureOr<Value>(add(*acc, *value));
  }

  Value add(Value lhs, Value rhs) {
    return isa<FloatType>(lhs.getType())
               ? arith::AddFOp::create(e.b, e.loc, lhs, rhs).getResult()
               : arith::AddIOp::create(e.b, e.loc, lhs, rhs).getResult();
  }

  Value multiplyAdd(Value lhs, Value rhs, Value acc) {
    if (isa<FloatType>(acc.getType())) {
      return math::FmaOp::create(e.b, e.loc, lhs, rhs, acc);
    }
    return add(arith::MulIOp::create(e.b, e.loc, lhs, rhs), acc);
  }

  Value zero() {
    Type type =
        getComputeType(getElementTypeOrSelf(root->getResult(0).getType()));
    return arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
  }

  FailureOr<Value> emitMatmul(amp::MatmulOp op, ArrayRef<Value> at) {
    ArrayRef<int64_t> lhs = shapeOf(op.getLhs());
    int64_t k = lhs[lhs.size() - (op.getTransposeLhs() ? 2 : 1)];
    auto pull = [&](Value operand, bool transposed, Value row, Value column) {
      ArrayRef<int64_t> shape = shapeOf(operand);
      SmallVector<LaneIndex> index;
      for (size_t i = 0; i + 2 < shape.size(); ++i) {
        index.push_back(
            {shape[i] == 1 ? e.index(0) : at[at.size() - shape.size() + i], 0});
      }
      index.push_back({transposed ? column : row, 0});
      index.push_back({transposed ? row : column, 0});
      return ElementPuller(e, 1).get(operand, index);
    };
    bool ok = true;
    Value sum = e.forLoopCarried(
        e.index(0), e.index(k), 1, ValueRange{zero()},
        [&](Value kk, ValueRange carried) -> SmallVector<Value> {
          auto a =
              pull(op.getLhs(), op.getTransposeLhs(), at[at.size() - 2], kk);
          auto b = pull(op.getRhs(), op.getTransposeRhs(), kk, at.back());
          ok = succeeded(a) && succeeded(b);
          return {ok ? multiplyAdd(*a, *b, carried[0]) : carried[0]};
        })[0];
    return ok ? FailureOr<Value>(sum) : FailureOr<Value>(failure());
  }

  FailureOr<Value> emitWindow(const Window &w, ArrayRef<Value> at) {
    ArrayRef<int64_t> weight = shapeOf(w.weight);
    int64_t outputs = w.transposed ? weight[1] : weight[0] / w.group;
    int64_t inputs = w.channels() / w.group;
    Value out = w.channelsLast ? at.back() : at[1];
    Value groupIndex =
        arith::DivUIOp::create(e.b, e.loc, out, e.index(outputs));
    Value within = arith::RemUIOp::create(e.b, e.loc, out, e.index(outputs));
    int64_t taps = 1;
    for (int64_t size : weight.drop_front(2)) {
      taps *= size;
    }
    bool ok = true;
    Value sum = e.forLoopCarried(
        e.index(0), e.index(taps), 1, ValueRange{zero()},
        [&](Value tap, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> offsets = e.delinearize(tap, weight.drop_front(2));
          SmallVector<Value> position;
          Value inside = locate(w, at, offsets, position);
          auto choice = scf::IfOp::create(e.b, e.loc, carried[0].getType(),
                                          inside, /*withElse=*/true);
          OpBuilder::InsertionGuard guard(e.b);
          e.b.setInsertionPointToStart(choice.elseBlock());
          scf::YieldOp::create(e.b, e.loc, carried[0]);
          e.b.setInsertionPointToStart(choice.thenBlock());
          Value inner = e.forLoopCarried(
              e.index(0), e.index(inputs), 1, ValueRange{carried[0]},
              [&](Value c, ValueRange acc) -> SmallVector<Value> {
                Value channel = e.addIndex(e.mulIndex(groupIndex, inputs), c);
                SmallVector<LaneIndex> x{{at[0], 0}};
                SmallVector<LaneIndex> y;
                if (!w.channelsLast) {
                  x.push_back({channel, 0});
                }
                for (Value p : position) {
                  x.push_back({p, 0});
                }
                if (w.channelsLast) {
                  x.push_back({channel, 0});
                }
                y.push_back({w.transposed ? channel : out, 0});
                y.push_back({w.transposed ? within : c, 0});
                for (Value o : offsets) {
                  y.push_back({o, 0});
                }
                auto a = ElementPuller(e, 1).get(w.input, x);
                auto b = ElementPuller(e, 1).get(w.weight, y);
                ok = succeeded(a) && succeeded(b);
                return {ok ? multiplyAdd(*a, *b, acc[0]) : acc[0]};
              })[0];
          scf::YieldOp::create(e.b, e.loc, inner);
          return {choice.getResult(0)};
        })[0];
    return ok ? FailureOr<Value>(sum) : FailureOr<Value>(failure());
  }

  /// Sums over samples and output positions.
  FailureOr<Value> emitWeightGradient(amp::ConvWeightGradientOp op,
                                      ArrayRef<Value> at) {
    ConvWindow window(op);
    bool channelsLast = op.getLayout() == amp::Layout::ChannelsLast;
    ArrayRef<int64_t> gradient = shapeOf(op.getGradient());
    ArrayRef<int64_t> result = shapeOf(op.getResult());
    SmallVector<int64_t> space{gradient.front()};
    llvm::append_range(space, channelsLast ? gradient.drop_front().drop_back()
                                           : gradient.drop_front(2));
    int64_t positions = 1;
    for (int64_t size : space) {
      positions *= size;
    }
    Value group = arith::DivUIOp::create(
        e.b, e.loc, at[0],
        e.index(result[0] / static_cast<int64_t>(op.getGroup())));
    Value channel = e.addIndex(e.mulIndex(group, result[1]), at[1]);
    auto indexOf = [&](Value sample, Value c, ArrayRef<Value> position) {
      SmallVector<LaneIndex> index{{sample, 0}};
      if (!channelsLast) {
        index.push_back({c, 0});
      }
      for (Value p : position) {
        index.push_back({p, 0});
      }
      if (channelsLast) {
        index.push_back({c, 0});
      }
      return index;
    };
    bool ok = true;
    Value sum = e.forLoopCarried(
        e.index(0), e.index(positions), 1, ValueRange{zero()},
        [&](Value item, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> out = e.delinearize(item, space), in;
          Value inside;
          for (size_t i = 0; i < window.rank(); ++i) {
            in.push_back(window.locate(e, i, out[i + 1], at[i + 2], inside));
          }
          auto product = [&]() -> Value {
            auto g = ElementPuller(e, 1).get(
                op.getGradient(),
                indexOf(out[0], at[0], ArrayRef(out).drop_front()));
            auto x = ElementPuller(e, 1).get(op.getInput(),
                                             indexOf(out[0], channel, in));
            ok = ok && succeeded(g) && succeeded(x);
            return ok ? multiplyAdd(*g, *x, carried[0]) : carried[0];
          };
          if (!inside) {
            return {product()};
          }
          auto choice = scf::IfOp::create(e.b, e.loc, carried[0].getType(),
                                          inside, /*withElse=*/true);
          OpBuilder::InsertionGuard guard(e.b);
          e.b.setInsertionPointToStart(choice.elseBlock());
          scf::YieldOp::create(e.b, e.loc, carried[0]);
          e.b.setInsertionPointToStart(choice.thenBlock());
          scf::YieldOp::create(e.b, e.loc, product());
          return {choice.getResult(0)};
        })[0];
    return ok ? FailureOr<Value>(sum) : FailureOr<Value>(failure());
  }

  /// The input position a tap reads for the result position `at`, and whether
  /// there is one.
  Value locate(const Window &w, ArrayRef<Value> at, ArrayRef<Value> taps,
               SmallVector<Value> &position) {
    Value inside;
    for (size_t i = 0; i < w.rank(); ++i) {
      Value out = at[i + (w.channelsLast ? 1 : 2)];
      position.push_back(w.locate(e, i, out, taps[i], inside));
    }
    return inside
               ? inside
               : arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
  }

  KernelEmitter &e;
  Operation *root;
};

} // namespace

LogicalResult codegen::emitNaiveContraction(KernelEmitter &emitter,
                                            Operation *root) {
  return NaiveContraction(emitter, root).emit();
}
