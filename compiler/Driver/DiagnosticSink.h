//===- DiagnosticSink.h - Where all findings of a command go --------------===//
#ifndef AMPC_COMPILER_DRIVER_DIAGNOSTICSINK_H
#define AMPC_COMPILER_DRIVER_DIAGNOSTICSINK_H

#include "compiler/Driver/ExitCodes.h"
#include "compiler/Driver/Options.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace ampc::driver {

enum class Severity { Error, Warning, Note, Remark };

/// One finding with what explains it.
struct Finding {
  Severity severity = Severity::Error;
  ExitCode category = ExitCode::Internal; ///< of an error
  std::string where; ///< an ONNX node or tensor name; empty: the whole file
  std::string message;
  std::string hint;
  /// Where and what; notes have no notes.
  std::vector<std::pair<std::string, std::string>> notes;
};

/// Prints findings as they come, counts them, and knows the exit code they ask
/// for. Text is `file:node: error: message`; JSON is one object a line. Not
/// thread-safe: MLIR hands diagnostics over in order.
class DiagnosticSink {
public:
  DiagnosticSink(llvm::raw_ostream &os, DiagnosticForm form);

  /// Name in front of each finding; "ampc" until there is a model.
  void setFile(llvm::StringRef name) { file = name.str(); }
  void setForm(DiagnosticForm newForm) { form = newForm; }
  /// Warnings and remarks are counted, not printed.
  void setQuiet(bool value) { quiet = value; }

  void report(const Finding &finding);
  /// Records an error and returns failure.
  llvm::LogicalResult error(ExitCode category, const llvm::Twine &message,
                            const llvm::Twine &hint = "",
                            llvm::StringRef where = "");
  void warning(const llvm::Twine &message, llvm::StringRef where = "");
  void note(const llvm::Twine &message);

  size_t getNumErrors() const { return numErrors; }
  /// The exit code of the first error, except that a broken model outweighs a
  /// missing feature; Ok without errors.
  ExitCode getExitCode() const { return exitCode; }

  /// Prints the last line, `3 errors, 1 warning`, if there was anything.
  void finish();

private:
  void printText(const Finding &finding);
  void printJson(const Finding &finding);

  llvm::raw_ostream &os;
  DiagnosticForm form;
  bool color;
  bool quiet = false;
  std::string file = "ampc";
  size_t numErrors = 0;
  size_t numWarnings = 0;
  ExitCode exitCode = ExitCode::Ok;
};

/// Sends the diagnostics of a context to a sink for the lifetime of this
/// object. Errors count as `category`.
class MlirDiagnosticForwarder : public mlir::ScopedDiagnosticHandler {
public:
  MlirDiagnosticForwarder(mlir::MLIRContext *context, DiagnosticSink &sink);

  void setCategory(ExitCode newCategory) { category = newCategory; }

private:
  ExitCode category = ExitCode::Internal;
};

/// The ONNX names that a location stands for, first to last, joined; empty for
/// an unknown one.
std::string describeLocation(mlir::Location loc);

/// Whether colors are wanted on a stream, as NO_COLOR, CLICOLOR_FORCE and the
/// terminal say.
bool wantsColor(const llvm::raw_ostream &os);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_DIAGNOSTICSINK_H
