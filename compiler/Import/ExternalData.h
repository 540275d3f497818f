//===- ExternalData.h - The one gate to files named by a model ------------===//
#ifndef AMPC_COMPILER_IMPORT_EXTERNALDATA_H
#define AMPC_COMPILER_IMPORT_EXTERNALDATA_H

#include "compiler/Import/ImportDiagnostics.h"
#include "compiler/Import/MappedFile.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>

namespace ampc::onnx {
class TensorProto;
} // namespace ampc::onnx

namespace ampc::importer {

/// Opens and maps the files that hold a model's external tensors. No other code
/// opens a path that stands in a model. What passes: a relative path without
/// `..`, below the model's folder, crossing no symbolic link, naming a regular
/// file with a single hard link.
class ExternalData {
public:
  /// `folder` is the folder of the model file ("" is the current one).
  explicit ExternalData(llvm::StringRef folder) : folder(folder.str()) {}

  /// The bytes that `tensor.external_data` names; `expectedBytes` is what its
  /// type and shape need, `where` the node or tensor to blame. Every file is
  /// mapped once and stays mapped as long as this object lives. Reports and
  /// returns nothing on any breach.
  std::optional<llvm::ArrayRef<uint8_t>> read(const onnx::TensorProto &tensor,
                                              uint64_t expectedBytes,
                                              llvm::StringRef where,
                                              ImportDiagnostics &diags);

  /// The same for a place that is written otherwise than in a tensor.
  std::optional<llvm::ArrayRef<uint8_t>> read(llvm::StringRef location,
                                              uint64_t offset, uint64_t length,
                                              llvm::StringRef where,
                                              ImportDiagnostics &diags);

  /// The mapped file that holds `bytes`, as a path that starts with the
  /// folder, and the offset in it; nothing if they lie elsewhere.
  std::optional<std::pair<std::string, uint64_t>>
  locate(llvm::ArrayRef<uint8_t> bytes) const;

private:
  const MappedFile *open(llvm::StringRef location, llvm::StringRef where,
                         ImportDiagnostics &diags);

  std::string folder;
  llvm::StringMap<std::unique_ptr<MappedFile>> files;
};

/// The offset of `bytes` in `file`; nothing if they do not lie in it.
std::optional<uint64_t> findOffset(const MappedFile &file,
                                   llvm::ArrayRef<uint8_t> bytes);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_EXTERNALDATA_H
