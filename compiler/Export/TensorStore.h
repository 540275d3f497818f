//===- TensorStore.h - Where the elements of tensors go -------------------===//
#ifndef AMPC_COMPILER_EXPORT_TENSORSTORE_H
#define AMPC_COMPILER_EXPORT_TENSORSTORE_H

#include "compiler/Export/Export.h"
#include "compiler/Export/GraphRewriter.h"

namespace ampc::exporter {

/// Gives each tensor of a rewritten model its elements, inside the message or
/// in a file beside it. One tensor at a time is held in memory beyond what the
/// message holds.
class TensorStore {
public:
  TensorStore(importer::ModelFile &file, llvm::ArrayRef<Conversion> conversions,
              const ExportOptions &options,
              llvm::function_ref<llvm::raw_ostream *()> openData,
              importer::ImportDiagnostics &diags)
      : file(file), conversions(conversions), options(options),
        openData(openData), diags(diags) {}

  llvm::LogicalResult run(onnx::ModelProto &model);

private:
  struct Elements {
    llvm::ArrayRef<uint8_t> bytes;
    int32_t from = 0, to = 0; ///< equal: as they are
    uint64_t getSize() const;
    void write(llvm::raw_ostream &os) const;
  };

  void choosePlace(onnx::ModelProto &model);
  bool goesBeside(const onnx::TensorProto &tensor, uint64_t size) const;
  std::optional<Elements> find(const onnx::TensorProto &tensor);
  llvm::LogicalResult store(onnx::TensorProto &tensor);
  llvm::LogicalResult storeBeside(onnx::TensorProto &tensor,
                                  const Elements &elements);

  importer::ModelFile &file;
  llvm::ArrayRef<Conversion> conversions;
  const ExportOptions &options;
  llvm::function_ref<llvm::raw_ostream *()> openData;
  importer::ImportDiagnostics &diags;
  llvm::raw_ostream *data = nullptr;
  uint64_t dataSize = 0;
  bool allBeside = false;     ///< the message would be too large
  bool overwritesOld = false; ///< the new file would replace data of the old
  bool movesShared = false;   ///< data beside the old model is copied
};

} // namespace ampc::exporter

#endif // AMPC_COMPILER_EXPORT_TENSORSTORE_H
