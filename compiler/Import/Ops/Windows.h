//===- Windows.h - What convolutions and pools have in common -------------===//
#ifndef AMPC_COMPILER_IMPORT_OPS_WINDOWS_H
#define AMPC_COMPILER_IMPORT_OPS_WINDOWS_H

#include "compiler/Import/Node.h"

namespace ampc::importer {

/// Attributes of a sliding window, made explicit: one entry per spatial
/// dimension; `pads` holds all begins, then all ends.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, pads, dilations;
};

/// Reads kernel_shape, strides, pads, dilations and auto_pad for a window over
/// the spatial dimensions of `x` ([N, C, spatial...]). `kernel` is the shape
/// of the weight, or empty where the attribute must give it. Nothing after
/// reporting.
std::optional<Window> readWindow(Node &n, mlir::Value x,
                                 llvm::ArrayRef<int64_t> kernel);

/// For each element of a max pool's result, the position of the first maximum
/// in the flattened input; column-major within each image if asked for.
mlir::Value buildMaxPoolIndices(Node &n, mlir::Value x, const Window &window,
                                llvm::ArrayRef<int64_t> resultShape,
                                bool isColumnMajor);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_OPS_WINDOWS_H
