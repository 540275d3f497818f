//===- ConvWindow.h - What a convolution reads ----------------------------===//
#ifndef AMPC_COMPILER_TARGETS_CODEGEN_CONVWINDOW_H
#define AMPC_COMPILER_TARGETS_CODEGEN_CONVWINDOW_H

#include "compiler/Targets/Codegen/KernelEmitter.h"
#include <type_traits>

namespace ampc::codegen {

/// The spatial geometry of amp.conv and amp.conv_transpose. Refers to
/// attributes and types of the op.
struct ConvWindow {
  template <typename ConvOp>
  explicit ConvWindow(ConvOp op)
      : strides(op.getStrides()), pads(op.getPads()),
        dilations(op.getDilations()),
        transposed(std::is_same_v<ConvOp, amp::ConvTransposeOp>) {
    llvm::ArrayRef<int64_t> shape = shapeOf(op.getInput());
    sizes = op.getLayout() == amp::Layout::ChannelsLast
                ? shape.drop_front().drop_back()
                : shape.drop_front(2);
  }

  size_t rank() const { return strides.size(); }

  /// The position along spatial dimension `i` of the input that the result's
  /// position `out` reads under tap `tap`. Adds to `inside` the condition that
  /// there is one; null stands for always.
  mlir::Value locate(KernelEmitter &emitter, size_t i, mlir::Value out,
                     mlir::Value tap, mlir::Value &inside) const;

  llvm::ArrayRef<int64_t> strides, pads, dilations;
  llvm::ArrayRef<int64_t> sizes; ///< of the input
  bool transposed;
};

} // namespace ampc::codegen

#endif // AMPC_COMPILER_TARGETS_CODEGEN_CONVWINDOW_H
