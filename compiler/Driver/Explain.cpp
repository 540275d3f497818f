//===- Explain.cpp - Why each node has its precision ----------------------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Import/Import.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Precision/NodeNames.h"
#include "passes/Precision/Report.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using ampc::precision::CastDecision;
using ampc::precision::CastUse;
using ampc::precision::OpDecision;
using ampc::precision::Report;

namespace ampc::driver {

namespace {

/// What became of a node, as far as one phase knows.
enum class Fate { Operation, Constant };

/// The nodes that the operations of a module stand for. A node that has an
/// operation is no constant, though it may have one as well. The context keeps
/// the names.
using NodeFates = MapVector<StringRef, Fate>;

/// A node that no decision was made for, and why.
struct AbsentNode {
  std::string name, reason;
};

/// Explains the nodes that a name, path or glob of the command line means.
class Explainer {
public:
  Explainer(Compilation &compilation)
      : compilation(compilation), options(compilation.getOptions()),
        sink(compilation.getSink()) {}

  LogicalResult run();

private:
  LogicalResult compile();
  LogicalResult choose();
  void addAbsent(StringRef name);
  bool matches(ArrayRef<std::string> names, ArrayRef<std::string> paths) const;
  void print(const OpDecision &op) const;
  std::string suggest(const OpDecision &op) const;
  json::Value toJson() const;

  Compilation &compilation;
  const Options &options;
  DiagnosticSink &sink;
  std::vector<std::string> modelNodes; ///< as the model has them
  NodeFates imported, simplified;      ///< after the first two phases
  const Report *report = nullptr;
  GlobPattern pattern;
  std::vector<const OpDecision *> ops;
  std::vector<AbsentNode> absent;
};

} // namespace

static NodeFates collectFates(mlir::ModuleOp module) {
  NodeFates fates;
  module.walk([&](mlir::Operation *op) {
    Fate fate = op->hasTrait<mlir::OpTrait::ConstantLike>() ? Fate::Constant
                                                            : Fate::Operation;
    for (const precision::NestedNode &node :
         precision::getNodes(op->getLoc())) {
      auto [it, isNew] = fates.try_emplace(node.node.name, fate);
      if (!isNew && fate == Fate::Operation) {
        it->second = fate;
      }
    }
  });
  return fates;
}

LogicalResult Explainer::compile() {
  if (failed(compilation.open()) || failed(compilation.run(Phase::Import))) {
    return failure();
  }
  if (compilation.getModel()) {
    modelNodes = importer::listNodeNames(*compilation.getModel());
  }
  imported = collectFates(compilation.getModule());
  if (failed(compilation.run(Phase::Graph))) {
    return failure();
  }
  simplified = collectFates(compilation.getModule());
  if (failed(compilation.run(Phase::Precision))) {
    return failure();
  }
  report = compilation.getPrecisionReport();
  if (!report) {
    return sink.error(ExitCode::Usage,
                      "the model is past the precision phase: nothing is "
                      "decided any more");
  }
  return success();
}

bool Explainer::matches(ArrayRef<std::string> names,
                        ArrayRef<std::string> paths) const {
  auto fits = [&](StringRef name) {
    return name == options.node || pattern.match(name);
  };
  return any_of(names, fits) || any_of(paths, fits);
}

/// Says why no decision was made for a node that the model has.
void Explainer::addAbsent(StringRef name) {
  auto later = simplified.find(name);
  auto sooner = imported.find(name);
  std::string reason;
  if (later != simplified.end() && later->second == Fate::Operation) {
    reason = "has no float operand that autocast may cast: it keeps the types "
             "of the model";
  } else if (later != simplified.end()) {
    reason = "is a constant now: its operands are known, so it is computed "
             "when compiling";
  } else if (sooner != imported.end()) {
    reason = "does not exist any more: the graph phase merged it into its "
             "neighbours, or found that it changes nothing or that nothing "
             "needs its result";
  } else {
    reason = "does not exist any more: the importer found that it changes "
             "nothing, that its result is known, or that nothing needs it";
  }
  absent.push_back({name.str(), std::move(reason)});
}

LogicalResult Explainer::choose() {
  Expected<GlobPattern> created = GlobPattern::create(options.node);
  if (!created) {
    return sink.error(ExitCode::Usage,
                      "expected a node name or glob, got '" + options.node +
                          "': " + toString(created.takeError()));
  }
  pattern = std::move(*created);
  StringSet<> decided;
  SetVector<StringRef> known;
  for (const OpDecision &op : report->ops) {
    known.insert_range(op.nodes);
    for (StringRef name : op.nodes) {
      decided.insert(name);
    }
    if (matches(op.nodes, op.paths)) {
      ops.push_back(&op);
    }
  }
  StringSet<> seen;
  auto visit = [&](StringRef name) {
    known.insert(name);
    if (!decided.contains(name) && seen.insert(name).second &&
        (name == options.node || pattern.match(name))) {
      addAbsent(name);
    }
  };
  for_each(modelNodes, visit);
  // A model given as MLIR has no other list.
  if (modelNodes.empty()) {
    for (const auto &[name, fate] : imported) {
      visit(name);
    }
  }
  if (ops.empty() && absent.empty()) {
    return sink.error(
        ExitCode::Usage,
        "no node is named '" + options.node + "'" +
            precision::describeNearest(options.node, known.getArrayRef()),
        "ampc explain MODEL lists all nodes");
  }
  return success();
}

/// "a", "a+b", "a +8 more".
static std::string joinNames(ArrayRef<std::string> names) {
  if (names.size() > 2) {
    return names.front() + " +" + std::to_string(names.size() - 1) + " more";
  }
  return names.empty() ? "a value without a name" : join(names, "+");
}

/// "'a'" or "'a' and 3 more".
static std::string describeUses(ArrayRef<CastUse> uses) {
  std::string text = uses.empty() ? "nothing"
                     : uses.front().nodes.empty()
                         ? uses.front().op
                         : "'" + joinNames(uses.front().nodes) + "'";
  if (uses.size() > 1) {
    text += " and " + std::to_string(uses.size() - 1) + " more";
  }
  return text;
}

/// Whether two operations share a place in the graph; without paths, a name.
static bool areSame(ArrayRef<std::string> paths, ArrayRef<std::string> names,
                    const OpDecision &op) {
  auto meet = [](ArrayRef<std::string> lhs, ArrayRef<std::string> rhs) {
    return any_of(lhs, [&](StringRef name) { return is_contained(rhs, name); });
  };
  return op.paths.empty() ? meet(names, op.nodes) : meet(paths, op.paths);
}

static void printCast(const CastDecision &cast, const Twine &what) {
  outs() << "  " << what << ": " << cast.from << " -> " << cast.to << ", "
         << cast.bytes << " bytes"
         << (cast.ofConstant ? " when the program is written" : "") << "; "
         << cast.reason << '\n';
}

/// The option that would give the operation another type; empty where none
/// does.
std::string Explainer::suggest(const OpDecision &op) const {
  using precision::Rule;
  if (op.rule == Rule::Pinned || op.nodes.empty()) {
    return "";
  }
  if (op.rule == Rule::Override) {
    return "drop the rule, or name the node in --layer-precisions, which goes "
           "before globs and operators";
  }
  bool is16 = op.type == "f16" || op.type == "bf16";
  StringRef low = StringRef(options.amp).ends_with("fp16") ? "fp16" : "bf16";
  // A name with wildcards would be read as a pattern.
  StringRef name = op.nodes.front();
  if (name.find_first_of("*?[\\,'") != StringRef::npos && !op.paths.empty()) {
    name = op.paths.front();
  }
  return ("--layer-precisions='" + name + ":" + (is16 ? "fp32" : low) + "'")
      .str();
}

void Explainer::print(const OpDecision &op) const {
  outs() << joinNames(op.nodes);
  if (!op.paths.empty()) {
    outs() << " (" << joinNames(op.paths) << ")";
  }
  outs() << '\n';
  if (op.nodes.size() > 1) {
    outs() << "  one operation for " << op.nodes.size()
           << " nodes: " << join(op.nodes, ", ") << '\n';
  }
  outs() << "  operator: " << op.op << ", class "
         << stringifyAutocastClass(op.autocastClass) << '\n'
         << "  type: " << op.type
         << (op.result != op.type ? ", returns " + op.result : "") << '\n'
         << "  rule: " << stringifyRule(op.rule) << ": " << op.reason << '\n';
  for (const CastDecision &cast : report->casts) {
    for (const CastUse &use : cast.uses) {
      if (areSame(use.paths, use.nodes, op) && use.op == op.op) {
        printCast(cast, "operand " + Twine(use.operand) + ", cast of '" +
                            joinNames(cast.producer) + "'");
      }
    }
  }
  for (const CastDecision &cast : report->casts) {
    if (areSame(cast.producerPaths, cast.producer, op)) {
      printCast(cast, "result, cast for " + describeUses(cast.uses));
    }
  }
  std::string change = suggest(op);
  if (!change.empty()) {
    outs() << "  to change it: " << change << '\n';
  }
}

json::Value Explainer::toJson() const {
  Report chosen;
  chosen.policy = report->policy;
  for (const OpDecision *op : ops) {
    chosen.ops.push_back(*op);
  }
  copy_if(report->casts, std::back_inserter(chosen.casts),
          [&](const CastDecision &cast) {
            return any_of(ops, [&](const OpDecision *op) {
              return areSame(cast.producerPaths, cast.producer, *op) ||
                     any_of(cast.uses, [&](const CastUse &use) {
                       return areSame(use.paths, use.nodes, *op);
                     });
            });
          });
  json::Value value = chosen.toJson();
  json::Object &object = *value.getAsObject();
  json::Array changes, missing;
  for (const OpDecision *op : ops) {
    changes.push_back(json::fixUTF8(suggest(*op)));
  }
  for (const AbsentNode &node : absent) {
    missing.push_back(json::Object{{"node", json::fixUTF8(node.name)},
                                   {"reason", node.reason}});
  }
  object["changes"] = std::move(changes);
  object["absent"] = std::move(missing);
  return value;
}

LogicalResult Explainer::run() {
  if (failed(compile())) {
    return failure();
  }
  if (options.node.empty()) {
    if (options.json) {
      outs() << formatv("{0:2}\n", report->toJson());
    } else {
      report->print(outs());
    }
    return success();
  }
  if (failed(choose())) {
    return failure();
  }
  if (options.json) {
    outs() << formatv("{0:2}\n", toJson());
    return success();
  }
  for (const OpDecision *op : ops) {
    print(*op);
  }
  for (const AbsentNode &node : absent) {
    outs() << node.name << "\n  " << node.reason << '\n';
  }
  return success();
}

LogicalResult explainCommand(const Options &options, DiagnosticSink &sink) {
  Compilation compilation(options, sink);
  return Explainer(compilation).run();
}

} // namespace ampc::driver
