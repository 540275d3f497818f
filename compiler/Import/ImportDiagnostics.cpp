//===- ImportDiagnostics.cpp - Collect and print import findings ----------===//
#include "compiler/Import/ImportDiagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace ampc::importer {

LogicalResult ImportDiagnostics::error(ErrorCategory category, StringRef where,
                                       const Twine &message,
                                       const Twine &hint) {
  ++numErrors;
  seen[static_cast<int>(category)] = true;
  add({/*isWarning=*/false, category, where.str(), message.str(), hint.str()});
  return failure();
}

void ImportDiagnostics::warning(StringRef where, const Twine &message,
                                const Twine &hint) {
  ++numWarnings;
  add({/*isWarning=*/true, ErrorCategory::Invalid, where.str(), message.str(),
       hint.str()});
}

void ImportDiagnostics::add(ImportDiagnostic diagnostic) {
  if (kept.size() < maxKept) {
    kept.push_back(std::move(diagnostic));
  }
}

int ImportDiagnostics::getExitCode() const {
  for (ErrorCategory category :
       {ErrorCategory::Internal, ErrorCategory::Usage, ErrorCategory::Invalid,
        ErrorCategory::InputOutput, ErrorCategory::Limit,
        ErrorCategory::Unsupported}) {
    if (seen[static_cast<int>(category)]) {
      return static_cast<int>(category);
    }
  }
  return 0;
}

void ImportDiagnostics::print(raw_ostream &os) const {
  for (const ImportDiagnostic &diagnostic : kept) {
    os << file << ':';
    if (!diagnostic.where.empty()) {
      os << printableName(diagnostic.where) << ':';
    }
    os << (diagnostic.isWarning ? " warning: " : " error: ")
       << diagnostic.message << '\n';
    if (!diagnostic.hint.empty()) {
      os << "  hint: " << diagnostic.hint << '\n';
    }
  }
  size_t dropped = numErrors + numWarnings - kept.size();
  if (dropped != 0) {
    os << file << ": " << dropped << " more not shown\n";
  }
  if (numErrors + numWarnings == 0) {
    return;
  }
  auto plural = [](size_t count) { return count == 1 ? "" : "s"; };
  os << numErrors << " error" << plural(numErrors) << ", " << numWarnings
     << " warning" << plural(numWarnings) << '\n';
}

std::string printableName(StringRef name) {
  constexpr size_t maxLength = 200;
  std::string text;
  raw_string_ostream os(text);
  if (name.size() <= maxLength) {
    printEscapedString(name, os);
    return text;
  }
  printEscapedString(name.take_front(maxLength / 2), os);
  os << "...";
  printEscapedString(name.take_back(maxLength / 2), os);
  return text;
}

} // namespace ampc::importer
