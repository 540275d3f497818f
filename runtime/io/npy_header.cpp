//===- npy_header.cpp - The header of .npy files --------------------------===//
#include "runtime/core/dtype.h"
#include "runtime/io/npy.h"

namespace ampc::runtime {
namespace {

struct NpyType {
  const char *code; // without the byte order
  uint32_t dtype;
};
constexpr NpyType npyTypes[] = {
    {"f4", AMPC_DTYPE_F32}, {"f8", AMPC_DTYPE_F64}, {"f2", AMPC_DTYPE_F16},
    {"i1", AMPC_DTYPE_I8},  {"i2", AMPC_DTYPE_I16}, {"i4", AMPC_DTYPE_I32},
    {"i8", AMPC_DTYPE_I64}, {"u1", AMPC_DTYPE_U8},  {"u2", AMPC_DTYPE_U16},
    {"u4", AMPC_DTYPE_U32}, {"u8", AMPC_DTYPE_U64}, {"b1", AMPC_DTYPE_BOOL},
    {"V2", dtypeRaw16},
};

class Parser {
public:
  Parser(const char *text, size_t length) : at(text), end(text + length) {}

  Status header(NpyHeader *out);

private:
  Status value(const char *key, NpyHeader *out);
  Status shape(Vec<int64_t> *outDims);
  Status integer(int64_t *out);
  Status string(char *out, size_t capacity);
  bool take(char c);
  bool takeWord(const char *word);
  void skipSpace();
  Status expected(const char *what) {
    return Status::error(AMPC_INVALID,
                         "malformed .npy header: expected %s at offset %zu",
                         what, static_cast<size_t>(at - start));
  }

  const char *at;
  const char *end;
  const char *start = at;
};

void Parser::skipSpace() {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\t')) {
    ++at;
  }
}

bool Parser::take(char c) {
  skipSpace();
  if (at < end && *at == c) {
    ++at;
    return true;
  }
  return false;
}

bool Parser::takeWord(const char *word) {
  skipSpace();
  size_t length = strlen(word);
  if (static_cast<size_t>(end - at) < length || memcmp(at, word, length)) {
    return false;
  }
  at += length;
  return true;
}

/// A quoted string without escapes, as `out`, NUL-terminated.
Status Parser::string(char *out, size_t capacity) {
  skipSpace();
  if (at == end || (*at != '\'' && *at != '"')) {
    return expected("a string");
  }
  char quote = *at++;
  size_t length = 0;
  for (; at < end && *at != quote; ++at) {
    if (length + 1 == capacity || *at == '\\' || *at < ' ' || *at > '~') {
      return expected("a short plain string");
    }
    out[length++] = *at;
  }
  if (!take(quote)) {
    return expected("the end of the string");
  }
  out[length] = 0;
  return Status();
}

Status Parser::integer(int64_t *out) {
  skipSpace();
  if (at == end || *at < '0' || *at > '9') {
    return expected("a dimension");
  }
  int64_t value = 0;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) {
    if (mulOverflow<int64_t>(value, 10, &value) ||
        addOverflow<int64_t>(value, *at - '0', &value)) {
      return expected("a dimension below 2^63");
    }
  }
  *out = value;
  return Status();
}

/// `()`, `(3,)`, `(2, 3)`.
Status Parser::shape(Vec<int64_t> *outDims) {
  if (!take('(')) {
    return expected("a tuple");
  }
  bool comma = true;
  while (!take(')')) {
    if (!comma || outDims->size() == maxRank) {
      return expected(comma ? "at most 64 dimensions" : "',' or ')'");
    }
    int64_t dim = 0;
    AMPC_TRY(integer(&dim));
    outDims->push(dim);
    comma = take(',');
  }
  // Python writes a single dimension with a comma; "(3)" would be a number.
  if (outDims->size() == 1 && !comma) {
    return expected("',' in a tuple of one");
  }
  return Status();
}

Status findType(const char *descr, uint32_t *outDtype) {
  char order = descr[0];
  const char *code = descr + 1;
  bool oneByte = order && code[0] && strcmp(code + 1, "1") == 0;
  for (const NpyType &type : npyTypes) {
    if (!order || strcmp(code, type.code) != 0) {
      continue;
    }
    bool raw = type.dtype == dtypeRaw16;
    if (order == '<' || order == '=' || (order == '|' && (oneByte || raw)) ||
        (order == '>' && (oneByte || raw))) {
      *outDtype = type.dtype;
      return Status();
    }
    if (order == '>') {
      return Status::error(AMPC_UNSUPPORTED,
                           "unsupported big-endian data ('%s'); save it with "
                           "x.astype(x.dtype.newbyteorder('<'))",
                           descr);
    }
  }
  if (strchr(descr, 'O')) {
    return Status::error(AMPC_UNSUPPORTED,
                         "unsupported array of Python objects ('%s')", descr);
  }
  return Status::error(AMPC_UNSUPPORTED, "unsupported element type '%s'",
                       descr);
}

Status Parser::value(const char *key, NpyHeader *out) {
  if (strcmp(key, "descr") == 0) {
    skipSpace();
    if (at < end && *at == '[') {
      return Status::error(AMPC_UNSUPPORTED, "unsupported structured array");
    }
    char descr[32];
    AMPC_TRY(string(descr, sizeof descr));
    return findType(descr, &out->dtype);
  }
  if (strcmp(key, "fortran_order") == 0) {
    out->fortranOrder = takeWord("True");
    return out->fortranOrder || takeWord("False") ? Status()
                                                  : expected("True or False");
  }
  return shape(&out->dims);
}

Status Parser::header(NpyHeader *out) {
  constexpr const char *keys[] = {"descr", "fortran_order", "shape"};
  bool seen[3] = {};
  if (!take('{')) {
    return expected("'{'");
  }
  for (bool comma = true; !take('}');) {
    if (!comma) {
      return expected("',' or '}'");
    }
    char key[32];
    AMPC_TRY(string(key, sizeof key));
    int which = 0;
    while (which < 3 && strcmp(key, keys[which]) != 0) {
      ++which;
    }
    if (which == 3 || seen[which]) {
      return expected("the keys descr, fortran_order and shape, once each");
    }
    seen[which] = true;
    if (!take(':')) {
      return expected("':'");
    }
    AMPC_TRY(value(key, out));
    comma = take(',');
  }
  skipSpace();
  if (!seen[0] || !seen[1] || !seen[2] || at != end) {
    return expected(at != end
                        ? "the end of the header"
                        : "the keys descr, fortran_order and shape, once each");
  }
  return Status();
}

const char *npyDescr(uint32_t dtype) {
  switch (dtype) {
  case AMPC_DTYPE_U8:
    return "|u1";
  case AMPC_DTYPE_I8:
    return "|i1";
  case AMPC_DTYPE_BOOL:
    return "|b1";
  case AMPC_DTYPE_BF16:
    return "|V2"; // numpy has no bf16; ml_dtypes reads it with .view(bfloat16)
  case AMPC_DTYPE_F32:
    return "<f4";
  case AMPC_DTYPE_F64:
    return "<f8";
  case AMPC_DTYPE_F16:
    return "<f2";
  case AMPC_DTYPE_I16:
    return "<i2";
  case AMPC_DTYPE_I32:
    return "<i4";
  case AMPC_DTYPE_I64:
    return "<i8";
  case AMPC_DTYPE_U16:
    return "<u2";
  case AMPC_DTYPE_U32:
    return "<u4";
  case AMPC_DTYPE_U64:
    return "<u8";
  default:
    return nullptr;
  }
}

} // namespace

Status parseNpyHeader(const char *text, size_t length, NpyHeader *outHeader) {
  return Parser(text, length).header(outHeader);
}

Status makeNpyHeader(const TensorView &tensor, Str *outHeader) {
  const char *descr = npyDescr(tensor.dtype);
  if (!descr || tensor.rank > maxRank) {
    return Status::error(AMPC_UNSUPPORTED, "cannot write this tensor as .npy");
  }
  Str text;
  text.appendf("{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (size_t i = 0; i < tensor.rank; ++i) {
    text.appendf(i ? ", %lld" : "%lld", static_cast<long long>(tensor.dims[i]));
  }
  text.append(tensor.rank == 1 ? ",), }" : "), }");
  // The data begins at a multiple of 64 bytes; a newline ends the header. With
  // 64 dimensions it stays far below the 65535 bytes of version 1.
  constexpr size_t prelude = 10;
  while ((prelude + text.size() + 1) % 64 != 0) {
    text.appendChar(' ');
  }
  text.appendChar('\n');
  outHeader->clear();
  outHeader->append("\x93NUMPY\x01\x00", 8);
  uint16_t length = static_cast<uint16_t>(text.size());
  outHeader->append(reinterpret_cast<const char *>(&length), sizeof length);
  outHeader->append(text.c_str(), text.size());
  return Status();
}

} // namespace ampc::runtime
