//===- MinCut.cpp - The cheapest cut of a flow network --------------------===//
#include "passes/Training/MinCut.h"

#include <algorithm>

namespace ampc::training {

unsigned FlowNetwork::addNode() {
  outgoing.emplace_back();
  return outgoing.size() - 1;
}

void FlowNetwork::addEdge(unsigned from, unsigned to, int64_t capacity) {
  outgoing[from].push_back(edges.size());
  edges.push_back({to, capacity});
  outgoing[to].push_back(edges.size());
  edges.push_back({from, 0});
}

bool FlowNetwork::findLevels(unsigned source, unsigned sink) {
  levels.assign(outgoing.size(), -1);
  levels[source] = 0;
  std::vector<unsigned> reached{source};
  for (size_t i = 0; i < reached.size(); ++i) {
    unsigned node = reached[i];
    for (unsigned index : outgoing[node]) {
      const Edge &edge = edges[index];
      if (edge.capacity > 0 && levels[edge.to] < 0) {
        levels[edge.to] = levels[node] + 1;
        reached.push_back(edge.to);
      }
    }
  }
  return levels[sink] >= 0;
}

int64_t FlowNetwork::augment(unsigned source, unsigned sink) {
  llvm::SmallVector<unsigned> path;
  unsigned node = source;
  while (node != sink) {
    if (next[node] < outgoing[node].size()) {
      unsigned index = outgoing[node][next[node]];
      const Edge &edge = edges[index];
      if (edge.capacity > 0 && levels[edge.to] == levels[node] + 1) {
        path.push_back(index);
        node = edge.to;
      } else {
        ++next[node];
      }
    } else if (path.empty()) {
      return 0;
    } else {
      // A dead end: back, and never this way again.
      node = edges[path.pop_back_val() ^ 1].to;
      ++next[node];
    }
  }
  int64_t amount = unlimited;
  for (unsigned index : path) {
    amount = std::min(amount, edges[index].capacity);
  }
  for (unsigned index : path) {
    edges[index].capacity -= amount;
    edges[index ^ 1].capacity += amount;
  }
  return amount;
}

llvm::BitVector FlowNetwork::cut(unsigned source, unsigned sink) {
  while (findLevels(source, sink)) {
    next.assign(outgoing.size(), 0);
    while (augment(source, sink) > 0) {
    }
  }
  llvm::BitVector side(outgoing.size());
  for (unsigned node = 0; node < outgoing.size(); ++node) {
    side[node] = levels[node] >= 0;
  }
  return side;
}

} // namespace ampc::training
