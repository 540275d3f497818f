//===- TuningFile.cpp - The file of --tuning-file -------------------------===//
#include "compiler/Driver/TuningFile.h"

#include "compiler/Driver/JsonText.h"
#include "compiler/Driver/RegularFile.h"
#include "compiler/Targets/CUDA/Architectures.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ampc::driver {

namespace {

constexpr uint64_t maxTuningBytes = 4 << 20;
constexpr unsigned maxTuningDepth = 8;
constexpr StringLiteral typeNames[] = {"f16", "bf16", "tf32", "f32", "f64"};
constexpr StringLiteral ruleKeys[] = {"arch", "type", "batch",  "m",    "n",
                                      "k",    "tile", "stages", "split"};

/// Reads one file; every method reports to the sink.
class TuningReader {
public:
  TuningReader(StringRef path, const JsonText &json, DiagnosticSink &sink)
      : path(path), json(json), sink(sink) {}

  std::vector<ContractionRule> read();

private:
  void error(StringRef pointer, const Twine &message) {
    (void)sink.error(ExitCode::Usage, "'" + path +
                                          "':" + json.describePlace(pointer) +
                                          ": " + message);
  }
  void checkKeys(StringRef pointer, ArrayRef<StringLiteral> keys);
  ContractionRule readRule(StringRef pointer, const json::Object &object);
  int64_t readNumber(StringRef pointer, const json::Value &value, int64_t least,
                     int64_t most);
  void readTile(StringRef pointer, const json::Value &value,
                ContractionRule &rule);
  void readArchitecture(StringRef pointer, const json::Value &value,
                        ContractionRule &rule);

  StringRef path;
  const JsonText &json;
  DiagnosticSink &sink;
};

} // namespace

void TuningReader::checkKeys(StringRef pointer, ArrayRef<StringLiteral> keys) {
  for (StringRef key : json.getMembers(pointer)) {
    if (!is_contained(keys, key)) {
      error(JsonText::join(pointer, key),
            "unknown key '" + key + "'; expected " + join(keys, ", "));
    }
  }
}

int64_t TuningReader::readNumber(StringRef pointer, const json::Value &value,
                                 int64_t least, int64_t most) {
  std::optional<int64_t> number = value.getAsInteger();
  if (!number || *number < least || *number > most) {
    error(pointer, "expected a number from " + Twine(least) + " to " +
                       Twine(most) + ", got " + json.getText(pointer));
    return least;
  }
  return *number;
}

void TuningReader::readTile(StringRef pointer, const json::Value &value,
                            ContractionRule &rule) {
  const json::Array *array = value.getAsArray();
  if (!array || array->size() != 3) {
    error(pointer, "expected [M, N, K], got " + json.getText(pointer));
    return;
  }
  for (size_t i = 0; i < 3; ++i) {
    rule.tile[i] = readNumber(JsonText::join(pointer, std::to_string(i)),
                              (*array)[i], 1, 1024);
  }
}

void TuningReader::readArchitecture(StringRef pointer, const json::Value &value,
                                    ContractionRule &rule) {
  std::optional<StringRef> name = value.getAsString();
  if (!name) {
    error(pointer, "expected a name, got " + json.getText(pointer));
    return;
  }
  auto found = findCudaArchitecture(*name);
  if (!found) {
    error(pointer, toString(found.takeError()));
    return;
  }
  rule.architecture = (*found)->name.str();
}

ContractionRule TuningReader::readRule(StringRef pointer,
                                       const json::Object &object) {
  constexpr int64_t mostSize = int64_t(1) << 40;
  ContractionRule rule;
  checkKeys(pointer, ruleKeys);
  auto at = [&](StringRef key) { return JsonText::join(pointer, key); };
  if (const json::Value *value = object.get("arch")) {
    readArchitecture(at("arch"), *value, rule);
  }
  const std::pair<StringLiteral, std::optional<int64_t> *> sizes[] = {
      {"batch", &rule.batch}, {"m", &rule.m}, {"n", &rule.n}, {"k", &rule.k}};
  for (const auto &[key, size] : sizes) {
    if (const json::Value *value = object.get(key)) {
      *size = readNumber(at(key), *value, 1, mostSize);
    }
  }
  if (const json::Value *value = object.get("stages")) {
    rule.stages = readNumber(at("stages"), *value, 2, 8);
  }
  if (const json::Value *value = object.get("split")) {
    rule.split = readNumber(at("split"), *value, 1, 64);
  }
  std::optional<StringRef> type = object.getString("type");
  const json::Value *tile = object.get("tile");
  if (!type || !is_contained(typeNames, *type) || !tile) {
    error(pointer, "expected a rule with a \"tile\" and a \"type\", one of " +
                       join(ArrayRef(typeNames), ", "));
    return rule;
  }
  rule.type = type->str();
  readTile(at("tile"), *tile, rule);
  std::string problem = checkContractionRule(rule);
  if (!problem.empty()) {
    error(at("tile"), problem);
  }
  return rule;
}

std::vector<ContractionRule> TuningReader::read() {
  std::vector<ContractionRule> rules;
  for (const auto &[name, place] : json.getRepeated()) {
    (void)sink.error(ExitCode::Usage, "'" + path + "':" + place +
                                          ": a second member '" + name +
                                          "' of one object");
  }
  const json::Object *root = json.getRoot().getAsObject();
  const json::Array *list = root ? root->getArray("contractions") : nullptr;
  if (!list) {
    error("", "expected {\"version\": 1, \"contractions\": [RULE, ...]}");
    return rules;
  }
  checkKeys("", {"version", "contractions"});
  if (const json::Value *version = root->get("version")) {
    readNumber("/version", *version, 1, 1);
  }
  for (auto [i, value] : enumerate(*list)) {
    std::string pointer = JsonText::join("/contractions", std::to_string(i));
    if (const json::Object *rule = value.getAsObject()) {
      rules.push_back(readRule(pointer, *rule));
    } else {
      error(pointer, "expected a rule, got " + json.getText(pointer));
    }
  }
  return rules;
}

std::optional<std::vector<ContractionRule>>
readTuningFile(StringRef path, DiagnosticSink &sink) {
  std::unique_ptr<MemoryBuffer> buffer =
      readRegularFile(path, maxTuningBytes, sink);
  if (!buffer) {
    return std::nullopt;
  }
  Expected<JsonText> json =
      JsonText::parse(buffer->getBuffer(), maxTuningDepth);
  if (!json) {
    (void)sink.error(ExitCode::Usage,
                     "'" + path + "':" + toString(json.takeError()));
    return std::nullopt;
  }
  size_t errorsBefore = sink.getNumErrors();
  std::vector<ContractionRule> rules = TuningReader(path, *json, sink).read();
  return sink.getNumErrors() == errorsBefore ? std::optional(std::move(rules))
                                             : std::nullopt;
}

} // namespace ampc::driver
