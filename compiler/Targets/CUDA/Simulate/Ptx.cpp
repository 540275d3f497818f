//===- Ptx.cpp - The statements of an inline assembly string --------------===//
#include "compiler/Targets/CUDA/Simulate/Ptx.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace ampc::cuda;

namespace {

bool isNameChar(char c) { return isAlnum(c) || c == '_' || c == '%'; }

/// Takes a token off the front of `text`.
std::optional<PtxToken> takeToken(StringRef &text) {
  text = text.ltrim();
  PtxToken token;
  if (text.consume_front("$")) {
    bool braced = text.consume_front("{"); // ${0:x}
    uint64_t number;
    if (text.consumeInteger(10, number)) {
      return std::nullopt;
    }
    if (braced) {
      text = text.drop_until([](char c) { return c == '}'; }).drop_front();
    }
    token.kind = PtxToken::operand;
    token.value = static_cast<int64_t>(number);
    return token;
  }
  bool minus = text.starts_with("-");
  if (!text.empty() && (isDigit(text[0]) || minus)) {
    token.kind = PtxToken::number;
    if (text.consumeInteger(0, token.value)) {
      return std::nullopt;
    }
    return token;
  }
  token.kind = PtxToken::name;
  token.text = text.take_while(isNameChar);
  text = text.drop_front(token.text.size());
  return token.text.empty() ? std::nullopt : std::optional(token);
}

/// One operand: all tokens up to the next comma outside of brackets.
std::optional<PtxOperand> takeOperand(StringRef &text) {
  PtxOperand operand;
  unsigned depth = 0;
  text = text.ltrim();
  operand.isList = text.starts_with("{");
  while (true) {
    text = text.ltrim();
    if (text.empty() || (depth == 0 && text[0] == ',')) {
      break;
    }
    char c = text[0];
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) {
        return std::nullopt;
      }
      --depth;
    } else if (c != ',') {
      std::optional<PtxToken> token = takeToken(text);
      if (!token) {
        return std::nullopt;
      }
      operand.tokens.push_back(*token);
      continue;
    }
    text = text.drop_front();
  }
  return depth == 0 ? std::optional(operand) : std::nullopt;
}

std::optional<PtxStatement> parseStatement(StringRef text) {
  PtxStatement statement;
  StringRef name = text.take_while(isNameChar);
  StringRef after = text.drop_front(name.size()).ltrim();
  if (!name.empty() && after.starts_with(":") && !after.starts_with("::")) {
    statement.label = name;
    text = after.drop_front().ltrim();
  }
  if (text.consume_front("@")) {
    statement.negated = text.consume_front("!");
    statement.predicate = takeToken(text);
    if (!statement.predicate) {
      return std::nullopt;
    }
    text = text.ltrim();
  }
  statement.mnemonic = text.take_until([](char c) { return isSpace(c); });
  text = text.drop_front(statement.mnemonic.size()).ltrim();
  if (statement.mnemonic == ".reg") {
    return statement; // names say themselves what they are
  }
  while (!text.empty()) {
    std::optional<PtxOperand> operand = takeOperand(text);
    if (!operand) {
      return std::nullopt;
    }
    statement.operands.push_back(*operand);
    if (!text.consume_front(",") && !text.empty()) {
      return std::nullopt;
    }
  }
  return statement;
}

} // namespace

std::optional<SmallVector<PtxStatement>> ampc::cuda::parsePtx(StringRef text) {
  text = text.trim();
  // Braces around all of it are a scope of names; others stand in operands.
  if (text.consume_front("{")) {
    if (!text.consume_back("}")) {
      return std::nullopt;
    }
  }
  SmallVector<PtxStatement> statements;
  while (true) {
    auto [piece, rest] = text.split(';');
    piece = piece.trim();
    if (!piece.empty()) {
      std::optional<PtxStatement> statement = parseStatement(piece);
      if (!statement) {
        return std::nullopt;
      }
      statements.push_back(*statement);
    }
    if (rest.empty()) {
      return statements;
    }
    text = rest;
  }
}
