//===- JsonText.cpp - Places in a JSON text -------------------------------===//
#include "compiler/Driver/JsonText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ampc::driver {

/// `LINE:COLUMN` of an offset.
static std::string describe(StringRef text, size_t offset) {
  StringRef before = text.take_front(offset);
  size_t lineBegin = before.rfind('\n');
  lineBegin = lineBegin == StringRef::npos ? 0 : lineBegin + 1;
  return (Twine(before.count('\n') + 1) + ":" + Twine(offset - lineBegin + 1))
      .str();
}

/// Walks a text that is JSON and notes places, on a stack of its own.
class JsonText::Scanner {
public:
  explicit Scanner(JsonText &result) : result(result), text(result.text) {}

  void run();

private:
  /// An object or array that is open.
  struct Level {
    std::string pointer;
    size_t begin;
    bool isObject;
    bool awaitsName;       ///< the next string is the name of a member
    size_t index = 0;      ///< of the next element
    std::string step = ""; ///< the next member
    StringSet<> names = {};
  };

  /// The pointer of the value that comes next.
  std::string next() const;
  void readString();
  void close();

  JsonText &result;
  StringRef text;
  size_t at = 0;
  SmallVector<Level> levels;
};

std::string JsonText::Scanner::next() const {
  if (levels.empty()) {
    return "";
  }
  const Level &level = levels.back();
  return JsonText::join(
      level.pointer, level.isObject ? level.step : std::to_string(level.index));
}

void JsonText::Scanner::readString() {
  size_t begin = at++;
  while (text[at] != '"') {
    at += text[at] == '\\' ? 2 : 1;
  }
  ++at;
  if (levels.empty() || !levels.back().awaitsName) {
    result.places[next()] = {begin, at};
    return;
  }
  Level &level = levels.back();
  // Escapes are for the parser to resolve.
  Expected<json::Value> name = json::parse(text.slice(begin, at));
  level.step = name ? name->getAsString()->str() : "";
  consumeError(name.takeError());
  level.awaitsName = false;
  result.members[level.pointer].push_back(level.step);
  if (!level.names.insert(level.step).second) {
    result.repeated.emplace_back(level.step, describe(text, begin));
  }
}

void JsonText::Scanner::close() {
  Level level = levels.pop_back_val();
  result.places[level.pointer] = {level.begin, ++at};
}

void JsonText::Scanner::run() {
  while (at < text.size()) {
    switch (text[at]) {
    case '"':
      readString();
      break;
    case '{':
    case '[': {
      bool isObject = text[at] == '{';
      levels.push_back({next(), at++, isObject, /*awaitsName=*/isObject});
      break;
    }
    case '}':
    case ']':
      close();
      break;
    case ',':
      levels.back().awaitsName = levels.back().isObject;
      ++levels.back().index;
      ++at;
      break;
    case ':':
    case ' ':
    case '\t':
    case '\n':
    case '\r':
      ++at;
      break;
    default: { // a number or a word
      size_t end = text.find_first_of(",]} \t\r\n", at);
      end = std::min(end, text.size());
      result.places[next()] = {at, end};
      at = end;
    }
    }
  }
}

/// The offset at which `text` opens level `maxDepth` + 1; npos if it does not.
static size_t findTooDeep(StringRef text, unsigned maxDepth) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      i += c == '\\';
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > maxDepth) {
        return i;
      }
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return StringRef::npos;
}

Expected<JsonText> JsonText::parse(StringRef text, unsigned maxDepth) {
  size_t deep = findTooDeep(text, maxDepth);
  if (deep != StringRef::npos) {
    return createStringError(describe(text, deep) + ": nested more than " +
                             Twine(maxDepth) + " levels deep");
  }
  Expected<json::Value> root = json::parse(text);
  if (!root) {
    std::string message;
    handleAllErrors(root.takeError(), [&](const json::ParseError &error) {
      // "[LINE:COLUMN, byte=OFFSET]: TEXT"
      raw_string_ostream os(message);
      error.log(os);
    });
    // Its columns count from 0.
    size_t offset = 0;
    auto [place, words] = StringRef(message).split("]: ");
    place.rsplit('=').second.getAsInteger(10, offset);
    return createStringError(describe(text, std::min(offset, text.size())) +
                             ": " + words);
  }
  JsonText result(text, std::move(*root));
  Scanner(result).run();
  return std::move(result);
}

StringRef JsonText::getText(StringRef pointer) const {
  auto it = places.find(pointer);
  return it == places.end() ? StringRef()
                            : text.slice(it->second.first, it->second.second);
}

std::string JsonText::describePlace(StringRef pointer) const {
  auto it = places.find(pointer);
  return describe(text, it == places.end() ? text.size() : it->second.first);
}

ArrayRef<std::string> JsonText::getMembers(StringRef pointer) const {
  auto it = members.find(pointer);
  return it == members.end() ? ArrayRef<std::string>()
                             : ArrayRef<std::string>(it->second);
}

std::string JsonText::join(StringRef pointer, StringRef step) {
  std::string text = pointer.str() + "/";
  for (char c : step) {
    text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return text;
}

} // namespace ampc::driver
