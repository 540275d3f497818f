//===- MinCut.h - The cheapest cut of a flow network ------------*- C++ -*-===//
#ifndef AMPC_PASSES_TRAINING_MINCUT_H
#define AMPC_PASSES_TRAINING_MINCUT_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace ampc::training {

/// Directed edges with capacities between numbered nodes.
class FlowNetwork {
public:
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 4;

  unsigned addNode();
  void addEdge(unsigned from, unsigned to, int64_t capacity);

  /// The nodes on the source's side of a cheapest cut between `source` and
  /// `sink`: the least such set, so the cut lies as near to the source as it
  /// can. Dinic's algorithm.
  llvm::BitVector cut(unsigned source, unsigned sink);

private:
  struct Edge {
    unsigned to;
    int64_t capacity; ///< that is left
  };

  bool findLevels(unsigned source, unsigned sink);
  /// Sends what fits along one path of rising levels; 0 if there is none.
  int64_t augment(unsigned source, unsigned sink);

  /// Edge i and i ^ 1 are opposite.
  std::vector<Edge> edges;
  std::vector<llvm::SmallVector<unsigned, 4>> outgoing;
  std::vector<int> levels;
  std::vector<unsigned> next; ///< outgoing edges that lead nowhere
};

} // namespace ampc::training

#endif // AMPC_PASSES_TRAINING_MINCUT_H
