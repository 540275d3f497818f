//===- MinCut.cpp - The cheapest separation of a graph --------------------===//
#include "passes/Graph/MinCut.h"

#include <algorithm>

using namespace ampc::graph;

unsigned MinCut::addNode() {
  edgesOf.emplace_back();
  return edgesOf.size() - 1;
}

void MinCut::addEdge(unsigned from, unsigned to, int64_t capacity) {
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

/// Numbers nodes by their distance from the source over edges with capacity
/// left; whether the sink is among them.
bool MinCut::findLevels() {
  levels.assign(edgesOf.size(), -1);
  levels[source] = 0;
  std::vector<unsigned> queue{source};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (unsigned index : edgesOf[queue[i]]) {
      const Edge &edge = edges[index];
      if (edge.left > 0 && levels[edge.to] < 0) {
        levels[edge.to] = levels[queue[i]] + 1;
        queue.push_back(edge.to);
      }
    }
  }
  return levels[sink] >= 0;
}

/// Sends flow along one path of rising levels; 0 when there is none.
int64_t MinCut::augment() {
  std::vector<unsigned> path;
  unsigned node = source;
  while (node != sink) {
    if (nextEdge[node] == edgesOf[node].size()) {
      // A dead end: step back and never come here again.
      if (path.empty()) {
        return 0;
      }
      node = edges[path.back() ^ 1].to;
      path.pop_back();
      ++nextEdge[node];
      continue;
    }
    unsigned index = edgesOf[node][nextEdge[node]];
    const Edge &edge = edges[index];
    if (edge.left > 0 && levels[edge.to] == levels[node] + 1) {
      path.push_back(index);
      node = edge.to;
    } else {
      ++nextEdge[node];
    }
  }
  int64_t flow = infinite;
  for (unsigned index : path) {
    flow = std::min(flow, edges[index].left);
  }
  for (unsigned index : path) {
    edges[index].left -= flow;
    edges[index ^ 1].left += flow;
  }
  return flow;
}

std::vector<bool> MinCut::solve() {
  while (findLevels()) {
    nextEdge.assign(edgesOf.size(), 0);
    while (augment() > 0) {
    }
  }
  // What can still reach the sink is on its side.
  std::vector<bool> isSourceSide(edgesOf.size(), true);
  isSourceSide[sink] = false;
  std::vector<unsigned> queue{sink};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (unsigned index : edgesOf[queue[i]]) {
      unsigned from = edges[index].to;
      if (edges[index ^ 1].left > 0 && isSourceSide[from]) {
        isSourceSide[from] = false;
        queue.push_back(from);
      }
    }
  }
  return isSourceSide;
}
