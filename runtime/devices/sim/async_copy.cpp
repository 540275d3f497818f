//===- async_copy.cpp - cp.async ------------------------------------------===//
//
// A copy moves its bytes when its group is waited for, as late as the hardware
// may: whoever reads before sees what was there.
//
//===----------------------------------------------------------------------===//
#include "runtime/devices/sim/async_copy.h"

#include "runtime/devices/sim/meeting.h"

namespace ampc::runtime::sim {
namespace {

struct CopyOperands {
  uint8_t *to;
  const uint8_t *from;
  uint32_t read;
};

void move(const AsyncCopy &copy) {
  memcpy(copy.to, copy.from, copy.read);
  memset(copy.to + copy.read, 0, copy.bytes - copy.read);
}

void closeGroup(Thread &self) {
  self.copyGroups.push(
      {static_cast<uint32_t>(self.copies.size()), ++self.copyClock});
}

/// Does the oldest groups until `left` remain.
void waitFor(Block &block, Thread &self, size_t left) {
  size_t groups = self.copyGroups.size();
  if (groups <= left) {
    return;
  }
  CopyGroup last = self.copyGroups[groups - left - 1];
  for (uint32_t i = 0; i < last.end; ++i) {
    move(self.copies[i]);
  }
  for (uint32_t i = last.end; i < self.copies.size(); ++i) {
    self.copies[i - last.end] = self.copies[i];
  }
  self.copies.resize(self.copies.size() - last.end);
  for (size_t i = 0; i < left; ++i) {
    const CopyGroup &group = self.copyGroups[groups - left + i];
    self.copyGroups[i] = {group.end - last.end, group.clock};
  }
  self.copyGroups.resize(left);
  block.clocks.learn(self.id, block.clocks.copiesOf(self.id), last.clock);
}

} // namespace

void finishCopies(Block &block, Thread &thread) {
  closeGroup(thread);
  waitFor(block, thread, 0);
}

} // namespace ampc::runtime::sim

using namespace ampc::runtime::sim;

void ampc_sim_cp_async(const ampc_sim_site *site, const void *operands,
                       void *) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  const auto &given = *static_cast<const CopyOperands *>(operands);
  uint32_t bytes = site->imm[0];
  uint32_t read = site->imm[1] ? given.read : bytes;
  auto to = reinterpret_cast<uint64_t>(given.to);
  auto from = reinterpret_cast<uint64_t>(given.from);
  ++block.counters.asyncCopies;
  if (to % bytes != 0 || (read > 0 && from % bytes != 0)) {
    AMPC_SIM_FATAL(
        block, Fault::misaligned, site, nullptr,
        "cp.async of %u bytes from %s to %s: both have to be multiples of that",
        bytes, block.describe(from).c_str(), block.describe(to).c_str());
  }
  if (read > bytes) {
    AMPC_SIM_FATAL(block, Fault::invalidOperand, site, nullptr,
                   "expected at most %u bytes to read, got %u", bytes, read);
  }
  if (!block.inShared(to)) {
    AMPC_SIM_FATAL(block, Fault::outOfBounds, site, nullptr,
                   "the destination, %s, is not in shared memory",
                   block.describe(to).c_str());
  }
  if (block.options().traffic) {
    if (read > 0) {
      block.traffic.add(self.id / 32, self.lane, site, from, false);
    }
    block.traffic.add(self.id / 32, self.lane, site, to, true);
  }
  Accessor who{self.id, block.clocks.copiesOf(self.id), self.copyClock + 1};
  if ((read > 0 && !block.launch->memory->access(block, self, from, read,
                                                 AMPC_SIM_READ, site)) ||
      !block.shadow.access(block, who, block.offsetOf(given.to), bytes,
                           AMPC_SIM_WRITE, site)) {
    block.abandon();
  }
  self.copies.push({given.to, given.from, bytes, read});
}

void ampc_sim_cp_async_commit(const ampc_sim_site *, const void *, void *) {
  closeGroup(*currentBlock->current);
}

void ampc_sim_cp_async_wait(const ampc_sim_site *site, const void *operands,
                            void *) {
  Block &block = *currentBlock;
  if (site->imm[0]) {
    finishCopies(block, *block.current);
    return;
  }
  waitFor(block, *block.current, *static_cast<const uint32_t *>(operands));
}

// Groups and mbarriers wait for the same stream of copies. What is copied so
// far is done here, and known to whoever waits for the barrier's phase.
void ampc_sim_cp_async_arrive(const ampc_sim_site *site, const void *operands,
                              void *) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  uint64_t address = *static_cast<const uint64_t *>(operands);
  Mbarrier &barrier = findMbarrier(block, address, site);
  if (block.checks()) {
    uint32_t &known = barrier.arriving[block.clocks.copiesOf(self.id)];
    known = self.copyClock + 1;
  }
  for (const AsyncCopy &copy : self.copies) {
    move(copy);
  }
  self.copies.clear();
  for (CopyGroup &group : self.copyGroups) {
    group.end = 0;
  }
  ++self.copyClock;
  barrier.pending += site->imm[0] ? 0 : 1;
  arrive(block, barrier, 1, site);
}
