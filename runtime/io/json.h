//===- json.h - Reading and writing JSON, bounded -------------------------===//
#ifndef AMPC_RUNTIME_IO_JSON_H
#define AMPC_RUNTIME_IO_JSON_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// Reads one JSON text from front to back. Each call consumes one value or
/// fails; nothing is kept, so a text costs no memory beyond its strings.
class JsonReader {
public:
  JsonReader(const char *text, size_t length)
      : start(text), at(text), end(text + length) {}

  /// Calls `member(const Str &key)` for each member, which consumes its value.
  template <typename F>
  Status object(F &&member) {
    bool first = true, done = false;
    AMPC_TRY(open('{'));
    while (true) {
      AMPC_TRY(next('}', &first, &done));
      if (done) {
        return close();
      }
      Str key;
      AMPC_TRY(string(&key));
      AMPC_TRY(expect(':'));
      AMPC_TRY(member(key));
    }
  }
  /// Calls `element()` for each element, which consumes it.
  template <typename F>
  Status array(F &&element) {
    bool first = true, done = false;
    AMPC_TRY(open('['));
    while (true) {
      AMPC_TRY(next(']', &first, &done));
      if (done) {
        return close();
      }
      AMPC_TRY(element());
    }
  }
  /// The string as UTF-8.
  Status string(Str *out);
  /// A number written with digits alone, below 2^63.
  Status natural(uint64_t *out);
  /// A number written with digits alone, with a '-' perhaps, above -2^63.
  Status integer(int64_t *out);
  /// Any number, as the nearest double.
  Status real(double *out);
  Status boolean(bool *out);
  /// Consumes a value of any kind.
  Status skip();
  /// Only white space may be left.
  Status finish();

private:
  static constexpr int maxDepth = 64;

  Status expected(const char *what);
  Status expect(char c);
  Status open(char c);
  Status close();
  Status next(char closing, bool *first, bool *outDone);
  Status escape(Str *out);
  Status hex4(uint32_t *out);
  Status number();
  Status word(const char *text);
  void skipSpace();

  const char *start;
  const char *at;
  const char *end;
  int depth = 0;
};

/// Appends `text` quoted and escaped.
void appendJsonString(Str *out, const char *text, size_t length);
inline void appendJsonString(Str *out, const char *text) {
  appendJsonString(out, text, strlen(text));
}

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_IO_JSON_H
