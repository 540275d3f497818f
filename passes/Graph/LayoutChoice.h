//===- LayoutChoice.h - Which ops work with channels last -------*- C++ -*-===//
#ifndef AMPC_PASSES_GRAPH_LAYOUTCHOICE_H
#define AMPC_PASSES_GRAPH_LAYOUTCHOICE_H

#include "dialects/Interfaces/LayoutInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace ampc::graph {

/// Whether a transposition moves only dimensions of one element, so that it is
/// a reshape.
bool isFreeTranspose(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> permutation);

/// The ops of a block that work with channels last.
using LayoutChoice = llvm::DenseSet<mlir::Operation *>;

/// The choice with every convolution in it for which the fewest bytes are
/// transposed at run time; of equal ones the largest, so that convolutions keep
/// their epilogues. Empty without convolutions.
LayoutChoice chooseLayouts(mlir::Block &block);

} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_LAYOUTCHOICE_H
