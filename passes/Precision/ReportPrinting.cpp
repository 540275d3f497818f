//===- ReportPrinting.cpp - The decisions as JSON and as a table ----------===//
#include "passes/Precision/Report.h"

#include "passes/Precision/Constants.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

static llvm::json::Array toArray(const std::vector<std::string> &texts) {
  llvm::json::Array array;
  for (const std::string &text : texts) {
    array.push_back(llvm::json::fixUTF8(text));
  }
  return array;
}

/// "a", "a+b", "a +8 more": a raised operation stands for many nodes.
static std::string join(const std::vector<std::string> &names) {
  if (names.size() > 2) {
    return names.front() + " +" + std::to_string(names.size() - 1) + " more";
  }
  return names.empty() ? "-" : llvm::join(names, "+");
}

/// What a narrowing cast of a constant loses; nullopt for any other cast, and
/// where the data cannot be read.
static std::optional<NarrowingLoss> measure(const CastDecision &cast) {
  if (!cast.constant) {
    return cast.computedLoss;
  }
  MLIRContext *context = cast.constant.getContext();
  if (cast.to == "f16") {
    return measureNarrowing(cast.constant, Float16Type::get(context));
  }
  if (cast.to == "bf16") {
    return measureNarrowing(cast.constant, BFloat16Type::get(context));
  }
  return std::nullopt;
}

/// How many operations compute on each type, in order of first appearance.
static llvm::MapVector<StringRef, int64_t>
countTypes(const std::vector<OpDecision> &ops) {
  llvm::MapVector<StringRef, int64_t> counts;
  for (const OpDecision &op : ops) {
    ++counts[op.type];
  }
  return counts;
}

static llvm::json::Object toJson(const OpDecision &op) {
  llvm::json::Array operands;
  for (const OperandDecision &operand : op.operands) {
    operands.push_back(operand.type);
  }
  return llvm::json::Object{{"nodes", toArray(op.nodes)},
                            {"paths", toArray(op.paths)},
                            {"op", op.op},
                            {"function", op.function},
                            {"class", stringifyAutocastClass(op.autocastClass)},
                            {"rule", stringifyRule(op.rule)},
                            {"reason", llvm::json::fixUTF8(op.reason)},
                            {"type", op.type},
                            {"result", op.result},
                            {"operands", std::move(operands)}};
}

static llvm::json::Object toJson(const CastDecision &cast) {
  llvm::json::Array uses;
  for (const CastUse &use : cast.uses) {
    uses.push_back(llvm::json::Object{{"nodes", toArray(use.nodes)},
                                      {"paths", toArray(use.paths)},
                                      {"op", use.op},
                                      {"operand", use.operand}});
  }
  return llvm::json::Object{{"value", toArray(cast.producer)},
                            {"value_paths", toArray(cast.producerPaths)},
                            {"from", cast.from},
                            {"to", cast.to},
                            {"elements", cast.elements},
                            {"bytes", cast.bytes},
                            {"constant", cast.ofConstant},
                            {"reason", llvm::json::fixUTF8(cast.reason)},
                            {"uses", std::move(uses)}};
}

static llvm::json::Object toJson(const PolicyFacts &policy) {
  llvm::json::Object object{{"requested", policy.requested},
                            {"amp", policy.amp},
                            {"reason", policy.reason},
                            {"constants", policy.constants},
                            {"norm_output", policy.normOutput},
                            {"fp32_contractions", policy.contractions},
                            {"strict_rounding", policy.strictRounding}};
  if (!policy.contractionsNote.empty()) {
    object["fp32_contractions_note"] = policy.contractionsNote;
  }
  if (!policy.file.empty()) {
    object["file"] = llvm::json::fixUTF8(policy.file);
  }
  if (!policy.defaults.empty()) {
    object["default"] = policy.defaults;
  }
  return object;
}

llvm::json::Value Report::toJson() const {
  llvm::json::Array opRows, castRows, constantRows;
  for (const OpDecision &op : ops) {
    opRows.push_back(::toJson(op));
  }
  for (const CastDecision &cast : casts) {
    castRows.push_back(::toJson(cast));
    if (auto loss = measure(cast)) {
      constantRows.push_back(
          llvm::json::Object{{"value", toArray(cast.producer)},
                             {"to", cast.to},
                             {"elements", loss->elements},
                             {"overflow", loss->overflow},
                             {"subnormal", loss->subnormal},
                             {"flushed", loss->flushed}});
    }
  }
  llvm::json::Object types;
  for (auto [type, count] : countTypes(ops)) {
    types[type] = count;
  }
  llvm::json::Object sums{{"ops", std::move(types)}};
  if (counted) {
    sums["casts"] = totals.casts;
    sums["cast_bytes"] = totals.castBytes;
    sums["constant_casts"] = totals.constantCasts;
    sums["activation_bytes"] = totals.activationBytes;
    sums["saved_bytes"] = totals.savedBytes;
    sums["saved_constant_bytes"] = totals.savedConstantBytes;
  }
  llvm::json::Object object{{"version", 1},
                            {"ops", std::move(opRows)},
                            {"casts", std::move(castRows)},
                            {"constants", std::move(constantRows)},
                            {"totals", std::move(sums)}};
  if (policy) {
    object["policy"] = ::toJson(*policy);
  }
  return object;
}

static void print(llvm::raw_ostream &os, const PolicyFacts &policy) {
  os << "policy: " << policy.amp << " (" << policy.reason << ")";
  if (!policy.file.empty()) {
    os << ", rules of " << policy.file;
  }
  if (!policy.defaults.empty()) {
    os << ", default " << policy.defaults;
  }
  os << "\n";
  if (!policy.contractionsNote.empty()) {
    os << "contractions of f32: " << policy.contractions << ", "
       << policy.contractionsNote << "\n";
  }
}

void Report::print(llvm::raw_ostream &os) const {
  if (policy) {
    ::print(os, *policy);
  }
  size_t nodeWidth = 4, opWidth = 2;
  for (const OpDecision &op : ops) {
    nodeWidth =
        std::max(nodeWidth, std::min<size_t>(join(op.nodes).size(), 48));
    opWidth = std::max(opWidth, op.op.size());
  }
  auto row = [&](StringRef node, StringRef op, StringRef type, StringRef rule,
                 StringRef reason) {
    os << llvm::left_justify(node, nodeWidth) << "  "
       << llvm::left_justify(op, opWidth) << "  " << llvm::left_justify(type, 4)
       << "  " << llvm::left_justify(rule, 8) << "  " << reason << "\n";
  };
  row("node", "op", "type", "rule", "reason");
  for (const OpDecision &op : ops) {
    row(join(op.nodes), op.op, op.type, stringifyRule(op.rule), op.reason);
  }
  for (const CastDecision &cast : casts) {
    auto loss = measure(cast);
    if (loss && loss->any()) {
      os << "constant " << join(cast.producer) << " in " << cast.to << ": of "
         << loss->elements << " elements " << loss->overflow << " saturate, "
         << loss->subnormal << " become subnormal, " << loss->flushed
         << " become zero\n";
    }
  }
  os << "operations:";
  bool isFirst = true;
  for (auto [type, count] : countTypes(ops)) {
    os << (isFirst ? " " : ", ") << count << " in " << type;
    isFirst = false;
  }
  os << "\n";
  if (counted) {
    os << "casts: " << totals.casts << " at run time writing "
       << totals.castBytes << " bytes, " << totals.constantCasts
       << " of constants\n"
       << "activations: " << totals.activationBytes << " bytes, "
       << totals.savedBytes << " less than in f32\n"
       << "constants: " << totals.savedConstantBytes
       << " bytes less than in f32\n";
  }
}
