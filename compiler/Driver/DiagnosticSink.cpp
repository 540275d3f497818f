//===- DiagnosticSink.cpp - Where all findings of a command go ------------===//
#include "compiler/Driver/DiagnosticSink.h"
#include "compiler/Targets/Target.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"

#include <cstdlib>

using namespace llvm;
using mlir::Location;

namespace ampc::driver {

const char *getCategoryName(ExitCode code) {
  switch (code) {
  case ExitCode::Ok:
    return "ok";
  case ExitCode::Mismatch:
    return "mismatch";
  case ExitCode::Usage:
    return "usage";
  case ExitCode::Invalid:
    return "invalid";
  case ExitCode::Unsupported:
    return "unsupported";
  case ExitCode::InputOutput:
    return "input-output";
  case ExitCode::Limit:
    return "limit";
  case ExitCode::Toolchain:
    return "toolchain";
  case ExitCode::Device:
    return "device";
  case ExitCode::Internal:
    return "internal";
  }
  llvm_unreachable("not an exit code");
}

static StringRef getSeverityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  case Severity::Remark:
    return "remark";
  }
  llvm_unreachable("not a severity");
}

bool wantsColor(const raw_ostream &os) {
  auto isSet = [](const char *name) {
    const char *value = std::getenv(name);
    return value && *value;
  };
  if (isSet("NO_COLOR")) {
    return false;
  }
  const char *force = std::getenv("CLICOLOR_FORCE");
  return (force && *force && StringRef(force) != "0") || os.has_colors();
}

/// Names come from the model: whatever could move a cursor is escaped. Lines
/// after the first are set in.
static std::string printable(StringRef text) {
  std::string result;
  raw_string_ostream stream(result);
  for (unsigned char c : text) {
    if (c == '\n') {
      stream << "\n    ";
    } else if (c < 0x20 || c == 0x7f) {
      stream << "\\x" << hexdigit(c >> 4) << hexdigit(c & 15);
    } else {
      stream << c;
    }
  }
  return result;
}

DiagnosticSink::DiagnosticSink(raw_ostream &os, DiagnosticForm form)
    : os(os), form(form), color(wantsColor(os)) {}

void DiagnosticSink::report(const Finding &finding) {
  if (finding.severity == Severity::Error) {
    ++numErrors;
    bool isGraver = exitCode == ExitCode::Unsupported &&
                    finding.category == ExitCode::Invalid;
    if (exitCode == ExitCode::Ok || isGraver) {
      exitCode = finding.category;
    }
  } else if (finding.severity == Severity::Warning) {
    ++numWarnings;
  }
  if (quiet && finding.severity != Severity::Error) {
    return;
  }
  if (form == DiagnosticForm::Json) {
    printJson(finding);
  } else {
    printText(finding);
  }
}

LogicalResult DiagnosticSink::error(ExitCode category, const Twine &message,
                                    const Twine &hint, StringRef where) {
  report(
      {Severity::Error, category, where.str(), message.str(), hint.str(), {}});
  return failure();
}

void DiagnosticSink::warning(const Twine &message, StringRef where) {
  report({Severity::Warning, ExitCode::Ok, where.str(), message.str(), "", {}});
}

void DiagnosticSink::note(const Twine &message) {
  report({Severity::Note, ExitCode::Ok, "", message.str(), "", {}});
}

void DiagnosticSink::printText(const Finding &finding) {
  auto prefix = [&](StringRef where) -> raw_ostream & {
    os << file << ':';
    if (!where.empty()) {
      os << printable(where) << ':';
    }
    return os << ' ';
  };
  auto word = [&](Severity severity, raw_ostream::Colors shade) {
    if (color) {
      os.changeColor(shade, /*Bold=*/true);
    }
    os << getSeverityName(severity) << ':';
    if (color) {
      os.resetColor();
    }
    os << ' ';
  };
  prefix(finding.where);
  word(finding.severity, finding.severity == Severity::Error ? raw_ostream::RED
                         : finding.severity == Severity::Warning
                             ? raw_ostream::MAGENTA
                             : raw_ostream::CYAN);
  os << printable(finding.message) << '\n';
  for (const auto &[where, message] : finding.notes) {
    prefix(where);
    word(Severity::Note, raw_ostream::CYAN);
    os << printable(message) << '\n';
  }
  if (!finding.hint.empty()) {
    os << "  hint: " << printable(finding.hint) << '\n';
  }
}

void DiagnosticSink::printJson(const Finding &finding) {
  auto utf8 = [](StringRef text) {
    return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
  };
  json::Array notes;
  for (const auto &[where, message] : finding.notes) {
    json::Object note{{"message", utf8(message)}};
    if (!where.empty()) {
      note["node"] = utf8(where);
    }
    notes.push_back(std::move(note));
  }
  json::Object object{{"severity", getSeverityName(finding.severity)},
                      {"file", utf8(file)},
                      {"message", utf8(finding.message)}};
  if (!finding.where.empty()) {
    object["node"] = utf8(finding.where);
  }
  if (finding.severity == Severity::Error) {
    object["category"] = getCategoryName(finding.category);
    object["code"] = static_cast<int>(finding.category);
  }
  if (!finding.hint.empty()) {
    object["hint"] = utf8(finding.hint);
  }
  if (!notes.empty()) {
    object["notes"] = std::move(notes);
  }
  os << json::Value(std::move(object)) << '\n';
}

void DiagnosticSink::finish() {
  if (form == DiagnosticForm::Json) {
    if (numErrors + numWarnings != 0) {
      os << json::Value(
                json::Object{{"errors", static_cast<int64_t>(numErrors)},
                             {"warnings", static_cast<int64_t>(numWarnings)}})
         << '\n';
    }
    return;
  }
  auto plural = [](size_t count) { return count == 1 ? "" : "s"; };
  bool isWorthIt = numErrors != 0 || (numWarnings != 0 && !quiet);
  if (!isWorthIt) {
    return;
  }
  if (numErrors != 0) {
    os << numErrors << " error" << plural(numErrors);
  }
  if (numErrors != 0 && numWarnings != 0) {
    os << ", ";
  }
  if (numWarnings != 0) {
    os << numWarnings << " warning" << plural(numWarnings);
  }
  os << '\n';
}

/// Collects the names of a location, outermost first, each once. The importer
/// names nodes by NameLoc; files and lines appear only in hand-written MLIR.
static void collectNames(Location loc, SmallVectorImpl<std::string> &names) {
  auto add = [&](std::string name) {
    if (!is_contained(names, name)) {
      names.push_back(std::move(name));
    }
  };
  if (auto name = dyn_cast<mlir::NameLoc>(loc)) {
    add(name.getName().str());
  } else if (auto fused = dyn_cast<mlir::FusedLoc>(loc)) {
    for (Location part : fused.getLocations()) {
      collectNames(part, names);
    }
  } else if (auto call = dyn_cast<mlir::CallSiteLoc>(loc)) {
    collectNames(call.getCallee(), names);
  } else if (auto line = dyn_cast<mlir::FileLineColLoc>(loc);
             line && line.getLine() != 0) {
    add((line.getFilename().getValue() + ":" + Twine(line.getLine()) + ":" +
         Twine(line.getColumn()))
            .str());
  }
}

std::string describeLocation(Location loc) {
  constexpr size_t maxNames = 4;
  SmallVector<std::string> names;
  collectNames(loc, names);
  std::string text = join(ArrayRef(names).take_front(maxNames), " + ");
  if (names.size() > maxNames) {
    text += " + " + std::to_string(names.size() - maxNames) + " more";
  }
  return text;
}

MlirDiagnosticForwarder::MlirDiagnosticForwarder(mlir::MLIRContext *context,
                                                 DiagnosticSink &sink)
    : ScopedDiagnosticHandler(context) {
  setHandler([this, &sink](mlir::Diagnostic &diagnostic) {
    Finding finding;
    switch (diagnostic.getSeverity()) {
    case mlir::DiagnosticSeverity::Error:
      finding.severity = Severity::Error;
      break;
    case mlir::DiagnosticSeverity::Warning:
      finding.severity = Severity::Warning;
      break;
    case mlir::DiagnosticSeverity::Note:
      finding.severity = Severity::Note;
      break;
    case mlir::DiagnosticSeverity::Remark:
      finding.severity = Severity::Remark;
      break;
    }
    finding.category = category;
    for (mlir::DiagnosticArgument &fact : diagnostic.getMetadata()) {
      bool isText = fact.getKind() ==
                    mlir::DiagnosticArgument::DiagnosticArgumentKind::String;
      if (isText && fact.getAsString() == toolchainFailure) {
        finding.category = ExitCode::Toolchain;
      }
    }
    finding.where = describeLocation(diagnostic.getLocation());
    finding.message = diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      std::string text = note.str();
      if (StringRef hint = text; hint.consume_front("hint: ")) {
        finding.hint = hint.str();
        continue;
      }
      finding.notes.emplace_back(describeLocation(note.getLocation()),
                                 std::move(text));
    }
    sink.report(finding);
    return mlir::success();
  });
}

} // namespace ampc::driver
