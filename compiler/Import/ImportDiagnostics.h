//===- ImportDiagnostics.h - What the importer found wrong with a model ---===//
//
// Everything that reads a model reports here instead of stopping at the first
// defect, so that a user sees all that is missing at once.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_IMPORT_IMPORTDIAGNOSTICS_H
#define AMPC_COMPILER_IMPORT_IMPORTDIAGNOSTICS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace ampc::importer {

/// Why a model was refused. The values are the exit codes of the command line.
enum class ErrorCategory {
  Usage = 2,       ///< an option names what the model does not have
  Invalid = 3,     ///< breaks the format's rules, or hostile
  Unsupported = 4, ///< legal, but beyond this compiler
  InputOutput = 5, ///< the operating system refused a file
  Limit = 6,       ///< exceeds a stated limit of size, depth or count
  Internal = 70,   ///< a defect of the importer itself
};

/// One finding. `where` is an ONNX node or tensor name, or empty for the file.
struct ImportDiagnostic {
  bool isWarning = false;
  ErrorCategory category = ErrorCategory::Invalid;
  std::string where;
  std::string message;
  std::string hint; ///< what the user can do; may be empty
};

/// Collects findings in the order they were made.
class ImportDiagnostics {
public:
  /// More findings than this are counted, not kept.
  static constexpr size_t maxKept = 1000;

  /// `file` is the name printed in front of each finding.
  explicit ImportDiagnostics(llvm::StringRef file) : file(file.str()) {}

  /// Records an error and returns failure, so that `return diags.error(...)`
  /// reads naturally.
  llvm::LogicalResult error(ErrorCategory category, llvm::StringRef where,
                            const llvm::Twine &message,
                            const llvm::Twine &hint = "");
  llvm::LogicalResult invalid(llvm::StringRef where, const llvm::Twine &message,
                              const llvm::Twine &hint = "") {
    return error(ErrorCategory::Invalid, where, message, hint);
  }
  llvm::LogicalResult unsupported(llvm::StringRef where,
                                  const llvm::Twine &message,
                                  const llvm::Twine &hint = "") {
    return error(ErrorCategory::Unsupported, where, message, hint);
  }
  llvm::LogicalResult limit(llvm::StringRef where, const llvm::Twine &message,
                            const llvm::Twine &hint = "") {
    return error(ErrorCategory::Limit, where, message, hint);
  }
  void warning(llvm::StringRef where, const llvm::Twine &message,
               const llvm::Twine &hint = "");

  bool hasErrors() const { return numErrors != 0; }
  size_t getNumErrors() const { return numErrors; }
  size_t getNumWarnings() const { return numWarnings; }
  llvm::StringRef getFile() const { return file; }
  llvm::ArrayRef<ImportDiagnostic> getAll() const { return kept; }

  /// The exit code the findings ask for; 0 without errors. After defects of the
  /// importer and the command line, a hostile or broken file outweighs an
  /// unreadable one, that a limit, and that a missing feature.
  int getExitCode() const;

  /// Prints `file:node: error: message` lines, each with its hint, and one last
  /// line with the counts. Control characters in names are escaped.
  void print(llvm::raw_ostream &os) const;

private:
  void add(ImportDiagnostic diagnostic);

  std::string file;
  std::vector<ImportDiagnostic> kept;
  size_t numErrors = 0;
  size_t numWarnings = 0;
  bool seen[71] = {}; // by exit code
};

/// `name` in a form fit for a terminal: control and non-ASCII-safe bytes
/// escaped, long names cut in the middle.
std::string printableName(llvm::StringRef name);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_IMPORTDIAGNOSTICS_H
