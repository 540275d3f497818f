//===- json.cpp - Reading and writing JSON, bounded -----------------------===//
#include "runtime/io/json.h"

namespace ampc::runtime {

Status JsonReader::expected(const char *what) {
  return Status::error(AMPC_INVALID,
                       "malformed JSON: expected %s at offset %zu", what,
                       static_cast<size_t>(at - start));
}

void JsonReader::skipSpace() {
  while (at < end &&
         (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
    ++at;
  }
}

Status JsonReader::expect(char c) {
  skipSpace();
  if (at < end && *at == c) {
    ++at;
    return Status();
  }
  char what[] = {'\'', c, '\'', 0};
  return expected(what);
}

Status JsonReader::open(char c) {
  AMPC_TRY(expect(c));
  return ++depth > maxDepth ? expected("at most 64 levels") : Status();
}

Status JsonReader::close() {
  --depth;
  return Status();
}

/// Moves to the next member or element, or past the closing character.
Status JsonReader::next(char closing, bool *first, bool *outDone) {
  skipSpace();
  if (at < end && *at == closing) {
    ++at;
    *outDone = true;
    return Status();
  }
  return std::exchange(*first, false) ? Status() : expect(',');
}

Status JsonReader::hex4(uint32_t *out) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at) {
    char c = at < end ? *at : 0;
    bool digit = c >= '0' && c <= '9';
    char lower = static_cast<char>(c | 0x20);
    if (!digit && (lower < 'a' || lower > 'f')) {
      return expected("four hexadecimal digits");
    }
    value =
        value << 4 | static_cast<uint32_t>(digit ? c - '0' : lower - 'a' + 10);
  }
  *out = value;
  return Status();
}

static void appendUtf8(Str *out, uint32_t c) {
  if (c < 0x80) {
    out->appendChar(static_cast<char>(c));
    return;
  }
  int tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
  out->appendChar(static_cast<char>(lead[tail] | c >> (6 * tail)));
  while (tail-- > 0) {
    out->appendChar(static_cast<char>(0x80 | ((c >> (6 * tail)) & 0x3f)));
  }
}

/// The part of an escape behind the backslash.
Status JsonReader::escape(Str *out) {
  constexpr char from[] = "\"\\/bfnrt";
  constexpr char to[] = "\"\\/\b\f\n\r\t";
  char c = at < end ? *at++ : 0;
  const char *found = c ? strchr(from, c) : nullptr;
  if (found) {
    out->appendChar(to[found - from]);
    return Status();
  }
  if (c != 'u') {
    return expected("a known escape");
  }
  uint32_t code;
  AMPC_TRY(hex4(&code));
  if (code >= 0xd800 && code < 0xdc00) {
    uint32_t low = 0;
    if (end - at < 2 || at[0] != '\\' || at[1] != 'u') {
      return expected("the second half of a surrogate pair");
    }
    at += 2;
    AMPC_TRY(hex4(&low));
    if (low < 0xdc00 || low > 0xdfff) {
      return expected("the second half of a surrogate pair");
    }
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code < 0xe000) {
    return expected("the first half of a surrogate pair");
  }
  appendUtf8(out, code);
  return Status();
}

Status JsonReader::string(Str *out) {
  AMPC_TRY(expect('"'));
  out->clear();
  while (true) {
    const char *plain = at;
    while (at < end && *at != '"' && *at != '\\' &&
           static_cast<unsigned char>(*at) >= 0x20) {
      ++at;
    }
    out->append(plain, static_cast<size_t>(at - plain));
    if (at == end || static_cast<unsigned char>(*at) < 0x20) {
      return expected("'\"'");
    }
    if (*at++ == '"') {
      return Status();
    }
    AMPC_TRY(escape(out));
  }
}

Status JsonReader::natural(uint64_t *out) {
  skipSpace();
  if (at == end || *at < '0' || *at > '9') {
    return expected("a number of digits alone");
  }
  int64_t value = 0;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) {
    if (mulOverflow<int64_t>(value, 10, &value) ||
        addOverflow<int64_t>(value, *at - '0', &value)) {
      return expected("a number below 2^63");
    }
  }
  if (at < end && (*at == '.' || *at == 'e' || *at == 'E')) {
    return expected("a number of digits alone");
  }
  *out = static_cast<uint64_t>(value);
  return Status();
}

Status JsonReader::integer(int64_t *out) {
  skipSpace();
  bool negative = at < end && *at == '-';
  at += negative;
  if (at == end || *at < '0' || *at > '9') {
    return expected("a number of digits alone");
  }
  uint64_t magnitude;
  AMPC_TRY(natural(&magnitude));
  int64_t value = static_cast<int64_t>(magnitude);
  *out = negative ? -value : value;
  return Status();
}

Status JsonReader::boolean(bool *out) {
  skipSpace();
  bool value = at < end && *at == 't';
  AMPC_TRY(word(value ? "true" : "false"));
  *out = value;
  return Status();
}

Status JsonReader::real(double *out) {
  skipSpace();
  const char *from = at;
  AMPC_TRY(number());
  // strtod needs an end.
  char text[64];
  size_t length = static_cast<size_t>(at - from);
  if (length >= sizeof text) {
    at = from;
    return expected("a shorter number");
  }
  memcpy(text, from, length);
  text[length] = 0;
  *out = strtod(text, nullptr);
  return Status();
}

Status JsonReader::number() {
  auto digits = [this] {
    const char *before = at;
    while (at < end && *at >= '0' && *at <= '9') {
      ++at;
    }
    return at != before;
  };
  at += at < end && *at == '-';
  bool good = digits();
  if (good && at < end && *at == '.') {
    ++at;
    good = digits();
  }
  if (good && at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    at += at < end && (*at == '-' || *at == '+');
    good = digits();
  }
  return good ? Status() : expected("a value");
}

Status JsonReader::word(const char *text) {
  size_t length = strlen(text);
  if (static_cast<size_t>(end - at) < length || memcmp(at, text, length)) {
    return expected("a value");
  }
  at += length;
  return Status();
}

Status JsonReader::skip() {
  skipSpace();
  switch (at < end ? *at : 0) {
  case '{':
    return object([this](const Str &) { return skip(); });
  case '[':
    return array([this] { return skip(); });
  case '"': {
    Str ignored;
    return string(&ignored);
  }
  case 't':
    return word("true");
  case 'f':
    return word("false");
  case 'n':
    return word("null");
  default:
    return number();
  }
}

Status JsonReader::finish() {
  skipSpace();
  return at == end ? Status() : expected("the end");
}

void appendJsonString(Str *out, const char *text, size_t length) {
  out->appendChar('"');
  for (size_t i = 0; i < length; ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out->appendChar('\\');
      out->appendChar(static_cast<char>(c));
    } else if (c < 0x20 || c == 0x7f) {
      out->appendf("\\u%04x", c);
    } else {
      out->appendChar(static_cast<char>(c));
    }
  }
  out->appendChar('"');
}

} // namespace ampc::runtime
