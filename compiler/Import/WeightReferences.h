//===- WeightReferences.h - Constants of MLIR that lie in files -----------===//
//
// Large constants of a module that is written as MLIR stand in other files: the
// model's, or one of weights beside the MLIR. The text refers to them in an
// external resource,
//
//   {-#
//     external_resources: { ampc: { fc.weight: "4096:1048576:model.onnx" } }
//   #-}
//
// with a line for each dense resource: offset, length in bytes, and path, which
// is relative to the folder of the text and passes the gate of external data.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_IMPORT_WEIGHTREFERENCES_H
#define AMPC_COMPILER_IMPORT_WEIGHTREFERENCES_H

#include "compiler/Import/ExternalData.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ampc::importer {

/// Name of the external resource.
constexpr llvm::StringLiteral weightResource = "ampc";

/// Where the data of a constant lies.
struct WeightReference {
  std::string path;
  uint64_t offset = 0;
  uint64_t length = 0;

  /// `OFFSET:LENGTH:PATH`.
  std::string toText() const;
  static std::optional<WeightReference> fromText(llvm::StringRef text);
};

/// Parses a module from a file and maps the data that it refers to; `files`
/// keeps it mapped and is kept alive by the module's context. Reports what is
/// wrong with references to `diags`, what is wrong with the text as MLIR does;
/// returns null on either. The context must hold no resources yet: MLIR renames
/// one whose name is taken, and a reference would then name another.
mlir::OwningOpRef<mlir::ModuleOp>
parseModuleFile(mlir::MLIRContext *context, llvm::StringRef path,
                std::shared_ptr<ExternalData> files, ImportDiagnostics &diags);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_WEIGHTREFERENCES_H
