//===- bulk_copy.cpp - cp.async.bulk, with and without tensor maps --------===//
#include "runtime/devices/sim/bulk_copy.h"

#include "runtime/devices/sim/meeting.h"
#include "runtime/devices/sim/tensor_map.h"

namespace ampc::runtime::sim {
namespace {

/// Calls visit(shared offset in the tile, global address or 0) for each
/// element of the box, in the order of shared memory.
template <typename Visit>
void forEachElement(const TensorMap &map, const int32_t *coordinates,
                    Visit visit) {
  uint32_t index[TensorMap::maxRank] = {};
  uint32_t count = map.boxBytes() / map.elementBytes;
  for (uint32_t element = 0; element < count; ++element) {
    uint64_t address = map.base;
    bool inside = true;
    for (uint32_t i = 0; i < map.rank; ++i) {
      int64_t at = static_cast<int64_t>(coordinates[i]) +
                   static_cast<int64_t>(index[i]) * map.elementStrides[i];
      inside = inside && at >= 0 && at <= map.sizesLess1[i];
      uint64_t stride = i == 0 ? map.elementBytes : map.strides[i - 1];
      address += static_cast<uint64_t>(at) * stride;
    }
    visit(element * map.elementBytes, inside ? address : 0);
    for (uint32_t i = 0; i < map.rank && ++index[i] == map.boxCount(i); ++i) {
      index[i] = 0;
    }
  }
}

void fillOutOfBounds(const TensorMap &map, uint8_t *to) {
  memset(to, 0, map.elementBytes);
  if (map.fillNan) {
    // f16 and bf16 have their own; the rest are f32 but for f64.
    memset(to, 0xff, map.elementBytes);
    to[map.elementBytes - 1] = 0x7f;
  }
}

void moveTensor(Block &block, const BulkCopy &copy) {
  const auto &map = *static_cast<const TensorMap *>(copy.map);
  uint64_t shared = reinterpret_cast<uint64_t>(copy.shared);
  forEachElement(map, copy.coordinates, [&](uint32_t offset, uint64_t global) {
    auto *at =
        reinterpret_cast<uint8_t *>(swizzled(shared + offset, map.swizzle));
    auto *element = reinterpret_cast<uint8_t *>(global);
    if (copy.kind == BulkCopy::tensorStore) {
      if (global) {
        memcpy(element, at, map.elementBytes);
      }
    } else if (global) {
      memcpy(at, element, map.elementBytes);
    } else {
      fillOutOfBounds(map, at);
    }
  });
  (void)block;
}

void run(Block &block, const BulkCopy &copy) {
  auto *global = static_cast<uint8_t *>(const_cast<void *>(copy.map));
  switch (copy.kind) {
  case BulkCopy::tensorLoad:
  case BulkCopy::tensorStore:
    moveTensor(block, copy);
    break;
  case BulkCopy::load:
    memcpy(copy.shared, global, copy.bytes);
    break;
  case BulkCopy::store:
    memcpy(global, copy.shared, copy.bytes);
    break;
  }
  block.progress();
  if (copy.kind == BulkCopy::tensorLoad || copy.kind == BulkCopy::load) {
    completeBytes(block, block.mbarriers[copy.mbarrier], copy.bytes, copy.site);
  }
}

void take(Block &block, size_t index) {
  BulkCopy copy = block.bulk[index];
  for (size_t i = index + 1; i < block.bulk.size(); ++i) {
    block.bulk[i - 1] = block.bulk[i];
  }
  block.bulk.resize(block.bulk.size() - 1);
  run(block, copy);
}

/// Checks the shared side and the agent's stamps there.
void checkShared(Block &block, const BulkCopy &copy, uint64_t alignment,
                 bool writes) {
  auto address = reinterpret_cast<uint64_t>(copy.shared);
  Thread &self = *block.current;
  if (!block.inShared(address)) {
    AMPC_SIM_FATAL(block, Fault::outOfBounds, copy.site, nullptr,
                   "the shared side, %s, is not in shared memory",
                   block.describe(address).c_str());
  }
  if (address % alignment != 0) {
    AMPC_SIM_FATAL(block, Fault::misaligned, copy.site, nullptr,
                   "the shared side, %s, is not aligned to %llu bytes",
                   describeShared(block, block.offsetOf(copy.shared)).c_str(),
                   static_cast<unsigned long long>(alignment));
  }
  bool good;
  if (writes) {
    const Mbarrier &barrier = block.mbarriers[copy.mbarrier];
    Accessor who{self.id, barrier.stream,
                 static_cast<uint32_t>(barrier.phase + 1)};
    good = block.shadow.access(block, who, block.offsetOf(copy.shared),
                               copy.bytes, AMPC_SIM_WRITE, copy.site);
  } else {
    Accessor who{self.id, self.bulkStream, copy.group};
    good = block.shadow.asyncRead(block, who, block.offsetOf(copy.shared),
                                  copy.bytes, copy.site);
  }
  if (!good) {
    block.abandon();
  }
}

/// Checks each contiguous run of the box in global memory.
void checkTensor(Block &block, const BulkCopy &copy, bool writes) {
  const auto &map = *static_cast<const TensorMap *>(copy.map);
  uint64_t begin = 0, end = 0;
  bool good = true;
  auto flush = [&]() {
    if (begin != end && good) {
      good = block.launch->memory->access(
          block, *block.current, begin, static_cast<uint32_t>(end - begin),
          writes ? AMPC_SIM_WRITE : AMPC_SIM_READ, copy.site);
    }
  };
  forEachElement(map, copy.coordinates, [&](uint32_t, uint64_t global) {
    if (!global) {
      return;
    }
    if (global != end) {
      flush();
      begin = global;
    }
    end = global + map.elementBytes;
  });
  flush();
  if (!good) {
    block.abandon();
  }
}

const TensorMap &checkedMap(Block &block, const ampc_sim_site *site,
                            const void *address) {
  const auto *map = static_cast<const TensorMap *>(address);
  if (reinterpret_cast<uint64_t>(address) % 64 != 0) {
    AMPC_SIM_FATAL(block, Fault::misaligned, site, nullptr,
                   "the tensor map, %s, is not aligned to 64 bytes",
                   block.describe(address).c_str());
  }
  if (!block.launch->memory->contains(address, 128) ||
      map->magic != TensorMap::magicNumber) {
    AMPC_SIM_FATAL(block, Fault::invalidOperand, site, nullptr,
                   "%s is no tensor map", block.describe(address).c_str());
  }
  if (site->imm[0] && site->imm[0] != map->rank) {
    AMPC_SIM_FATAL(block, Fault::invalidOperand, site, nullptr,
                   "%u coordinates for a tensor map of rank %u", site->imm[0],
                   map->rank);
  }
  return *map;
}

/// Makes the stream of the current thread's bulk stores.
void openGroup(Block &block, const ampc_sim_site *site) {
  Thread &self = *block.current;
  if (!self.bulkStream) {
    self.bulkStream = block.clocks.addStream();
    if (!self.bulkStream) {
      AMPC_SIM_FATAL(block, Fault::unsupported, site, nullptr,
                     "more than %u mbarriers and bulk-storing threads in a "
                     "block",
                     Clocks::maxStreams);
    }
  }
  self.bulkSite = site;
  self.bulkLast = self.bulkGroups + 1;
}

} // namespace

bool runBulkCopy(Block &block) {
  if (block.bulk.empty()) {
    return false;
  }
  size_t count = block.bulk.size();
  take(block, block.options().seed ? block.nextRandom() % count : 0);
  return true;
}

void checkBulkStores(Block &block) {
  const Thread &self = *block.current;
  if (self.bulkSite && self.bulkLast > self.bulkDone) {
    AMPC_SIM_FAULT(block, Fault::missingWait, self.bulkSite, nullptr,
                   "the thread ends without waiting for its bulk stores, which "
                   "may still read shared memory");
  }
}

void finishBulkCopies(Block &block) {
  while (!block.bulk.empty()) {
    BulkCopy copy = block.bulk[0];
    block.current = &block.threads[copy.thread];
    AMPC_SIM_FAULT(block, Fault::missingWait, copy.site, nullptr,
                   "the block ends while this copy is in flight");
    take(block, 0);
  }
}

} // namespace ampc::runtime::sim

using namespace ampc::runtime::sim;

void ampc_sim_tensor_load(const ampc_sim_site *site, const void *operands,
                          void *) {
  struct Operands {
    uint8_t *shared;
    uint64_t mbarrier;
    const void *map;
    int32_t coordinates[5];
  };
  Block &block = *currentBlock;
  const auto &given = *static_cast<const Operands *>(operands);
  const TensorMap &map = checkedMap(block, site, given.map);
  Mbarrier &barrier = findMbarrier(block, given.mbarrier, site);
  BulkCopy copy{};
  copy.kind = BulkCopy::tensorLoad;
  copy.shared = given.shared;
  copy.map = &map;
  memcpy(copy.coordinates, given.coordinates, map.rank * sizeof(int32_t));
  copy.bytes = map.boxBytes();
  copy.mbarrier = static_cast<uint32_t>(&barrier - block.mbarriers.data());
  copy.thread = block.current->id;
  copy.site = site;
  checkShared(block, copy, 128, true);
  checkTensor(block, copy, false);
  ++block.counters.bulkCopies;
  block.bulk.push(copy);
}

void ampc_sim_tensor_store(const ampc_sim_site *site, const void *operands,
                           void *) {
  struct Operands {
    uint8_t *shared;
    const void *map;
    int32_t coordinates[5];
  };
  Block &block = *currentBlock;
  const auto &given = *static_cast<const Operands *>(operands);
  const TensorMap &map = checkedMap(block, site, given.map);
  openGroup(block, site);
  BulkCopy copy{};
  copy.kind = BulkCopy::tensorStore;
  copy.shared = given.shared;
  copy.map = &map;
  memcpy(copy.coordinates, given.coordinates, map.rank * sizeof(int32_t));
  copy.bytes = map.boxBytes();
  copy.thread = block.current->id;
  copy.group = block.current->bulkGroups + 1;
  copy.site = site;
  checkShared(block, copy, 128, false);
  checkTensor(block, copy, true);
  ++block.counters.bulkCopies;
  block.bulk.push(copy);
}

void ampc_sim_tensor_prefetch(const ampc_sim_site *site, const void *operands,
                              void *) {
  checkedMap(*currentBlock, site, *static_cast<const void *const *>(operands));
}

void ampc_sim_bulk_load(const ampc_sim_site *site, const void *operands,
                        void *) {
  struct Operands {
    uint8_t *shared;
    uint64_t mbarrier;
    const uint8_t *global;
    uint32_t bytes;
  };
  Block &block = *currentBlock;
  const auto &given = *static_cast<const Operands *>(operands);
  auto from = reinterpret_cast<uint64_t>(given.global);
  if (from % 16 != 0 || given.bytes % 16 != 0) {
    AMPC_SIM_FATAL(block, Fault::misaligned, site, nullptr,
                   "%u bytes from %s: both have to be multiples of 16",
                   given.bytes, block.describe(from).c_str());
  }
  Mbarrier &barrier = findMbarrier(block, given.mbarrier, site);
  BulkCopy copy{};
  copy.kind = BulkCopy::load;
  copy.shared = given.shared;
  copy.map = given.global;
  copy.bytes = given.bytes;
  copy.mbarrier = static_cast<uint32_t>(&barrier - block.mbarriers.data());
  copy.thread = block.current->id;
  copy.site = site;
  checkShared(block, copy, 16, true);
  if (!block.launch->memory->access(block, *block.current, from, given.bytes,
                                    AMPC_SIM_READ, site)) {
    block.abandon();
  }
  ++block.counters.bulkCopies;
  block.bulk.push(copy);
}

void ampc_sim_bulk_store(const ampc_sim_site *site, const void *operands,
                         void *) {
  struct Operands {
    uint8_t *global;
    uint8_t *shared;
    uint32_t bytes;
  };
  Block &block = *currentBlock;
  const auto &given = *static_cast<const Operands *>(operands);
  auto to = reinterpret_cast<uint64_t>(given.global);
  if (to % 16 != 0 || given.bytes % 16 != 0) {
    AMPC_SIM_FATAL(block, Fault::misaligned, site, nullptr,
                   "%u bytes to %s: both have to be multiples of 16",
                   given.bytes, block.describe(to).c_str());
  }
  openGroup(block, site);
  BulkCopy copy{};
  copy.kind = BulkCopy::store;
  copy.shared = given.shared;
  copy.map = given.global;
  copy.bytes = given.bytes;
  copy.thread = block.current->id;
  copy.group = block.current->bulkGroups + 1;
  copy.site = site;
  checkShared(block, copy, 16, false);
  if (!block.launch->memory->access(block, *block.current, to, given.bytes,
                                    AMPC_SIM_WRITE, site)) {
    block.abandon();
  }
  ++block.counters.bulkCopies;
  block.bulk.push(copy);
}

void ampc_sim_bulk_commit(const ampc_sim_site *, const void *, void *) {
  ++currentBlock->current->bulkGroups;
}

void ampc_sim_bulk_wait(const ampc_sim_site *, const void *operands, void *) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  uint32_t left = *static_cast<const uint32_t *>(operands);
  if (self.bulkGroups <= left) {
    return;
  }
  uint32_t done = self.bulkDone = self.bulkGroups - left;
  for (size_t i = 0; i < block.bulk.size();) {
    const BulkCopy &copy = block.bulk[i];
    bool stores =
        copy.kind == BulkCopy::store || copy.kind == BulkCopy::tensorStore;
    if (stores && copy.thread == self.id && copy.group <= done) {
      take(block, i);
    } else {
      ++i;
    }
  }
  if (self.bulkStream && block.checks()) {
    block.clocks.learn(self.id, self.bulkStream, done);
  }
}
