//===- access.cpp - Loads, stores, atomics, fences, registers -------------===//
#include "runtime/devices/sim/access.h"

#include "runtime/devices/sim/meeting.h"

namespace ampc::runtime::sim {

static void check(Block &block, const ampc_sim_site *site, uint64_t address,
                  uint32_t bytes) {
  Thread &self = *block.current;
  ++block.counters.accesses;
  bool good;
  if (block.inShared(address)) {
    Accessor who{self.id, self.id, block.clocks.now(self.id)};
    uint32_t offset = block.offsetOf(reinterpret_cast<void *>(address));
    good = block.shadow.access(block, who, offset, bytes, site->use, site);
  } else {
    good = block.launch->memory->access(block, self, address, bytes, site->use,
                                        site);
  }
  if (!good) {
    block.abandon();
  }
}

} // namespace ampc::runtime::sim

using namespace ampc::runtime::sim;

void ampc_sim_access(const ampc_sim_site *site, uint64_t address) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  if (address & (site->imm[1] - 1)) {
    AMPC_SIM_FATAL(block, Fault::misaligned, site, nullptr,
                   "access of %u bytes at %s, which is not aligned to %u",
                   site->imm[0], block.describe(address).c_str(), site->imm[1]);
  }
  if (block.options().traffic) {
    block.traffic.add(self.id / 32, self.lane, site, address,
                      block.inShared(address));
  }
  if (!(site->use & AMPC_SIM_ATOMIC)) {
    block.progress();
    check(block, site, address, site->imm[0]);
    return;
  }
  bool reads = !(site->use & AMPC_SIM_WRITE) || (site->use & AMPC_SIM_UPDATE);
  if (reads) {
    block.yield(site); // it may be what a loop waits with
  }
  check(block, site, address, site->imm[0]);
  if (block.checks()) {
    block.launch->memory->orderBefore(block, self, address, site->use);
  }
}

void ampc_sim_range(const ampc_sim_site *site, uint64_t address,
                    uint64_t bytes) {
  Block &block = *currentBlock;
  block.progress();
  while (bytes > 0) {
    uint32_t part = bytes < 4096 ? static_cast<uint32_t>(bytes) : 4096;
    check(block, site, address, part);
    address += part;
    bytes -= part;
  }
}

void ampc_sim_after_atomic(const ampc_sim_site *site, uint64_t address) {
  Block &block = *currentBlock;
  if (block.checks()) {
    block.launch->memory->orderAfter(block, *block.current, address, site->use);
  }
}

void ampc_sim_fence(const ampc_sim_site *site, const void *, void *) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  if (!block.checks()) {
    return;
  }
  if (site->imm[0] == AMPC_SIM_FENCE_MEMORY) {
    block.launch->memory->fence(block, self);
  } else if (site->imm[0] == AMPC_SIM_FENCE_PROXY) {
    self.proxyClock = block.clocks.now(self.id);
    self.proxyCopies = block.clocks.copiesDone(self.id);
    self.fencedAll = true;
    block.clocks.advance(self.id);
  }
}

uint64_t ampc_sim_shared_base() {
  return reinterpret_cast<uint64_t>(currentBlock->window);
}

uint32_t ampc_sim_register(uint32_t which) {
  const Block &block = *currentBlock;
  const Thread &self = *block.current;
  const LaunchConfig &config = block.launch->config;
  uint32_t lane = 1u << self.lane;
  switch (which) {
  case AMPC_SIM_REGISTER_THREAD_X:
    return self.index.x;
  case AMPC_SIM_REGISTER_THREAD_Y:
    return self.index.y;
  case AMPC_SIM_REGISTER_THREAD_Z:
    return self.index.z;
  case AMPC_SIM_REGISTER_BLOCK_X:
    return block.id.x;
  case AMPC_SIM_REGISTER_BLOCK_Y:
    return block.id.y;
  case AMPC_SIM_REGISTER_BLOCK_Z:
    return block.id.z;
  case AMPC_SIM_REGISTER_BLOCK_SIZE_X:
    return config.block.x;
  case AMPC_SIM_REGISTER_BLOCK_SIZE_Y:
    return config.block.y;
  case AMPC_SIM_REGISTER_BLOCK_SIZE_Z:
    return config.block.z;
  case AMPC_SIM_REGISTER_GRID_SIZE_X:
    return config.grid.x;
  case AMPC_SIM_REGISTER_GRID_SIZE_Y:
    return config.grid.y;
  case AMPC_SIM_REGISTER_GRID_SIZE_Z:
    return config.grid.z;
  case AMPC_SIM_REGISTER_LANE:
    return self.lane;
  case AMPC_SIM_REGISTER_WARP:
    return self.id / 32;
  case AMPC_SIM_REGISTER_WARPS:
    return static_cast<uint32_t>(block.warps.size());
  case AMPC_SIM_REGISTER_WARP_SIZE:
    return 32;
  case AMPC_SIM_REGISTER_LANES_EQUAL:
    return lane;
  case AMPC_SIM_REGISTER_LANES_LESS:
    return lane - 1;
  case AMPC_SIM_REGISTER_LANES_LESS_EQUAL:
    return lane | (lane - 1);
  case AMPC_SIM_REGISTER_LANES_GREATER:
    return ~(lane | (lane - 1));
  case AMPC_SIM_REGISTER_LANES_GREATER_EQUAL:
    return ~(lane - 1);
  case AMPC_SIM_REGISTER_DYNAMIC_SHARED:
    return config.dynamicShared;
  case AMPC_SIM_REGISTER_TOTAL_SHARED:
    return block.sharedBytes;
  case AMPC_SIM_REGISTER_ONE:
    return 1;
  default:
    return 0;
  }
}

uint64_t ampc_sim_clock() { return currentBlock->cycles += 32; }

void ampc_sim_pause(const ampc_sim_site *site, const void *, void *) {
  currentBlock->yield(site);
}

void ampc_sim_exit() { currentBlock->exitThread(); }

void ampc_sim_trap(const ampc_sim_site *site, const void *, void *) {
  Block &block = *currentBlock;
  AMPC_SIM_FATAL(block, Fault::invalidOperand, site, nullptr,
                 "the kernel traps");
}

uint8_t ampc_sim_is_shared(uint64_t address) {
  return currentBlock->inShared(address);
}
