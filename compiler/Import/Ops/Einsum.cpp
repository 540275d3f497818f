//===- Einsum.cpp - Einstein summation as products, sums and transposes ---===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

namespace ampc::importer {
namespace {

/// One index of an equation: a letter, or below zero a dimension of the
/// ellipsis (-1 is its last).
using Label = int;
using Labels = SmallVector<Label>;

struct Equation {
  SmallVector<Labels> inputs;
  Labels output;
};

/// A tensor and the label of each of its dimensions.
struct Term {
  Value value;
  Labels labels;
};

bool contains(ArrayRef<Label> labels, Label label) {
  return llvm::is_contained(labels, label);
}

/// Parses one term; an ellipsis stands for `ellipsisRank` dimensions.
std::optional<Labels> parseTerm(StringRef text, int64_t ellipsisRank) {
  Labels labels;
  bool hasEllipsis = false;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      if (hasEllipsis) {
        return std::nullopt;
      }
      hasEllipsis = true;
      for (int64_t i = ellipsisRank; i > 0; --i) {
        labels.push_back(static_cast<Label>(-i));
      }
      continue;
    }
    if (!llvm::isAlpha(text.front())) {
      return std::nullopt;
    }
    labels.push_back(text.front());
    text = text.drop_front();
  }
  return labels;
}

/// The ellipsis' dimensions, then in order the letters that occur once.
Labels inferOutput(ArrayRef<Labels> inputs, int64_t ellipsisRank) {
  std::map<Label, unsigned> counts;
  for (const Labels &labels : inputs) {
    for (Label label : labels) {
      ++counts[label];
    }
  }
  Labels output;
  for (int64_t i = ellipsisRank; i > 0; --i) {
    output.push_back(static_cast<Label>(-i));
  }
  for (auto [label, count] : counts) {
    if (label > 0 && count == 1) {
      output.push_back(label);
    }
  }
  return output;
}

class EinsumBuilder {
public:
  EinsumBuilder(Node &n, const Equation &equation) : n(n), equation(equation) {}

  Value build(ArrayRef<Value> operands);

private:
  Term takeDiagonals(Term term);
  Term sumAway(Term term, ArrayRef<Label> kept);
  Term arrange(Term term, ArrayRef<Label> order);
  Term multiply(Term lhs, Term rhs, ArrayRef<Label> kept);
  int64_t size(const Term &term, Label label) {
    return n.shape(
        term.value)[llvm::find(term.labels, label) - term.labels.begin()];
  }

  Node &n;
  const Equation &equation;
};

} // namespace

/// The dimensions of `term` in the order of `order`, which names them all.
Term EinsumBuilder::arrange(Term term, ArrayRef<Label> order) {
  SmallVector<int64_t> permutation;
  for (Label label : order) {
    permutation.push_back(llvm::find(term.labels, label) - term.labels.begin());
  }
  return {n.transpose(term.value, permutation), Labels(order)};
}

/// A label that stands twice picks the diagonal: of the two dimensions brought
/// together and flattened, every (n + 1)-th element.
Term EinsumBuilder::takeDiagonals(Term term) {
  for (size_t i = 0; term.value && i < term.labels.size(); ++i) {
    Label label = term.labels[i];
    auto rest = ArrayRef(term.labels).drop_front(i + 1);
    size_t second = llvm::find(rest, label) - rest.begin() + i + 1;
    if (second == term.labels.size()) {
      continue;
    }
    int64_t dim = n.shape(term.value)[i];
    if (n.shape(term.value)[second] != dim) {
      (void)n.invalid("a repeated index has two sizes");
      return {};
    }
    SmallVector<int64_t> permutation;
    Labels labels;
    for (size_t j = 0; j < term.labels.size(); ++j) {
      if (j != i && j != second) {
        permutation.push_back(j);
        labels.push_back(term.labels[j]);
      }
    }
    permutation.append({static_cast<int64_t>(i), static_cast<int64_t>(second)});
    Value moved = n.transpose(term.value, permutation);
    SmallVector<int64_t> shape(n.shape(moved));
    shape.pop_back();
    shape.back() = dim * dim;
    Value flat = n.reshape(moved, shape);
    labels.push_back(label);
    term = {n.sliceDim(flat, labels.size() - 1, 0, dim, dim + 1), labels};
    i = static_cast<size_t>(-1); // positions have changed
  }
  return term;
}

Term EinsumBuilder::sumAway(Term term, ArrayRef<Label> kept) {
  SmallVector<int64_t> axes;
  Labels labels;
  for (auto [i, label] : llvm::enumerate(term.labels)) {
    if (contains(kept, label)) {
      labels.push_back(label);
    } else {
      axes.push_back(i);
    }
  }
  if (axes.empty()) {
    return term;
  }
  return {n.reduceSum(term.value, axes, /*keepdims=*/false), labels};
}

/// The product of two terms, summed over what both have and `kept` lacks.
Term EinsumBuilder::multiply(Term lhs, Term rhs, ArrayRef<Label> kept) {
  if (!lhs.value || !rhs.value) {
    return {};
  }
  Labels batch, summed, left, right;
  for (Label label : lhs.labels) {
    if (!contains(rhs.labels, label)) {
      left.push_back(label);
    } else if (contains(kept, label)) {
      batch.push_back(label);
    } else {
      summed.push_back(label);
    }
  }
  llvm::copy_if(rhs.labels, std::back_inserter(right),
                [&](Label label) { return !contains(lhs.labels, label); });
  auto join = [](std::initializer_list<ArrayRef<Label>> parts) {
    Labels all;
    for (ArrayRef<Label> part : parts) {
      all.append(part.begin(), part.end());
    }
    return all;
  };
  Term a = arrange(lhs, join({batch, left, summed}));
  Term b = arrange(rhs, join({batch, summed, right}));
  SmallVector<int64_t> batchA, batchB, sizes;
  for (Label label : batch) {
    batchA.push_back(size(a, label));
    batchB.push_back(size(b, label));
  }
  auto batchShape = amp::broadcastShapes(batchA, batchB);
  if (!batchShape) {
    (void)n.invalid("an index has two sizes");
    return {};
  }
  sizes = *batchShape;
  auto product = [&](const Term &term, ArrayRef<Label> labels) {
    int64_t result = 1;
    for (Label label : labels) {
      result *= size(term, label);
    }
    return result;
  };
  auto shapeOf = [&](ArrayRef<int64_t> prefix, int64_t rows, int64_t columns) {
    SmallVector<int64_t> shape(prefix);
    shape.append({rows, columns});
    return shape;
  };
  for (Label label : left) {
    sizes.push_back(size(a, label));
  }
  for (Label label : right) {
    sizes.push_back(size(b, label));
  }
  int64_t m = product(a, left), k = product(a, summed), c = product(b, right);
  Value x = n.reshape(a.value, shapeOf(batchA, m, k));
  Value y = n.reshape(b.value, shapeOf(batchB, k, c));
  // Without a sum, [m, 1] times [1, c] is a broadcast product.
  Value result = summed.empty()
                     ? n.build<amp::MulOp>(x, y)
                     : n.build<amp::MatmulOp>(x, y, Value(), false, false);
  return {n.reshape(result, sizes), join({batch, left, right})};
}

Value EinsumBuilder::build(ArrayRef<Value> operands) {
  Term result;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Labels later(equation.output);
    for (const Labels &labels : ArrayRef(equation.inputs).drop_front(i + 1)) {
      later.append(labels.begin(), labels.end());
    }
    Labels needed(later);
    needed.append(result.labels.begin(), result.labels.end());
    Term term = sumAway(takeDiagonals({operand, equation.inputs[i]}), needed);
    if (i == 0) {
      result = term;
      continue;
    }
    Labels kept(later);
    kept.append(term.labels.begin(), term.labels.end());
    result = multiply(sumAway(result, kept), term, later);
  }
  for (Label label : equation.output) {
    if (result.value && !contains(result.labels, label)) {
      (void)n.invalid("an output index stands in no input");
      return {};
    }
  }
  return result.value ? arrange(result, equation.output).value : Value();
}

/// Whether the equation is one matrix product with nothing summed before: then
/// its parts have the class of the whole.
static bool isPlainProduct(const Equation &equation) {
  if (equation.inputs.size() != 2) {
    return false;
  }
  bool hasSum = false;
  for (unsigned side : {0u, 1u}) {
    const Labels &own = equation.inputs[side];
    const Labels &other = equation.inputs[1 - side];
    for (auto [i, label] : llvm::enumerate(own)) {
      bool isRepeated = contains(ArrayRef(own).drop_front(i + 1), label);
      bool isKept = contains(equation.output, label);
      if (isRepeated || (!isKept && !contains(other, label))) {
        return false;
      }
      hasSum |= !isKept;
    }
  }
  return hasSum;
}

static std::optional<Equation> parseEquation(Node &n) {
  std::string text = n.attrs.getString("equation", "");
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  bool hasArrow = StringRef(text).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != n.numInputs()) {
    (void)n.invalid("its equation has " + Twine(terms.size()) + " terms for " +
                    Twine(n.numInputs()) + " inputs");
    return std::nullopt;
  }
  Equation equation;
  int64_t widest = 0;
  for (auto [i, term] : llvm::enumerate(terms)) {
    auto letters =
        llvm::count_if(term, [](char c) { return llvm::isAlpha(c); });
    int64_t rank = n.rank(n.in(i)), rest = rank - letters;
    bool hasEllipsis = term.contains("...");
    auto labels = parseTerm(term, std::max<int64_t>(rest, 0));
    if (!labels || rest < 0 || (!hasEllipsis && rest != 0)) {
      (void)n.invalid("cannot apply term '" + printableName(term) +
                      "' to a tensor of rank " + Twine(rank));
      return std::nullopt;
    }
    widest = hasEllipsis ? std::max(widest, rest) : widest;
    equation.inputs.push_back(*labels);
  }
  auto output = hasArrow ? parseTerm(right, widest)
                         : inferOutput(equation.inputs, widest);
  if (!output) {
    (void)n.invalid("cannot read its equation '" + printableName(text) + "'");
    return std::nullopt;
  }
  equation.output = *output;
  return equation;
}

static LogicalResult convertEinsum(Node &n) {
  auto equation = parseEquation(n);
  if (!equation) {
    return failure();
  }
  EinsumBuilder builder(n, *equation);
  SmallVector<Value> operands = n.allInputs();
  if (isPlainProduct(*equation)) {
    n.set(0, builder.build(operands));
    return success();
  }
  n.set(0, n.composite1(operands,
                        [&](ArrayRef<Value> in) { return builder.build(in); }));
  return success();
}

void addEinsumOps(OpTable &table) {
  table.add({{"Einsum", convertEinsum, AutocastClass::Lower, 1, anyNumber}});
}

} // namespace ampc::importer
