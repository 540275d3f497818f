//===- MinCut.h - The cheapest separation of a graph ------------*- C++ -*-===//
#ifndef AMPC_PASSES_GRAPH_MINCUT_H
#define AMPC_PASSES_GRAPH_MINCUT_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace ampc::graph {

/// A directed graph with capacities between a source and a sink, cut where it
/// is cheapest (Dinic's maximum flow).
class MinCut {
public:
  static constexpr unsigned source = 0, sink = 1;
  /// The capacity of an edge that is never cut.
  static constexpr int64_t infinite = std::numeric_limits<int64_t>::max() / 4;

  MinCut() : edgesOf(2) {}

  unsigned addNode();
  /// Cutting costs `capacity` when `from` is on the source's side and `to` on
  /// the sink's.
  void addEdge(unsigned from, unsigned to, int64_t capacity);

  /// Whether each node is on the source's side of a cheapest cut. Of all such
  /// cuts it is the one nearest to the sink.
  std::vector<bool> solve();

private:
  struct Edge {
    unsigned to;
    int64_t left; ///< capacity that no flow uses
  };

  bool findLevels();
  int64_t augment();

  /// Edge 2i and its reverse 2i + 1.
  std::vector<Edge> edges;
  std::vector<llvm::SmallVector<unsigned, 4>> edgesOf;
  std::vector<int> levels;
  std::vector<unsigned> nextEdge;
};

} // namespace ampc::graph

#endif // AMPC_PASSES_GRAPH_MINCUT_H
