//===- Import.h - From an ONNX model to the amp dialect -------------------===//
#ifndef AMPC_COMPILER_IMPORT_IMPORT_H
#define AMPC_COMPILER_IMPORT_IMPORT_H

#include "compiler/Import/ImportDiagnostics.h"
#include "dialects/Interfaces/AutocastClass.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ampc::importer {

class ModelFile;

/// A value for a graph input that becomes a constant of the program.
struct BoundInput {
  int32_t elementType = 0; ///< TensorProto.DataType
  llvm::SmallVector<int64_t> shape;
  std::string bytes; ///< row-major, little-endian
};

struct ImportOptions {
  /// Shapes of graph inputs by name; they replace what the model declares.
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
  /// Sizes of named dimensions (`dim_param`).
  llvm::StringMap<int64_t> dimParams;
  /// Graph inputs that become constants.
  llvm::StringMap<BoundInput> boundInputs;
  /// Most nodes after functions are inlined and loops unrolled.
  uint64_t maxNodes = 1u << 18;
  /// The model will be trained: a dropout stays an operation.
  bool isTraining = false;
};

/// Builds a module with one `func.func @main` whose arguments and results carry
/// the ONNX names in `amp.name`; every type is static. Weights stay in the
/// mapped model, which the context's resources keep alive. Each operation has
/// the location `"node name"("graph path/index")`.
///
/// All defects are reported to `diags`; null is returned if there was any. The
/// context must have the amp and func dialects loaded, and the reference models
/// of amp registered: they evaluate shape arithmetic.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext *context,
                                             std::shared_ptr<ModelFile> model,
                                             const ImportOptions &options,
                                             ImportDiagnostics &diags);

/// The names by which messages call the nodes of a model, those of its
/// subgraphs and of its functions as they are called included, in order.
std::vector<std::string> listNodeNames(const ModelFile &model);

/// An operator that can be imported.
struct SupportedOp {
  std::string name; ///< `domain.Op`; `Op` in the default domain
  /// Versions of its domain; the last one is INT64_MAX where it is open.
  int64_t firstOpset = 1, lastOpset = 1;
  /// Nothing where nothing of it has a class.
  std::optional<AutocastClass> autocastClass;
};

/// The operators that can be imported, by name. The context must have the amp
/// dialect loaded.
std::vector<SupportedOp> listSupportedOps(mlir::MLIRContext *context);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_IMPORT_H
