//===- RaiseActivations.cpp - Decomposed activations to one op ------------===//
// An activation is written in many orders: x * 0.5 * (1 + erf(x / sqrt(2))),
// 0.5 * (x * (erf(x * 0.7071) + 1)), ... All are one polynomial in x and one
// transcendental value t, so the pattern compares polynomials, not trees.
#include "passes/Graph/Match.h"
#include "passes/Graph/RaisePatterns.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::graph;

namespace {
constexpr unsigned xDegrees = 4, tDegrees = 2;
/// Nesting and size of the expressions that are looked at.
constexpr unsigned maxDepth = 8, maxNodes = 32;

/// Coefficients of x^i t^j.
struct Polynomial {
  std::array<std::array<double, tDegrees>, xDegrees> at{};

  static Polynomial constant(double value) {
    Polynomial p;
    p.at[0][0] = value;
    return p;
  }
  bool isConstant() const {
    Polynomial rest = *this;
    rest.at[0][0] = 0.0;
    return rest.at == Polynomial().at;
  }
};

Polynomial sum(const Polynomial &a, const Polynomial &b, double factor) {
  Polynomial result = a;
  for (unsigned i = 0; i < xDegrees; ++i) {
    for (unsigned j = 0; j < tDegrees; ++j) {
      result.at[i][j] += factor * b.at[i][j];
    }
  }
  return result;
}

/// The product, unless its degree is too high.
std::optional<Polynomial> product(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  for (unsigned i = 0; i < xDegrees; ++i) {
    for (unsigned j = 0; j < tDegrees; ++j) {
      for (unsigned k = 0; k < xDegrees && a.at[i][j] != 0.0; ++k) {
        for (unsigned l = 0; l < tDegrees; ++l) {
          if (b.at[k][l] == 0.0) {
            continue;
          }
          if (i + k >= xDegrees || j + l >= tDegrees) {
            return std::nullopt;
          }
          result.at[i + k][j + l] += a.at[i][j] * b.at[k][l];
        }
      }
    }
  }
  return result;
}

bool isCloseTo(const Polynomial &p, const Polynomial &expected, Type element) {
  for (unsigned i = 0; i < xDegrees; ++i) {
    for (unsigned j = 0; j < tDegrees; ++j) {
      if (!isClose(p.at[i][j], expected.at[i][j], element)) {
        return false;
      }
    }
  }
  return true;
}

/// Reads expressions as polynomials in two of their values.
class PolynomialReader {
public:
  PolynomialReader(Value x, Value t) : x(x), t(t) {}

  /// `value` as a polynomial. Its recursion is bounded by maxDepth.
  std::optional<Polynomial> read(Value value, unsigned depth = 0) {
    Polynomial p;
    if (value == x) {
      p.at[1][0] = 1.0;
      return p;
    }
    if (value == t) {
      p.at[0][1] = 1.0;
      return p;
    }
    if (auto number = getScalarConstant(value)) {
      return Polynomial::constant(*number);
    }
    Operation *op = value.getDefiningOp();
    if (!op || value.getType() != x.getType() || depth == maxDepth ||
        ++nodes > maxNodes) {
      return std::nullopt;
    }
    return readOp(op, depth + 1);
  }

private:
  std::optional<Polynomial> readOp(Operation *op, unsigned depth) {
    if (!isa<AddOp, SubOp, MulOp, DivOp, NegOp, PowOp>(op)) {
      return std::nullopt;
    }
    auto lhs = read(op->getOperand(0), depth);
    if (isa<NegOp>(op)) {
      return lhs ? std::optional(sum(Polynomial(), *lhs, -1.0)) : std::nullopt;
    }
    auto rhs = lhs ? read(op->getOperand(1), depth) : std::nullopt;
    if (!rhs) {
      return std::nullopt;
    }
    if (isa<AddOp, SubOp>(op)) {
      return sum(*lhs, *rhs, isa<AddOp>(op) ? 1.0 : -1.0);
    }
    if (isa<MulOp>(op)) {
      return product(*lhs, *rhs);
    }
    double scalar = rhs->at[0][0];
    if (!rhs->isConstant()) {
      return std::nullopt;
    }
    if (isa<DivOp>(op)) {
      return scalar == 0.0 ? std::nullopt
                           : product(*lhs, Polynomial::constant(1.0 / scalar));
    }
    if (scalar != 2.0 && scalar != 3.0) {
      return std::nullopt;
    }
    auto square = product(*lhs, *lhs);
    return square && scalar == 3.0 ? product(*square, *lhs) : square;
  }

  Value x, t;
  unsigned nodes = 0;
};

//===----------------------------------------------------------------------===//
// The activations
//===----------------------------------------------------------------------===//

enum class Activation { GeluErf, GeluTanh, Silu, HardSwish, HardSigmoid };

/// An activation is `whole`, a polynomial in x and t, where t is a function of
/// `argument`, a polynomial in x.
struct Form {
  Activation activation;
  Polynomial argument, whole;
};

Polynomial linear(double slope, double offset) {
  Polynomial p = Polynomial::constant(offset);
  p.at[1][0] = slope;
  return p;
}

/// a x + b t + c x t
Polynomial mixed(double x, double t, double xt) {
  Polynomial p;
  p.at[1][0] = x;
  p.at[0][1] = t;
  p.at[1][1] = xt;
  return p;
}

/// The forms whose transcendental value is `t`.
SmallVector<Form, 2> formsOf(Operation *t) {
  constexpr double sixth = 1.0 / 6.0;
  if (isa<ErfOp>(t)) {
    return {{Activation::GeluErf, linear(std::sqrt(0.5), 0.0),
             mixed(0.5, 0.0, 0.5)}};
  }
  if (isa<TanhOp>(t)) {
    double factor = std::sqrt(2.0 / M_PI);
    Polynomial argument = linear(factor, 0.0);
    argument.at[3][0] = factor * 0.044715;
    return {{Activation::GeluTanh, argument, mixed(0.5, 0.0, 0.5)}};
  }
  if (isa<SigmoidOp>(t)) {
    return {{Activation::Silu, linear(1.0, 0.0), mixed(0.0, 0.0, 1.0)}};
  }
  if (auto clip = dyn_cast<ClipOp>(t)) {
    double min = clip.getMin().convertToDouble();
    double max = clip.getMax().convertToDouble();
    if (min == 0.0 && max == 6.0) {
      return {{Activation::HardSwish, linear(1.0, 3.0), mixed(0, 0, sixth)},
              {Activation::HardSigmoid, linear(1.0, 3.0), mixed(0, sixth, 0)}};
    }
    if (min == 0.0 && max == 1.0) {
      return {{Activation::HardSwish, linear(sixth, 0.5), mixed(0, 0, 1.0)}};
    }
  }
  if (auto hard = dyn_cast<HardSigmoidOp>(t)) {
    Type element = hard.getType().getElementType();
    if (isClose(hard.getAlpha().convertToDouble(), sixth, element) &&
        hard.getBeta().convertToDouble() == 0.5) {
      return {{Activation::HardSwish, linear(1.0, 0.0), mixed(0, 0, 1.0)}};
    }
  }
  return {};
}

/// The values near `root` in the order of their distance: those that arithmetic
/// of one shape computes it from.
SmallVector<Value> collectTerms(Value root) {
  SmallVector<Value> terms{root};
  for (size_t i = 0; i < terms.size() && terms.size() < maxNodes; ++i) {
    Operation *op = terms[i].getDefiningOp();
    if (!isa_and_nonnull<AddOp, SubOp, MulOp, DivOp, NegOp, PowOp>(op)) {
      continue;
    }
    for (Value operand : op->getOperands()) {
      if (operand.getType() == root.getType() &&
          !llvm::is_contained(terms, operand) && !getScalarConstant(operand)) {
        terms.push_back(operand);
      }
    }
  }
  return terms;
}

Operation *createActivation(PatternRewriter &rewriter, Location loc,
                            Activation activation, Value x) {
  Type type = x.getType();
  switch (activation) {
  case Activation::GeluErf:
    return GeluOp::create(rewriter, loc, type, x, GeluForm::Erf);
  case Activation::GeluTanh:
    return GeluOp::create(rewriter, loc, type, x, GeluForm::Tanh);
  case Activation::Silu:
    return SiluOp::create(rewriter, loc, type, x);
  case Activation::HardSwish:
    return HardSwishOp::create(rewriter, loc, type, x);
  case Activation::HardSigmoid:
    return HardSigmoidOp::create(rewriter, loc, type, x,
                                 rewriter.getF64FloatAttr(1.0 / 6.0),
                                 rewriter.getF64FloatAttr(0.5));
  }
  llvm_unreachable("unknown activation");
}

/// Roots are products and quotients: every form ends in one.
template <typename OpT>
struct RaiseActivation : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Type element = op.getType().getElementType();
    for (Value t : collectTerms(op.getResult())) {
      Operation *function = t.getDefiningOp();
      for (const Form &form :
           function ? formsOf(function) : SmallVector<Form, 2>()) {
        for (Value x : collectTerms(function->getOperand(0))) {
          auto argument =
              PolynomialReader(x, Value()).read(function->getOperand(0));
          auto whole = PolynomialReader(x, t).read(op.getResult());
          if (argument && isCloseTo(*argument, form.argument, element) &&
              whole && isCloseTo(*whole, form.whole, element)) {
            rewriter.replaceOp(op,
                               createActivation(rewriter, fuseLocations(op, x),
                                                form.activation, x));
            return success();
          }
        }
      }
    }
    return rewriter.notifyMatchFailure(op, "no known activation");
  }
};

//===----------------------------------------------------------------------===//
// Sigmoid
//===----------------------------------------------------------------------===//

/// 1 / (1 + exp(-x)), as a quotient or a reciprocal.
struct RaiseSigmoid {
  static Value match(Value denominator) {
    auto sum = matchWithScalar<AddOp>(denominator);
    auto exp =
        sum && sum->scalar == 1.0 ? sum->value.getDefiningOp<ExpOp>() : ExpOp();
    auto negation = exp ? exp.getInput().getDefiningOp<NegOp>() : NegOp();
    return negation ? negation.getInput() : Value();
  }

  static LogicalResult rewrite(Operation *op, Value denominator,
                               PatternRewriter &rewriter) {
    Value x = match(denominator);
    if (!x || x.getType() != op->getResult(0).getType()) {
      return rewriter.notifyMatchFailure(op, "no 1 + exp(-x)");
    }
    Operation *sigmoid =
        SigmoidOp::create(rewriter, fuseLocations(op, x), x.getType(), x);
    rewriter.replaceOp(op, sigmoid);
    return success();
  }
};

struct RaiseReciprocalSigmoid : OpRewritePattern<ReciprocalOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReciprocalOp op,
                                PatternRewriter &rewriter) const override {
    return RaiseSigmoid::rewrite(op, op.getInput(), rewriter);
  }
};

/// 1 / (1 + exp(-x)) and x / (1 + exp(-x)).
struct RaiseQuotientSigmoid : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op,
                                PatternRewriter &rewriter) const override {
    if (getScalarConstant(op.getLhs()) == 1.0) {
      return RaiseSigmoid::rewrite(op, op.getRhs(), rewriter);
    }
    Value x = RaiseSigmoid::match(op.getRhs());
    if (!x || x != op.getLhs()) {
      return rewriter.notifyMatchFailure(op, "no x / (1 + exp(-x))");
    }
    Operation *silu =
        SiluOp::create(rewriter, fuseLocations(op, x), x.getType(), x);
    rewriter.replaceOp(op, silu);
    return success();
  }
};
} // namespace

void graph::populateRaiseActivationPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseActivation<MulOp>, RaiseActivation<DivOp>,
               RaiseReciprocalSigmoid, RaiseQuotientSigmoid>(
      patterns.getContext());
}
