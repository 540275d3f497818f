//===- Npy.h - NumPy files as tensors of the evaluator --------------------===//
#ifndef AMPC_TOOLS_AMPC_EVAL_NPY_H
#define AMPC_TOOLS_AMPC_EVAL_NPY_H

#include "dialects/Amp/Reference/Tensor.h"
#include "llvm/Support/Error.h"

namespace ampc::eval {

/// Reads a .npy file that holds a tensor of `type`, in C order and little
/// endian. bf16, which NumPy lacks, is two opaque bytes (V2) or uint16.
llvm::Expected<ref::Tensor> readNpy(llvm::StringRef path,
                                    mlir::RankedTensorType type);

/// Writes `tensor` as a .npy file of version 1; bf16 as V2.
llvm::Error writeNpy(llvm::StringRef path, const ref::Tensor &tensor);

} // namespace ampc::eval

#endif // AMPC_TOOLS_AMPC_EVAL_NPY_H
