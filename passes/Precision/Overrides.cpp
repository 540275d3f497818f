//===- Overrides.cpp - Types that the user asks for -----------------------===//
#include "passes/Precision/Overrides.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "llvm/ADT/SetVector.h"

#include <array>

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

namespace {
/// Names in order, each once.
using NameSet = llvm::SmallSetVector<StringRef, 2>;

/// Collects the names of `loc` by level: those of nodes, their paths, their
/// operators.
void collectNames(Location loc, std::array<NameSet, 3> &levels, size_t level) {
  if (level == levels.size()) {
    return;
  }
  if (auto name = dyn_cast<NameLoc>(loc)) {
    levels[level].insert(name.getName().getValue());
    collectNames(name.getChildLoc(), levels, level + 1);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations()) {
      collectNames(part, levels, level);
    }
  }
}

/// "LayerNormalization", "layer_norm" -> "layernorm".
std::string normalizeOperator(StringRef name) {
  std::string text;
  name.consume_back("alization");
  llvm::copy_if(name.lower(), std::back_inserter(text),
                [](char c) { return c != '_'; });
  return text;
}
} // namespace

NodeNames precision::getNodeNames(Location loc) {
  std::array<NameSet, 3> levels;
  collectNames(loc, levels, 0);
  return {levels[0].takeVector(), levels[1].takeVector(),
          levels[2].takeVector()};
}

bool precision::isOperator(Operation *op, StringRef name) {
  std::string wanted = normalizeOperator(name);
  if (normalizeOperator(getOperatorName(op)) == wanted) {
    return true;
  }
  NodeNames nodes = getNodeNames(op->getLoc());
  return nodes.operators.size() == 1 &&
         normalizeOperator(nodes.operators.front()) == wanted;
}

StringRef precision::getOperatorName(Operation *op) {
  if (auto composite = dyn_cast<amp::CompositeOp>(op)) {
    return composite.getName();
  }
  return op->getName().stripDialect();
}

static FloatType parseType(MLIRContext *context, StringRef word) {
  if (word == "fp32" || word == "f32") {
    return Float32Type::get(context);
  }
  if (word == "fp16" || word == "f16") {
    return Float16Type::get(context);
  }
  if (word == "bf16") {
    return BFloat16Type::get(context);
  }
  return {};
}

/// ", nearest are 'a', 'b'": those of `names` with the least edit distance.
static std::string describeNearest(StringRef wanted,
                                   ArrayRef<StringRef> names) {
  SmallVector<std::pair<unsigned, StringRef>> ranked;
  for (StringRef name : names) {
    ranked.emplace_back(wanted.edit_distance(name), name);
  }
  llvm::sort(ranked);
  std::string text;
  for (auto [distance, name] : ArrayRef(ranked).take_front(3)) {
    text += (text.empty() ? "; nearest: '" : ", '") + name.str() + "'";
  }
  return text;
}

LogicalResult Overrides::parseRules(ModuleOp module, StringRef option,
                                    ArrayRef<std::string> texts, Rules &rules) {
  for (const std::string &text : texts) {
    // A node's name may contain colons, a type does not.
    auto [subject, word] = StringRef(text).rsplit(':');
    if (subject.empty() || word.empty()) {
      return module.emitError("expected NAME:TYPE in ")
             << option << ", got '" << text << "'";
    }
    FloatType type = parseType(module.getContext(), word);
    if (!type) {
      return module.emitError("expected one of fp32, fp16 and bf16 in ")
             << option << ", got '" << word << "' in '" << text << "'";
    }
    auto rule = std::make_unique<Rule>();
    rule->text = text;
    rule->subject = subject.str();
    rule->type = type;
    auto pattern = llvm::GlobPattern::create(rule->subject);
    if (!pattern) {
      return module.emitError("cannot read the pattern '")
             << subject << "' of " << option << ": "
             << llvm::toString(pattern.takeError());
    }
    rule->pattern = std::move(*pattern);
    rules.push_back(std::move(rule));
  }
  return success();
}

FailureOr<Overrides> Overrides::parse(ModuleOp module,
                                      ArrayRef<std::string> layers,
                                      ArrayRef<std::string> ops) {
  Overrides result;
  if (failed(parseRules(module, "layer-precisions", layers, result.layers)) ||
      failed(parseRules(module, "op-precisions", ops, result.ops))) {
    return failure();
  }
  if (layers.empty() && ops.empty()) {
    return result;
  }
  llvm::SetVector<StringRef> nodes, operators;
  llvm::DenseSet<const Rule *> found;
  module.walk<WalkOrder::PreOrder>([&](PrecisionOpInterface op) {
    NodeNames names = getNodeNames(op.getLoc());
    nodes.insert_range(names.names);
    operators.insert(getOperatorName(op));
    for (const auto &rule : result.ops) {
      if (isOperator(op, rule->subject)) {
        found.insert(rule.get());
      }
    }
    return isa<amp::CompositeOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
  for (size_t i = 0; i < result.layers.size(); ++i) {
    const Rule &rule = *result.layers[i];
    bool isGlob =
        StringRef(rule.subject).find_first_of("*?[{\\") != StringRef::npos;
    if (isGlob) {
      result.globLayers.push_back(i);
    } else {
      result.exactLayers[rule.subject] = i;
    }
    bool matches = isGlob ? llvm::any_of(nodes,
                                         [&](StringRef name) {
                                           return rule.pattern.match(name);
                                         })
                          : nodes.contains(rule.subject);
    if (!matches) {
      return module.emitError("no node matches '")
             << rule.subject << "' of layer-precisions"
             << describeNearest(rule.subject, nodes.getArrayRef());
    }
  }
  for (const auto &rule : result.ops) {
    if (!found.contains(rule.get())) {
      return module.emitError("no operator is '")
             << rule->subject << "' of op-precisions"
             << describeNearest(rule->subject, operators.getArrayRef());
    }
  }
  return result;
}

FloatType Overrides::find(Operation *op, StringRef &text) const {
  if (!layers.empty()) {
    NodeNames nodes = getNodeNames(op->getLoc());
    std::optional<size_t> last;
    for (StringRef name : nodes.names) {
      auto it = exactLayers.find(name);
      if (it != exactLayers.end()) {
        last = std::max(last.value_or(0), it->second);
      }
    }
    for (size_t i : llvm::reverse(globLayers)) {
      if (last && i < *last) {
        break;
      }
      if (llvm::any_of(nodes.names, [&](StringRef name) {
            return layers[i]->pattern.match(name);
          })) {
        last = i;
        break;
      }
    }
    if (last) {
      text = layers[*last]->text;
      return layers[*last]->type;
    }
  }
  for (const auto &rule : llvm::reverse(ops)) {
    if (isOperator(op, rule->subject)) {
      text = rule->text;
      return rule->type;
    }
  }
  return {};
}
