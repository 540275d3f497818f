//===- ConstantTensors.h - A model's tensors as attributes ----------------===//
#ifndef AMPC_COMPILER_IMPORT_CONSTANTTENSORS_H
#define AMPC_COMPILER_IMPORT_CONSTANTTENSORS_H

#include "compiler/Import/TensorView.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <memory>

namespace ampc::importer {

/// Tensors of more elements become resources that point into the model file.
constexpr int64_t maxInlineElements = 1024;

/// The attribute for a tensor whose element type the amp dialect has: dense for
/// splats, booleans and small tensors, else a resource called `name` that
/// shares the view's bytes and keeps `model` alive.
mlir::ElementsAttr makeElementsAttr(mlir::MLIRContext *context,
                                    const TensorView &view,
                                    llvm::StringRef name,
                                    std::shared_ptr<ModelFile> model);

/// A resource's data that shares `bytes` and keeps `owner` alive.
mlir::AsmResourceBlob makeBlob(llvm::ArrayRef<uint8_t> bytes,
                               std::shared_ptr<const void> owner);

/// The dense form of a sparse tensor; nothing after reporting.
std::optional<TensorView>
readSparseTensor(ModelFile &model, const onnx::SparseTensorProto &tensor,
                 llvm::StringRef where, ImportDiagnostics &diags);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_CONSTANTTENSORS_H
