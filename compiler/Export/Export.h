//===- Export.h - The decisions as Cast nodes of the original model -------===//
#ifndef AMPC_COMPILER_EXPORT_EXPORT_H
#define AMPC_COMPILER_EXPORT_EXPORT_H

#include "compiler/Import/ImportDiagnostics.h"
#include "compiler/Import/ModelFile.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace ampc::precision {
class Report;
} // namespace ampc::precision

namespace ampc::exporter {

/// Where the elements of large tensors go.
struct ExportOptions {
  enum DataPlace {
    Auto,   ///< where the model has them, or beside it if it grows too large
    Inside, ///< all in the model
    Beside, ///< all but small ones beside it
  };
  DataPlace place = Auto;
  /// Name of the file beside the new model, relative to its folder.
  std::string dataName;
  /// Whether graph inputs and outputs keep their types. Else an input that is
  /// only read in 16 bits comes so, and an output is handed over as computed.
  bool keepsIoTypes = true;
  /// Whether the new model stands in the folder of the old one, so that data
  /// beside that can be shared.
  bool sharesFolder = false;
};

/// Writes the model with the decisions of `report` to `os`: the same nodes in
/// the same order with the same names, Cast nodes between them, and constants
/// in the types they are read in. Everything else stays, what this compiler
/// does not know included. `openData` is called when the first tensor goes
/// beside the model. The bytes depend on the model, the table and the options
/// alone.
llvm::LogicalResult
exportOnnx(importer::ModelFile &file, const precision::Report &report,
           const ExportOptions &options, llvm::raw_ostream &os,
           llvm::function_ref<llvm::raw_ostream *()> openData,
           importer::ImportDiagnostics &diags);

} // namespace ampc::exporter

#endif // AMPC_COMPILER_EXPORT_EXPORT_H
