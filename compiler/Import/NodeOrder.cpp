//===- NodeOrder.cpp - Producers before users -----------------------------===//
#include "compiler/Import/NodeOrder.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <queue>

using namespace llvm;

namespace ampc::importer {

/// Each node that was not placed uses another such one; going back through them
/// must come around.
static std::vector<uint32_t> findCycle(ArrayRef<NodeDependences> dependences,
                                       const std::vector<bool> &isPlaced) {
  auto previous = [&](uint32_t node) {
    return *llvm::find_if(dependences[node],
                          [&](uint32_t dep) { return !isPlaced[dep]; });
  };
  uint32_t node = llvm::find(isPlaced, false) - isPlaced.begin();
  std::vector<bool> isVisited(dependences.size());
  while (!isVisited[node]) {
    isVisited[node] = true;
    node = previous(node);
  }
  std::vector<uint32_t> cycle;
  uint32_t start = node;
  do {
    cycle.push_back(node);
    node = previous(node);
  } while (node != start);
  return cycle;
}

SortedNodes sortNodes(ArrayRef<NodeDependences> dependences) {
  size_t count = dependences.size();
  std::vector<uint32_t> missing(count);
  std::vector<NodeDependences> users(count);
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (size_t node = 0; node < count; ++node) {
    missing[node] = dependences[node].size();
    for (uint32_t producer : dependences[node]) {
      users[producer].push_back(node);
    }
    if (missing[node] == 0) {
      ready.push(node);
    }
  }
  SortedNodes sorted;
  sorted.order.reserve(count);
  std::vector<bool> isPlaced(count);
  while (!ready.empty()) {
    uint32_t node = ready.top();
    ready.pop();
    sorted.order.push_back(node);
    isPlaced[node] = true;
    for (uint32_t user : users[node]) {
      if (--missing[user] == 0) {
        ready.push(user);
      }
    }
  }
  if (sorted.order.size() != count) {
    sorted.cycle = findCycle(dependences, isPlaced);
  }
  return sorted;
}

} // namespace ampc::importer
