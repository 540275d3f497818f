//===- clocks.cpp - Who knows what has happened, within a block -----------===//
#include "runtime/devices/sim/clocks.h"

namespace ampc::runtime::sim {

static void raise(uint32_t &value, uint32_t to) {
  value = value < to ? to : value;
}

void Clocks::allocate(uint32_t numThreads) {
  threads = numThreads;
  warpgroups = (numThreads + 127) / 128;
  capacity = firstStream() + maxStreams;
  own.resize(threads);
  ownCopies.resize(threads);
  ownGroups.resize(threads);
  hasRow.resize(threads);
  common.resize(capacity);
  joined.resize(capacity);
}

void Clocks::reset() {
  used = firstStream();
  for (uint32_t i = 0; i < threads; ++i) {
    own[i] = 1;
    ownCopies[i] = ownGroups[i] = 0;
    hasRow[i] = 0;
  }
  memset(common.data(), 0, capacity * sizeof(uint32_t));
  anyRow = false;
}

uint32_t Clocks::addStream() { return used < capacity ? used++ : 0; }

uint32_t *Clocks::makeRow(uint32_t thread) {
  if (rows.empty()) {
    rows.resize(static_cast<size_t>(threads) * capacity);
  }
  uint32_t *mine = row(thread);
  if (!hasRow[thread]) {
    memcpy(mine, common.data(), used * sizeof(uint32_t));
    // Streams made later begin as unknown.
    memset(mine + used, 0, (capacity - used) * sizeof(uint32_t));
    hasRow[thread] = 1;
    anyRow = true;
  }
  return mine;
}

void Clocks::learn(uint32_t thread, uint32_t agent, uint32_t clock) {
  if (agent == copiesOf(thread)) {
    raise(ownCopies[thread], clock);
  } else if (agent == groupsOf(thread)) {
    raise(ownGroups[thread], clock);
  } else {
    raise(makeRow(thread)[agent], clock);
  }
}

void Clocks::addTo(uint32_t thread, uint32_t *into) const {
  const uint32_t *known = hasRow[thread] ? row(thread) : common.data();
  for (uint32_t i = 0; i < used; ++i) {
    into[i] = into[i] < known[i] ? known[i] : into[i];
  }
  raise(into[thread], own[thread]);
  raise(into[copiesOf(thread)], ownCopies[thread]);
  raise(into[groupsOf(thread)], ownGroups[thread]);
}

void Clocks::release(uint32_t thread, uint32_t *into) {
  addTo(thread, into);
  ++own[thread];
}

void Clocks::acquire(uint32_t thread, const uint32_t *from) {
  uint32_t *mine = makeRow(thread);
  for (uint32_t i = 0; i < used; ++i) {
    mine[i] = mine[i] < from[i] ? from[i] : mine[i];
  }
}

void Clocks::meetAll() {
  if (anyRow) {
    for (uint32_t i = 0; i < threads; ++i) {
      if (hasRow[i]) {
        addTo(i, common.data());
        hasRow[i] = 0;
      }
    }
    anyRow = false;
  }
  for (uint32_t i = 0; i < threads; ++i) {
    raise(common[i], own[i]++);
    raise(common[copiesOf(i)], ownCopies[i]);
    raise(common[groupsOf(i)], ownGroups[i]);
  }
}

void Clocks::meet(const uint32_t *members, uint32_t count) {
  memset(joined.data(), 0, used * sizeof(uint32_t));
  for (uint32_t i = 0; i < count; ++i) {
    release(members[i], joined.data());
  }
  for (uint32_t i = 0; i < count; ++i) {
    acquire(members[i], joined.data());
  }
}

} // namespace ampc::runtime::sim
