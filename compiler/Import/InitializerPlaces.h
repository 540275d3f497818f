//===- InitializerPlaces.h - Where a model's weights lie in its files -----===//
#ifndef AMPC_COMPILER_IMPORT_INITIALIZERPLACES_H
#define AMPC_COMPILER_IMPORT_INITIALIZERPLACES_H

#include "compiler/Import/ModelFile.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace ampc::importer {

/// The bytes of an initializer, which new values of its type may overwrite.
struct InitializerPlace {
  std::string name;
  int32_t elementType = 0; ///< TensorProto.DataType
  std::string file; ///< below the model's folder; empty: the model itself
  /// Row-major and little-endian; nothing where the file has them otherwise, as
  /// numbers of varying length.
  std::optional<uint64_t> offset;
  uint64_t bytes = 0;
};

/// Finds the initializers of the model's graph whose names `isWanted` accepts,
/// in the order of the graph.
std::vector<InitializerPlace>
locateInitializers(ModelFile &model,
                   llvm::function_ref<bool(llvm::StringRef)> isWanted);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_INITIALIZERPLACES_H
