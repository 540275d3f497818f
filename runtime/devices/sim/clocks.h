//===- clocks.h - Who knows what has happened, within a block -------------===//
//
// Vector clocks. Agents are the threads of a block, the stream of cp.async
// groups of each thread, the stream of wgmma groups of each warpgroup, and as
// many further streams of asynchronous work as the block makes: an mbarrier's
// phases, the bulk stores of a thread. What an agent did at its clock c has
// happened before a thread's present if the thread knows c of that agent.
//
// Most blocks synchronise as a whole, so what all threads know is kept once;
// only a thread that synchronised with fewer has a row of its own.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_CLOCKS_H
#define AMPC_RUNTIME_DEVICES_SIM_CLOCKS_H

#include "runtime/core/support.h"

namespace ampc::runtime::sim {

class Clocks {
public:
  static constexpr uint32_t maxStreams = 256;

  /// Once for a size of block.
  void allocate(uint32_t numThreads);
  /// For each block.
  void reset();

  /// Entries of the arrays that release and acquire take.
  uint32_t agents() const { return capacity; }
  uint32_t copiesOf(uint32_t thread) const { return threads + thread; }
  uint32_t groupsOf(uint32_t thread) const {
    return 2 * threads + thread / 128;
  }
  uint32_t firstStream() const { return 2 * threads + warpgroups; }
  /// A new stream; maxStreams at most, else 0.
  uint32_t addStream();

  bool knows(uint32_t thread, uint32_t agent, uint32_t clock) const {
    if (agent == thread || clock <= common[agent]) {
      return true;
    }
    return clock <= privately(thread, agent);
  }
  uint32_t now(uint32_t thread) const { return own[thread]; }
  /// The last of the thread's own asynchronous copies that it knows to be done.
  uint32_t copiesDone(uint32_t thread) const {
    uint32_t all = common[copiesOf(thread)];
    return all > ownCopies[thread] ? all : ownCopies[thread];
  }

  /// `thread` learns that asynchronous work up to `clock` is done.
  void learn(uint32_t thread, uint32_t agent, uint32_t clock);
  /// Adds all that `thread` knows and did to `into`, and begins a new clock.
  void release(uint32_t thread, uint32_t *into);
  /// Begins a new clock.
  void advance(uint32_t thread) { ++own[thread]; }
  void acquire(uint32_t thread, const uint32_t *from);
  /// All threads of the block have met.
  void meetAll();
  /// These have met.
  void meet(const uint32_t *members, uint32_t count);

private:
  uint32_t privately(uint32_t thread, uint32_t agent) const {
    if (agent == copiesOf(thread)) {
      return ownCopies[thread];
    }
    if (agent == groupsOf(thread) && ownGroups[thread] > 0) {
      uint32_t known = hasRow[thread] ? row(thread)[agent] : 0;
      return known > ownGroups[thread] ? known : ownGroups[thread];
    }
    return hasRow[thread] ? row(thread)[agent] : 0;
  }
  uint32_t *row(uint32_t thread) {
    return rows.data() + static_cast<size_t>(thread) * capacity;
  }
  const uint32_t *row(uint32_t thread) const {
    return rows.data() + static_cast<size_t>(thread) * capacity;
  }
  uint32_t *makeRow(uint32_t thread);
  void addTo(uint32_t thread, uint32_t *into) const;

  uint32_t threads = 0, warpgroups = 0, capacity = 0, used = 0;
  Vec<uint32_t> own, ownCopies, ownGroups; // of each thread
  Vec<uint32_t> common;                    // known to all
  Vec<uint32_t> rows;
  Vec<uint8_t> hasRow;
  Vec<uint32_t> joined;
  bool anyRow = false;
};

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_CLOCKS_H
