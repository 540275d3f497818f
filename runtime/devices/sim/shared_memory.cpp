//===- shared_memory.cpp - What has happened to each byte of shared memory ===//
#include "runtime/devices/sim/block.h"

#include <sys/mman.h>

namespace ampc::runtime::sim {

static constexpr size_t shadowBytes =
    3 * sizeof(uint64_t) * static_cast<size_t>(Block::windowBytes);

SharedShadow::~SharedShadow() {
  if (writes) {
    munmap(writes, shadowBytes);
  }
}

Status SharedShadow::allocate() {
  void *mapped = mmap(nullptr, shadowBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return Status::error(AMPC_LIMIT, "cannot allocate the shadow memory");
  }
  writes = static_cast<uint64_t *>(mapped);
  reads[0] = writes + Block::windowBytes;
  reads[1] = reads[0] + Block::windowBytes;
  return Status();
}

/// Bytes of `variable` in this launch.
static uint32_t bytesOf(const Block &block, const ampc_sim_variable &variable) {
  return variable.bytes ? variable.bytes : block.launch->config.dynamicShared;
}

void SharedShadow::reset(const Block &block) {
  const ampc_sim_kernel &kernel = *block.launch->config.kernel;
  memset(writes, 0xff, block.sharedBytes * sizeof(uint64_t));
  for (uint64_t *read : reads) {
    memset(read, 0, block.sharedBytes * sizeof(uint64_t));
  }
  for (uint32_t i = 0; i < kernel.num_variables; ++i) {
    const ampc_sim_variable &variable = kernel.variables[i];
    memset(writes + variable.offset, 0,
           bytesOf(block, variable) * sizeof(uint64_t));
  }
}

Str describeShared(const Block &block, uint32_t offset) {
  const ampc_sim_kernel &kernel = *block.launch->config.kernel;
  const ampc_sim_variable *nearest = nullptr;
  for (uint32_t i = 0; i < kernel.num_variables; ++i) {
    const ampc_sim_variable &variable = kernel.variables[i];
    if (variable.offset <= offset &&
        (!nearest || variable.offset > nearest->offset)) {
      nearest = &variable;
    }
  }
  Str text;
  if (!nearest) {
    text.appendf("shared memory + %u", offset);
    return text;
  }
  text.appendf("%s + %u", nearest->name, offset - nearest->offset);
  uint32_t bytes = bytesOf(block, *nearest);
  if (offset - nearest->offset >= bytes) {
    text.appendf(" (it has %u bytes)", bytes);
  }
  return text;
}

bool SharedShadow::inBounds(Block &block, uint32_t offset, uint32_t bytes,
                            const ampc_sim_site *site) {
  uint32_t bad = offset;
  if (offset < block.sharedBytes && bytes <= block.sharedBytes - offset) {
    if (!block.checks()) {
      return true;
    }
    uint32_t i = 0;
    while (i < bytes && writes[offset + i] != Stamp::gap) {
      ++i;
    }
    if (i == bytes) {
      return true;
    }
    bad = offset + i;
  } else if (offset < block.sharedBytes) {
    bad = block.sharedBytes;
  }
  AMPC_SIM_FAULT(block, Fault::outOfBounds, site, nullptr,
                 "%u bytes at offset %u of shared memory reach outside of its "
                 "variables, at %s",
                 bytes, offset, describeShared(block, bad).c_str());
  return false;
}

/// Reports `who`'s conflict with an earlier access. Always false.
bool SharedShadow::conflict(Block &block, const Accessor &who, uint64_t earlier,
                            uint32_t offset, bool earlierWrites, uint32_t use,
                            const ampc_sim_site *site) {
  Stamp stamp(earlier);
  const Clocks &clocks = block.clocks;
  const ampc_sim_site *other = block.siteAt(stamp.site());
  Str where = describeShared(block, offset);
  const char *verb = use & AMPC_SIM_WRITE ? "write" : "read";
  uint32_t agent = stamp.agent();
  if (agent == Stamp::barrierAgent) {
    AMPC_SIM_FAULT(block, Fault::barrierMisuse, site, other,
                   "%s of the mbarrier object %s as plain memory", verb,
                   where.c_str());
  } else if (agent < block.numThreads) {
    AMPC_SIM_FAULT(block, Fault::sharedRace, site, other,
                   "%s of %s races with a %s by thread %u: no barrier between",
                   verb, where.c_str(), earlierWrites ? "write" : "read",
                   agent);
  } else if (agent < clocks.copiesOf(block.numThreads)) {
    uint32_t thread = agent - block.numThreads;
    AMPC_SIM_FAULT(block, Fault::missingWait, site, other,
                   thread == who.thread
                       ? "%s of %s, which cp.async of thread %u may still be "
                         "writing: no cp.async.wait_group before"
                       : "%s of %s, which cp.async of thread %u may still be "
                         "writing: no cp.async.wait_group there and barrier "
                         "after it",
                   verb, where.c_str(), thread);
  } else if (agent < clocks.firstStream()) {
    AMPC_SIM_FAULT(block, Fault::missingWait, site, other,
                   "%s of %s, which wgmma of warpgroup %u may still be "
                   "reading: no wgmma.wait_group before",
                   verb, where.c_str(), agent - 2 * block.numThreads);
  } else if (earlierWrites) {
    AMPC_SIM_FAULT(block, Fault::missingWait, site, other,
                   "%s of %s, which a bulk copy may still be writing: its "
                   "mbarrier phase is not waited for",
                   verb, where.c_str());
  } else {
    AMPC_SIM_FAULT(block, Fault::missingWait, site, other,
                   "%s of %s, which a bulk store may still be reading: no "
                   "cp.async.bulk.wait_group before",
                   verb, where.c_str());
  }
  return false;
}

void SharedShadow::recordRead(const Block &block, const Accessor &who,
                              uint32_t at, uint64_t stamp) {
  for (uint64_t *read : reads) {
    uint64_t old = read[at];
    if (old == 0 || Stamp(old).agent() == who.agent) {
      read[at] = stamp;
      return;
    }
  }
  for (uint64_t *read : reads) {
    Stamp old(read[at]);
    if (block.clocks.knows(who.thread, old.agent(), old.clock())) {
      read[at] = stamp;
      return;
    }
  }
  reads[block.random >> 40 & 1][at] = stamp;
}

bool SharedShadow::checkByte(Block &block, const Accessor &who, uint32_t at,
                             uint32_t use, const ampc_sim_site *site) {
  uint64_t written = writes[at];
  if (written == Stamp::unwritten) {
    if (use & AMPC_SIM_WRITE) {
      if (!(use & AMPC_SIM_UPDATE)) {
        return true;
      }
    }
    AMPC_SIM_FAULT(block, Fault::uninitialized, site, nullptr,
                   "read of %s, which nothing has written",
                   describeShared(block, at).c_str());
    return false;
  }
  Stamp stamp(written);
  const ampc_sim_site *other = block.siteAt(stamp.site());
  bool bothAtomic = (use & AMPC_SIM_ATOMIC) && other &&
                    stamp.agent() < block.numThreads &&
                    (other->use & AMPC_SIM_ATOMIC);
  if (!bothAtomic &&
      !block.clocks.knows(who.thread, stamp.agent(), stamp.clock())) {
    return conflict(block, who, written, at, true, use, site);
  }
  if (!(use & AMPC_SIM_WRITE)) {
    return true;
  }
  for (uint64_t *read : reads) {
    uint64_t old = read[at];
    if (old == 0) {
      continue;
    }
    Stamp reader(old);
    const ampc_sim_site *readSite = block.siteAt(reader.site());
    if ((use & AMPC_SIM_ATOMIC) && readSite &&
        reader.agent() < block.numThreads &&
        (readSite->use & AMPC_SIM_ATOMIC)) {
      continue;
    }
    if (!block.clocks.knows(who.thread, reader.agent(), reader.clock())) {
      return conflict(block, who, old, at, false, use, site);
    }
  }
  return true;
}

bool SharedShadow::access(Block &block, const Accessor &who, uint32_t offset,
                          uint32_t bytes, uint32_t use,
                          const ampc_sim_site *site) {
  if (!inBounds(block, offset, bytes, site)) {
    return false;
  }
  if (!block.checks()) {
    return true;
  }
  uint64_t stamp = Stamp::make(who.clock, who.agent, site->index);
  uint64_t *w = writes + offset;
  uint64_t *r0 = reads[0] + offset, *r1 = reads[1] + offset;
  // Most accesses meet bytes of one history.
  uint64_t differ = 0;
  for (uint32_t i = 1; i < bytes; ++i) {
    differ |= (w[i] ^ w[0]) | (r0[i] ^ r0[0]) | (r1[i] ^ r1[0]);
  }
  uint32_t distinct = differ ? bytes : 1;
  bool good = true;
  for (uint32_t i = 0; i < distinct && good; ++i) {
    good = checkByte(block, who, offset + i, use, site);
  }
  if (use & AMPC_SIM_WRITE) {
    for (uint32_t i = 0; i < bytes; ++i) {
      w[i] = stamp;
      r0[i] = r1[i] = 0;
    }
    return true;
  }
  for (uint32_t i = 0; i < distinct; ++i) {
    recordRead(block, who, offset + i, stamp);
  }
  for (uint32_t i = distinct; i < bytes; ++i) {
    r0[i] = r0[0];
    r1[i] = r1[0];
  }
  if (!good && !Stamp(w[0]).clock()) {
    // Told once; what follows from it is no news.
    for (uint32_t i = 0; i < bytes; ++i) {
      w[i] = w[i] == Stamp::unwritten ? stamp : w[i];
    }
  }
  return true;
}

bool SharedShadow::checkProxy(Block &block, const Accessor &who, uint32_t at,
                              const ampc_sim_site *site) {
  Stamp stamp(writes[at]);
  uint32_t agent = stamp.agent();
  if (writes[at] == Stamp::unwritten || agent >= 2 * block.numThreads) {
    return true;
  }
  // cp.async writes by the generic proxy, but bulk copies do not (PTX ISA,
  // "Async proxy").
  bool copies = agent >= block.numThreads;
  uint32_t writer = copies ? agent - block.numThreads : agent;
  const Thread &thread = block.threads[writer];
  if (stamp.clock() <= (copies ? thread.proxyCopies : thread.proxyClock) ||
      block.threads[who.thread].fencedAll) {
    return true;
  }
  AMPC_SIM_FAULT(block, Fault::missingFence, site, block.siteAt(stamp.site()),
                 "the asynchronous proxy reads %s, which thread %u has written "
                 "with no fence.proxy.async since",
                 describeShared(block, at).c_str(), writer);
  return false;
}

bool SharedShadow::asyncRead(Block &block, const Accessor &who, uint32_t offset,
                             uint32_t bytes, const ampc_sim_site *site) {
  if (!access(block, who, offset, bytes, AMPC_SIM_READ, site)) {
    return false;
  }
  for (uint32_t i = 0; block.checks() && i < bytes; ++i) {
    if (!checkProxy(block, who, offset + i, site)) {
      break;
    }
  }
  return true;
}

void SharedShadow::setBarrier(uint32_t offset, bool isBarrier) {
  for (uint32_t i = 0; i < 8; ++i) {
    writes[offset + i] = isBarrier
                             ? Stamp::make(~0u, Stamp::barrierAgent, 0xffff)
                             : Stamp::unwritten;
    reads[0][offset + i] = reads[1][offset + i] = 0;
  }
}

bool SharedShadow::isBarrier(uint32_t offset) const {
  return Stamp(writes[offset]).agent() == Stamp::barrierAgent &&
         writes[offset] != Stamp::gap;
}

} // namespace ampc::runtime::sim
