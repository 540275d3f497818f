//===- NodeOrder.h - Producers before users -------------------------------===//
#ifndef AMPC_COMPILER_IMPORT_NODEORDER_H
#define AMPC_COMPILER_IMPORT_NODEORDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace ampc::importer {

/// The nodes whose results one node uses, perhaps with repetition.
using NodeDependences = llvm::SmallVector<uint32_t, 4>;

struct SortedNodes {
  std::vector<uint32_t> order; ///< all nodes, but for those behind a cycle
  std::vector<uint32_t> cycle; ///< each node uses the next, the last the first
};

/// Orders nodes so that producers precede users; of those that are ready, the
/// earliest comes first, so a sorted list keeps its order.
SortedNodes sortNodes(llvm::ArrayRef<NodeDependences> dependences);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_NODEORDER_H
