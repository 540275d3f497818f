//===- ImportReport.cpp - Findings of the importer, as findings of ours ---===//
#include "compiler/Driver/Compilation.h"

#include "compiler/Import/ImportDiagnostics.h"

using namespace llvm;

namespace ampc::driver {

void reportImport(const importer::ImportDiagnostics &found,
                  DiagnosticSink &sink) {
  for (const importer::ImportDiagnostic &diagnostic : found.getAll()) {
    Finding finding;
    finding.severity =
        diagnostic.isWarning ? Severity::Warning : Severity::Error;
    // The importer's categories are exit codes.
    finding.category = static_cast<ExitCode>(diagnostic.category);
    finding.where = diagnostic.where;
    finding.message = diagnostic.message;
    finding.hint = diagnostic.hint;
    sink.report(finding);
  }
  size_t total = found.getNumErrors() + found.getNumWarnings();
  if (total > found.getAll().size()) {
    sink.note(Twine(total - found.getAll().size()) + " more not shown");
  }
}

} // namespace ampc::driver
