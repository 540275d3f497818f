//===- Overrides.cpp - Types that the user asks for -----------------------===//
#include "passes/Precision/Overrides.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Precision/NodeNames.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

struct Overrides::Rule : Override {
  std::string subject;       ///< pattern as written, or operator
  std::string key;           ///< what equal subjects share
  llvm::GlobPattern pattern; ///< refers to the characters of `subject`
  bool isGlob = false;
  bool found = false; ///< it matched something
};

Overrides::Overrides() = default;
Overrides::Overrides(Overrides &&) = default;
Overrides &Overrides::operator=(Overrides &&) = default;
Overrides::~Overrides() = default;

const Override *Overrides::find(Operation *op) const { return held.lookup(op); }

namespace {
using Rule = Overrides::Rule;

/// Rules that match one operation and have equal standing.
using Matches = llvm::SmallSetVector<Rule *, 2>;

constexpr StringLiteral layerOption = "layer-precisions";
constexpr StringLiteral opOption = "op-precisions";

/// The rules of one source, ready to be looked up.
class RuleSet {
public:
  RuleSet(ModuleOp module, std::vector<std::unique_ptr<Rule>> &storage)
      : module(module), storage(storage) {}

  LogicalResult addLayers(ArrayRef<std::string> texts);
  LogicalResult addOps(ArrayRef<std::string> texts);

  /// The rules of the highest standing that match.
  Matches matchLayers(ArrayRef<NestedNode> nodes) const;
  Matches matchOps(Operation *op, ArrayRef<NestedNode> nodes) const;

  /// Reports the rules that matched nothing.
  LogicalResult checkAllFound(ArrayRef<StringRef> nodeNames,
                              ArrayRef<StringRef> operatorNames);

private:
  FailureOr<Rule *> read(StringRef option, StringRef text);
  LogicalResult index(StringRef option, Rule *rule, llvm::StringMap<Rule *> &);
  Matches matchWrittenOut(ArrayRef<NestedNode> nodes) const;
  void matchName(const OnnxNode &node, Matches &matches) const;
  Rule *findNamed(StringRef name) const;

  ModuleOp module;
  std::vector<std::unique_ptr<Rule>> &storage;
  llvm::StringMap<Rule *> layers, ops; ///< by key
  SmallVector<Rule *> allLayers, globs, allOps;
};
} // namespace

static FloatType parseType(MLIRContext *context, StringRef word) {
  return llvm::StringSwitch<FloatType>(word)
      .Cases({"fp32", "f32", "tf32"}, Float32Type::get(context))
      .Cases({"fp16", "f16"}, Float16Type::get(context))
      .Case("bf16", BFloat16Type::get(context))
      .Default({});
}

FailureOr<Rule *> RuleSet::read(StringRef option, StringRef text) {
  // A node's name may contain colons, a type does not.
  auto [subject, word] = text.rsplit(':');
  if (subject.empty() || word.empty()) {
    return module.emitError("expected NAME:TYPE in ")
           << option << ", got '" << text << "'";
  }
  if (word == "fp64" || word == "f64") {
    return module.emitError("cannot choose fp64 in ")
           << option << ", as '" << text
           << "' asks: a tensor is f64 where the model declares it, and "
              "nowhere else";
  }
  auto rule = std::make_unique<Rule>();
  rule->text = text.str();
  rule->subject = subject.str();
  rule->type = parseType(module.getContext(), word);
  rule->isTf32 = word == "tf32";
  if (!rule->type) {
    return module.emitError("expected one of fp32, tf32, fp16 and bf16 in ")
           << option << ", got '" << word << "' in '" << text << "'";
  }
  storage.push_back(std::move(rule));
  return storage.back().get();
}

/// Enters a rule by its key. Two for one subject are an error unless they say
/// the same.
LogicalResult RuleSet::index(StringRef option, Rule *rule,
                             llvm::StringMap<Rule *> &map) {
  auto [it, isNew] = map.try_emplace(rule->key, rule);
  const Rule *first = it->second;
  if (isNew || (first->type == rule->type && first->isTf32 == rule->isTf32)) {
    return success();
  }
  return module.emitError("contradictory rules in ")
         << option << ": '" << first->text << "' and '" << rule->text << "'";
}

LogicalResult RuleSet::addLayers(ArrayRef<std::string> texts) {
  for (StringRef text : texts) {
    FailureOr<Rule *> read = this->read(layerOption, text);
    if (failed(read)) {
      return failure();
    }
    Rule *rule = *read;
    rule->key = rule->subject;
    auto pattern = llvm::GlobPattern::create(rule->subject);
    if (!pattern) {
      return module.emitError("cannot read the pattern '")
             << rule->subject << "' of " << layerOption << ": "
             << llvm::toString(pattern.takeError());
    }
    rule->pattern = std::move(*pattern);
    rule->isGlob =
        StringRef(rule->subject).find_first_of("*?[\\") != StringRef::npos;
    if (failed(index(layerOption, rule, layers))) {
      return failure();
    }
    allLayers.push_back(rule);
    if (rule->isGlob) {
      globs.push_back(rule);
    }
  }
  return success();
}

LogicalResult RuleSet::addOps(ArrayRef<std::string> texts) {
  for (StringRef text : texts) {
    FailureOr<Rule *> rule = read(opOption, text);
    if (failed(rule)) {
      return failure();
    }
    (*rule)->key = normalizeOperator((*rule)->subject);
    if (failed(index(opOption, *rule, ops))) {
      return failure();
    }
    allOps.push_back(*rule);
  }
  return success();
}

/// Adds the rules whose pattern is the name or path of `node`.
void RuleSet::matchName(const OnnxNode &node, Matches &matches) const {
  for (StringRef name : {node.name, node.path}) {
    if (Rule *rule = layers.lookup(name)) {
      rule->found = true;
      matches.insert(rule);
    }
  }
}

/// The nodes' own names, else the names of the calls around each.
Matches RuleSet::matchWrittenOut(ArrayRef<NestedNode> nodes) const {
  Matches own, around;
  for (const NestedNode &nested : nodes) {
    matchName(nested.node, own);
    Matches innermost;
    for (const OnnxNode &call : nested.calls) {
      Matches ofCall;
      matchName(call, ofCall);
      if (innermost.empty()) {
        innermost = std::move(ofCall);
      }
    }
    around.insert_range(innermost);
  }
  return own.empty() ? around : own;
}

Matches RuleSet::matchLayers(ArrayRef<NestedNode> nodes) const {
  Matches matches;
  for (Rule *rule : globs) {
    auto fits = [&](const OnnxNode &node) {
      return rule->pattern.match(node.name) ||
             (!node.path.empty() && rule->pattern.match(node.path));
    };
    if (llvm::any_of(nodes, [&](const NestedNode &nested) {
          return fits(nested.node) || llvm::any_of(nested.calls, fits);
        })) {
      rule->found = true;
      matches.insert(rule);
    }
  }
  Matches writtenOut = matchWrittenOut(nodes);
  return writtenOut.empty() ? matches : writtenOut;
}

/// The rule for the operator or function `name`: with its domain, else without.
Rule *RuleSet::findNamed(StringRef name) const {
  Rule *rule = ops.lookup(normalizeOperator(name));
  if (!rule && name.contains("::")) {
    rule = ops.lookup(normalizeOperator(name.rsplit("::").second));
  }
  if (rule) {
    rule->found = true;
  }
  return rule;
}

Matches RuleSet::matchOps(Operation *op, ArrayRef<NestedNode> nodes) const {
  Matches functions, own;
  llvm::SmallSetVector<StringRef, 2> operators;
  for (const NestedNode &nested : nodes) {
    Rule *outermost = nullptr;
    for (const OnnxNode &call : nested.calls) {
      if (Rule *rule = findNamed(call.operatorName)) {
        outermost = rule;
      }
    }
    if (outermost) {
      functions.insert(outermost);
    }
    if (!nested.node.operatorName.empty()) {
      operators.insert(nested.node.operatorName);
    }
  }
  // An operation that does the work of different operators is none of them.
  Rule *ofNode = operators.size() == 1 ? findNamed(operators.front()) : nullptr;
  Rule *ofOp = findNamed(getOperatorName(op));
  if (Rule *rule = ofNode ? ofNode : ofOp) {
    own.insert(rule);
  }
  return functions.empty() ? own : functions;
}

LogicalResult RuleSet::checkAllFound(ArrayRef<StringRef> nodeNames,
                                     ArrayRef<StringRef> operatorNames) {
  for (const Rule *rule : allLayers) {
    // Of rules that say the same, the first one is found.
    if (!rule->found && !layers.lookup(rule->key)->found) {
      return module.emitError("no node matches '")
             << rule->subject << "' of " << layerOption
             << describeNearest(rule->subject, nodeNames);
    }
  }
  for (const Rule *rule : allOps) {
    if (!rule->found && !ops.lookup(rule->key)->found) {
      return module.emitError("no operator or function is '")
             << rule->subject << "' of " << opOption
             << describeNearest(rule->subject, operatorNames);
    }
  }
  return success();
}

/// The one rule of `matches`; null if there is none, an error if they
/// contradict each other.
static FailureOr<const Rule *> agree(Operation *op, const Matches &matches,
                                     StringRef option) {
  if (matches.empty()) {
    return nullptr;
  }
  const Rule *first = matches.front();
  for (const Rule *rule : matches) {
    if (rule->type == first->type && rule->isTf32 == first->isTf32) {
      continue;
    }
    InFlightDiagnostic error = op->emitError("'")
                               << first->text << "' and '" << rule->text
                               << "' of " << option << " both match this node";
    error.attachNote() << "hint: "
                       << (option == layerOption
                               ? "name the node without wildcards, narrow one "
                                 "of the patterns, or move the general one "
                                 "into a policy file"
                               : "name the node in layer-precisions, which "
                                 "goes before operators");
    return failure();
  }
  return first;
}

FailureOr<Overrides> Overrides::resolve(ModuleOp module,
                                        ArrayRef<RuleTexts> sources) {
  Overrides result;
  SmallVector<RuleSet> sets;
  for (const RuleTexts &source : sources) {
    if (source.layers.empty() && source.ops.empty()) {
      continue;
    }
    RuleSet &set = sets.emplace_back(module, result.rules);
    if (failed(set.addLayers(source.layers)) ||
        failed(set.addOps(source.ops))) {
      return failure();
    }
  }
  if (sets.empty()) {
    return result;
  }
  llvm::SetVector<StringRef> nodeNames, operatorNames;
  WalkResult walked = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<PrecisionOpInterface>(op)) {
      return WalkResult::advance();
    }
    SmallVector<NestedNode, 2> nodes = getNodes(op->getLoc());
    for (const NestedNode &nested : nodes) {
      nodeNames.insert(nested.node.name);
      if (!nested.node.operatorName.empty()) {
        operatorNames.insert(nested.node.operatorName);
      }
      for (const OnnxNode &call : nested.calls) {
        nodeNames.insert(call.name);
        operatorNames.insert(call.operatorName);
      }
    }
    operatorNames.insert(getOperatorName(op));
    for (RuleSet &set : sets) {
      Matches layers = set.matchLayers(nodes);
      Matches ops = set.matchOps(op, nodes);
      for (Matches *matches : {&layers, &ops}) {
        if (result.held.contains(op)) {
          continue; // a rule of higher standing holds
        }
        auto rule =
            agree(op, *matches, matches == &layers ? layerOption : opOption);
        if (failed(rule)) {
          return WalkResult::interrupt();
        }
        if (*rule) {
          result.held[op] = *rule;
        }
      }
    }
    return isa<amp::CompositeOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
  if (walked.wasInterrupted()) {
    return failure();
  }
  for (RuleSet &set : sets) {
    if (failed(set.checkAllFound(nodeNames.getArrayRef(),
                                 operatorNames.getArrayRef()))) {
      return failure();
    }
  }
  return result;
}
