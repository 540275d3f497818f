//===- NodeNames.h - The ONNX nodes that an operation stands for ----------===//
#ifndef AMPC_PASSES_PRECISION_NODENAMES_H
#define AMPC_PASSES_PRECISION_NODENAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace ampc::precision {

/// One ONNX node as the importer writes it into a location:
/// "name"("path"("operator"("name of the call"(...)))). The call is the node
/// that stands for the model's function in which this node was found; it is
/// written in the same form.
struct OnnxNode {
  llvm::StringRef name;         ///< for people; not unique
  llvm::StringRef path;         ///< graph path and index: unique; may be empty
  llvm::StringRef operatorName; ///< with "domain::" outside the default one
};

/// A node and the calls around it, innermost first.
struct NestedNode {
  OnnxNode node;
  llvm::SmallVector<OnnxNode, 2> calls;
};

/// The ONNX nodes whose work an operation at `loc` does, in order.
llvm::SmallVector<NestedNode, 2> getNodes(mlir::Location loc);

/// The parts of these nodes, in order, each list without repetition.
struct NodeNames {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::SmallVector<llvm::StringRef> paths;
  llvm::SmallVector<llvm::StringRef> operators;
};
NodeNames getNodeNames(mlir::Location loc);

/// The operator that `op` is: the ONNX operator of a composite, else the name
/// of the op without its dialect.
llvm::StringRef getOperatorName(mlir::Operation *op);

/// One spelling of an operator or function for comparisons:
/// "LayerNormalization" and "layer_norm" are equal, and so are
/// "com.microsoft::Gelu" and "com.microsoft.Gelu".
std::string normalizeOperator(llvm::StringRef name);

/// "; nearest: 'a', 'b'": those of `names` with the least edit distance.
std::string describeNearest(llvm::StringRef wanted,
                            llvm::ArrayRef<llvm::StringRef> names);

} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_NODENAMES_H
