//===- ModelFile.h - An ONNX file, parsed and mapped ----------------------===//
#ifndef AMPC_COMPILER_IMPORT_MODELFILE_H
#define AMPC_COMPILER_IMPORT_MODELFILE_H

#include "compiler/Import/ExternalData.h"
#include "compiler/Import/ImportDiagnostics.h"
#include "compiler/Import/TensorView.h"

#include <memory>
#include <vector>

namespace google::protobuf {
class Arena;
} // namespace google::protobuf

namespace ampc::onnx {
class ModelProto;
} // namespace ampc::onnx

namespace ampc::importer {

/// Owns the mapped model file, its parsed message and the mapped external data.
/// Views of tensors and constants of an imported module point into it, so it
/// must outlive them. Use by one thread at a time.
class ModelFile {
public:
  /// Maps and parses `path`. Reports and returns null when the file cannot be
  /// read, is no ONNX model, or exceeds a limit.
  static std::unique_ptr<ModelFile> open(llvm::StringRef path,
                                         ImportDiagnostics &diags);
  ~ModelFile();
  ModelFile(const ModelFile &) = delete;
  ModelFile &operator=(const ModelFile &) = delete;

  const onnx::ModelProto &getProto() const { return *proto; }
  /// For changes before the model is imported.
  onnx::ModelProto &getMutableProto() { return *proto; }
  llvm::StringRef getPath() const { return path; }
  /// The whole file.
  llvm::ArrayRef<uint8_t> getBytes() const;
  ExternalData &getExternalData() { return externalData; }

  /// Raw data that the scanner left in the file; empty for an unknown index.
  llvm::ArrayRef<uint8_t> getSlice(uint32_t index) const;

  /// The file that holds `bytes`, this one or one of external data, and the
  /// offset in it; nothing if they were made here.
  std::optional<std::pair<std::string, uint64_t>>
  locate(llvm::ArrayRef<uint8_t> bytes) const;

  /// Uninitialized bytes that live as long as this object, 64-byte aligned.
  llvm::MutableArrayRef<uint8_t> allocateBytes(uint64_t size);

private:
  explicit ModelFile(llvm::StringRef path);

  std::string path;
  std::unique_ptr<MappedFile> file;
  std::unique_ptr<google::protobuf::Arena> arena;
  onnx::ModelProto *proto = nullptr; // in the arena
  std::vector<llvm::ArrayRef<uint8_t>> slices;
  ExternalData externalData;
  std::vector<std::unique_ptr<uint8_t[]>> copies;
};

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_MODELFILE_H
