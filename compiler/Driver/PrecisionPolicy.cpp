//===- PrecisionPolicy.cpp - The file of --precision-policy ---------------===//
#include "compiler/Driver/PrecisionPolicy.h"

#include "compiler/Driver/JsonText.h"
#include "compiler/Driver/RegularFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ampc::driver {

namespace {

constexpr StringLiteral typeNames[] = {"fp32", "tf32", "fp16",
                                       "bf16", "f32",  "f16"};
constexpr StringLiteral defaultNames[] = {"fp32", "fp16", "bf16", "autocast"};
constexpr StringLiteral constantNames[] = {"fp32", "saturate"};
constexpr StringLiteral normNames[] = {"follow", "fp32"};
constexpr StringLiteral ruleKeys[] = {"pattern", "type"};

/// Reads one file; every method reports to the sink.
class PolicyReader {
public:
  PolicyReader(StringRef path, const JsonText &json, DiagnosticSink &sink)
      : path(path), json(json), sink(sink) {}

  PrecisionPolicy read();

private:
  void error(StringRef pointer, const Twine &message) {
    (void)sink.error(ExitCode::Usage, "'" + path +
                                          "':" + json.describePlace(pointer) +
                                          ": " + message);
  }
  void readMember(StringRef key, const json::Value &value,
                  PrecisionPolicy &policy);
  std::string readWord(StringRef pointer, const json::Value &value,
                       ArrayRef<StringLiteral> words);
  void readRules(StringRef pointer, const json::Value &value, bool mayBeArray,
                 std::vector<std::string> &rules);
  void readRule(StringRef pointer, const json::Value &value,
                std::vector<std::string> &rules);
  void addRule(StringRef pointer, StringRef subject, const json::Value &type,
               std::vector<std::string> &rules);

  StringRef path;
  const JsonText &json;
  DiagnosticSink &sink;
  StringMap<std::string> subjects; ///< of the list being read, with its place
};

} // namespace

/// The value as it stands in the file, cut to a length that fits a message.
static std::string quote(StringRef text) {
  constexpr size_t most = 60;
  return "'" + text.take_front(most).str() + (text.size() > most ? "..." : "") +
         "'";
}

std::string PolicyReader::readWord(StringRef pointer, const json::Value &value,
                                   ArrayRef<StringLiteral> words) {
  std::optional<StringRef> text = value.getAsString();
  if (!text || !is_contained(words, *text)) {
    error(pointer, "expected one of " + join(words, ", ") + ", got " +
                       quote(json.getText(pointer)));
    return "";
  }
  return text->str();
}

void PolicyReader::addRule(StringRef pointer, StringRef subject,
                           const json::Value &type,
                           std::vector<std::string> &rules) {
  auto [it, isNew] = subjects.try_emplace(subject, json.describePlace(pointer));
  if (!isNew) {
    error(pointer, "a second rule for " + quote(subject) +
                       "; the first is at " + it->second);
    return;
  }
  if (subject.empty()) {
    error(pointer, "expected a name, got an empty one");
    return;
  }
  std::string word = readWord(pointer, type, typeNames);
  if (!word.empty()) {
    rules.push_back((subject + ":" + word).str());
  }
}

void PolicyReader::readRule(StringRef pointer, const json::Value &value,
                            std::vector<std::string> &rules) {
  const json::Object *rule = value.getAsObject();
  for (StringRef key : json.getMembers(pointer)) {
    if (!is_contained(ruleKeys, key)) {
      error(JsonText::join(pointer, key), "unknown key " + quote(key) +
                                              "; a rule has " +
                                              join(ArrayRef(ruleKeys), ", "));
      return;
    }
  }
  std::optional<StringRef> pattern =
      rule ? rule->getString("pattern") : std::nullopt;
  const json::Value *type = rule ? rule->get("type") : nullptr;
  if (!pattern || !type) {
    error(pointer, "expected {\"pattern\": PATTERN, \"type\": TYPE}, got " +
                       quote(json.getText(pointer)));
    return;
  }
  addRule(JsonText::join(pointer, "type"), *pattern, *type, rules);
}

void PolicyReader::readRules(StringRef pointer, const json::Value &value,
                             bool mayBeArray, std::vector<std::string> &rules) {
  subjects.clear();
  if (const json::Object *object = value.getAsObject()) {
    // In the order of the file; repetitions were reported.
    llvm::StringSet<> seen;
    for (StringRef name : json.getMembers(pointer)) {
      if (seen.insert(name).second) {
        addRule(JsonText::join(pointer, name), name, *object->get(name), rules);
      }
    }
    return;
  }
  const json::Array *array = value.getAsArray();
  if (!array || !mayBeArray) {
    error(pointer, Twine("expected an object {NAME: TYPE, ...}") +
                       (mayBeArray ? " or an array of rules" : "") + ", got " +
                       quote(json.getText(pointer)));
    return;
  }
  for (auto [index, rule] : enumerate(*array)) {
    readRule(JsonText::join(pointer, std::to_string(index)), rule, rules);
  }
}

void PolicyReader::readMember(StringRef key, const json::Value &value,
                              PrecisionPolicy &policy) {
  std::string pointer = JsonText::join("", key);
  if (key == "version") {
    if (value.getAsInteger() != 1) {
      error(pointer, "expected version 1, got " + quote(json.getText(pointer)));
    }
  } else if (key == "default") {
    policy.defaultType = readWord(pointer, value, defaultNames);
  } else if (key == "layers") {
    readRules(pointer, value, /*mayBeArray=*/true, policy.layers);
  } else if (key == "ops") {
    readRules(pointer, value, /*mayBeArray=*/false, policy.ops);
  } else if (key == "constants") {
    policy.constants = readWord(pointer, value, constantNames);
  } else if (key == "norm_output") {
    policy.normOutput = readWord(pointer, value, normNames);
  } else if (key == "certificate") {
    policy.certificate = json.getText(pointer).str();
  } else {
    error(pointer, "unknown key " + quote(key) +
                       "; a policy has version, default, layers, ops, "
                       "constants, norm_output, certificate");
  }
}

PrecisionPolicy PolicyReader::read() {
  PrecisionPolicy policy;
  for (const auto &[name, place] : json.getRepeated()) {
    (void)sink.error(ExitCode::Usage, "'" + path + "':" + place +
                                          ": a second member " + quote(name) +
                                          " of one object");
  }
  const json::Object *root = json.getRoot().getAsObject();
  if (!root) {
    error("", "expected an object, got " + quote(json.getText("")));
    return policy;
  }
  llvm::StringSet<> seen;
  for (StringRef key : json.getMembers("")) {
    if (seen.insert(key).second) {
      readMember(key, *root->get(key), policy);
    }
  }
  return policy;
}

std::optional<PrecisionPolicy> readPrecisionPolicy(StringRef path,
                                                   DiagnosticSink &sink) {
  std::unique_ptr<MemoryBuffer> buffer =
      readRegularFile(path, maxPolicyBytes, sink);
  if (!buffer) {
    return std::nullopt;
  }
  Expected<JsonText> json =
      JsonText::parse(buffer->getBuffer(), maxPolicyDepth);
  if (!json) {
    (void)sink.error(ExitCode::Usage,
                     "'" + path + "':" + toString(json.takeError()));
    return std::nullopt;
  }
  size_t errorsBefore = sink.getNumErrors();
  PrecisionPolicy policy = PolicyReader(path, *json, sink).read();
  return sink.getNumErrors() == errorsBefore ? std::optional(std::move(policy))
                                             : std::nullopt;
}

} // namespace ampc::driver
