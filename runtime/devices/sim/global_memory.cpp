//===- global_memory.cpp - Allocations of a simulated device --------------===//
#include "runtime/devices/sim/global_memory.h"

#include <stdio.h>
#include <sys/mman.h>

namespace ampc::runtime::sim {

static constexpr uint8_t poison = 0xcd; // as f16, bf16 or f32 a large number

void LaunchSet::clear() {
  base = 0;
  words.clear();
}

/// Drops the words below `to`, whose launches are all members.
void LaunchSet::raiseBase(uint32_t to) {
  size_t drop = (to - base) / 64;
  drop = drop < words.size() ? drop : words.size();
  for (size_t i = drop; i < words.size(); ++i) {
    words[i - drop] = words[i];
  }
  words.resize(words.size() - drop);
  base = to;
}

void LaunchSet::normalize() {
  if (base == 0 && !words.empty()) {
    words[0] |= 1; // no launch has the number 0
  }
  size_t full = 0;
  while (full < words.size() && words[full] == ~0ull) {
    ++full;
  }
  raiseBase(base + static_cast<uint32_t>(full) * 64);
}

void LaunchSet::add(uint32_t launch) {
  if (launch < base) {
    return;
  }
  size_t word = (launch - base) / 64;
  if (word >= words.size()) {
    words.resize(word + 1);
  }
  words[word] |= 1ull << (launch % 64);
  normalize();
}

void LaunchSet::add(const LaunchSet &other) {
  if (other.base > base) {
    raiseBase(other.base);
  }
  size_t skip = (base - other.base) / 64; // words of the other's
  for (size_t i = skip; i < other.words.size(); ++i) {
    if (i - skip >= words.size()) {
      words.resize(i - skip + 1);
    }
    words[i - skip] |= other.words[i];
  }
  normalize();
}

bool LaunchSet::has(uint32_t launch) const {
  if (launch < base) {
    return true;
  }
  size_t word = (launch - base) / 64;
  return word < words.size() && (words[word] >> (launch % 64) & 1);
}

GlobalMemory::~GlobalMemory() {
  endLaunch();
  for (Allocation *allocation : allocations) {
    if (allocation->mapping) {
      munmap(allocation->mapping, allocation->mapped);
    }
    allocation->~Allocation();
    free(allocation);
  }
}

void GlobalMemory::insert(Allocation allocation) {
  auto *owned =
      new (allocateSmall(sizeof(Allocation))) Allocation(std::move(allocation));
  allocations.push(owned);
  for (size_t i = allocations.size() - 1;
       i > 0 && allocations[i - 1]->begin > allocations[i]->begin; --i) {
    std::swap(allocations[i - 1], allocations[i]);
  }
}

const GlobalMemory::Allocation *GlobalMemory::find(uint64_t address) const {
  size_t low = 0, high = allocations.size();
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (allocations[middle]->begin <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? nullptr : allocations[low - 1];
}

/// Layout of a mapping: red zone, data, red zone, then per byte one of
/// `written` and three stamps, which stay untouched pages where unused.
Status GlobalMemory::allocate(uint64_t bytes, const char *name,
                              void **outMemory) {
  constexpr uint64_t shadowPerByte = 1 + 3 * sizeof(uint64_t);
  // An odd multiple of `alignment`, so that nothing counts on more.
  uint64_t before = redZone + alignment, padded, total;
  if (bytes == 0 || !alignUp(bytes, alignment, &padded) ||
      mulOverflow(padded, shadowPerByte + 1, &total) ||
      addOverflow(total, before + redZone, &total)) {
    return Status::error(AMPC_USAGE, "cannot allocate %llu bytes",
                         static_cast<unsigned long long>(bytes));
  }
  before = before / alignment % 2 == 0 ? before + alignment : before;
  total += alignment;
  void *mapping = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return Status::error(AMPC_LIMIT, "cannot allocate %llu bytes",
                         static_cast<unsigned long long>(bytes));
  }
  auto *memory = static_cast<uint8_t *>(mapping) + before;
  memset(mapping, poison, before + padded + redZone);
  Allocation allocation{};
  allocation.begin = reinterpret_cast<uint64_t>(memory);
  allocation.end = allocation.begin + bytes;
  allocation.mapping = mapping;
  allocation.mapped = total;
  allocation.writable = true;
  if (name) {
    allocation.name.append(name);
  } else {
    allocation.name.appendf("allocation %llu of %llu bytes",
                            static_cast<unsigned long long>(++serial),
                            static_cast<unsigned long long>(bytes));
  }
  auto *stamps =
      reinterpret_cast<std::atomic<uint64_t> *>(memory + padded + redZone);
  for (int i = 0; i < 3; ++i) {
    allocation.stamps[i] = stamps + static_cast<uint64_t>(i) * padded;
  }
  allocation.written = reinterpret_cast<uint8_t *>(stamps + 3 * padded);
  insert(std::move(allocation));
  inUse += bytes;
  *outMemory = memory;
  return Status();
}

void GlobalMemory::adopt(void *memory, uint64_t bytes, const char *name,
                         bool writable) {
  Allocation allocation{};
  allocation.begin = reinterpret_cast<uint64_t>(memory);
  allocation.end = allocation.begin + bytes;
  allocation.writable = writable;
  allocation.name.append(name);
  insert(std::move(allocation));
}

void GlobalMemory::disown(void *memory) {
  for (size_t i = 0; i < allocations.size(); ++i) {
    if (allocations[i]->begin == reinterpret_cast<uint64_t>(memory) &&
        !allocations[i]->mapping) {
      allocations[i]->~Allocation();
      free(allocations[i]);
      for (size_t j = i + 1; j < allocations.size(); ++j) {
        allocations[j - 1] = allocations[j];
      }
      allocations.resize(allocations.size() - 1);
      return;
    }
  }
}

Status GlobalMemory::release(void *memory) {
  auto address = reinterpret_cast<uint64_t>(memory);
  Allocation *allocation = find(address);
  if (!allocation || allocation->begin != address || !allocation->mapping) {
    return Status::error(AMPC_USAGE, "no allocation begins there");
  }
  if (allocation->freed) {
    return Status::error(AMPC_USAGE, "%s is released twice",
                         allocation->name.c_str());
  }
  bool intact = true;
  auto *data = static_cast<const uint8_t *>(memory);
  uint64_t bytes = allocation->end - allocation->begin;
  for (uint64_t i = 1; i <= redZone; ++i) {
    intact = intact && data[-static_cast<int64_t>(i)] == poison &&
             data[bytes + i - 1] == poison;
  }
  // The range stays reserved, so that a late access is told by name.
  allocation->freed = true;
  inUse -= bytes;
  madvise(allocation->mapping, allocation->mapped, MADV_DONTNEED);
  mprotect(allocation->mapping, allocation->mapped, PROT_NONE);
  if (!intact) {
    return Status::error(AMPC_DEVICE, "the host wrote beyond %s",
                         allocation->name.c_str());
  }
  return Status();
}

bool GlobalMemory::contains(const void *address, uint64_t bytes) const {
  auto at = reinterpret_cast<uint64_t>(address);
  const Allocation *allocation = find(at);
  return allocation && !allocation->freed && at <= allocation->end &&
         bytes <= allocation->end - at;
}

uint64_t GlobalMemory::bytesFrom(const void *address) const {
  auto at = reinterpret_cast<uint64_t>(address);
  const Allocation *allocation = find(at);
  return allocation && !allocation->freed && at < allocation->end
             ? allocation->end - at
             : 0;
}

uint64_t GlobalMemory::sizeOf(const void *memory) const {
  const Allocation *allocation = find(reinterpret_cast<uint64_t>(memory));
  return allocation && !allocation->freed &&
                 allocation->begin == reinterpret_cast<uint64_t>(memory)
             ? allocation->end - allocation->begin
             : 0;
}

Str GlobalMemory::describe(uint64_t address) const {
  Str text;
  const Allocation *below = find(address);
  if (!below || address >= below->end + (1u << 20)) {
    // What follows may be nearer.
    for (const Allocation *allocation : allocations) {
      uint64_t gap = allocation->begin - address;
      if (allocation->begin > address && gap <= 4096) {
        text.appendf("%llu bytes before %s",
                     static_cast<unsigned long long>(gap),
                     allocation->name.c_str());
        return text;
      }
    }
    text.append(address == 0 ? "address 0" : "an address near no allocation");
    return text;
  }
  uint64_t offset = address - below->begin;
  uint64_t bytes = below->end - below->begin;
  text.appendf("%s + %llu", below->name.c_str(),
               static_cast<unsigned long long>(offset));
  if (below->freed) {
    text.append(" (it has been freed)");
  } else if (offset >= bytes) {
    text.appendf(" (it has %llu bytes)",
                 static_cast<unsigned long long>(bytes));
  }
  return text;
}

uint64_t GlobalMemory::unwritten(const void *address, uint64_t bytes) const {
  auto at = reinterpret_cast<uint64_t>(address);
  const Allocation *allocation = find(at);
  if (!allocation || !allocation->written) {
    return 0;
  }
  const uint8_t *written = allocation->written + (at - allocation->begin);
  uint64_t count = 0;
  for (uint64_t i = 0; i < bytes; ++i) {
    count += written[i] == 0;
  }
  return count;
}

void GlobalMemory::hostWrite(void *address, uint64_t bytes) {
  auto at = reinterpret_cast<uint64_t>(address);
  Allocation *allocation = find(at);
  if (allocation && allocation->written) {
    memset(allocation->written + (at - allocation->begin), 0xff, bytes);
  }
}

void GlobalMemory::copyWritten(void *to, const void *from, uint64_t bytes) {
  auto target = reinterpret_cast<uint64_t>(to);
  auto source = reinterpret_cast<uint64_t>(from);
  Allocation *into = find(target);
  const Allocation *outOf = find(source);
  if (!into || !into->written || !outOf || !outOf->written) {
    return; // where all counts as written, so does the copy
  }
  memmove(into->written + (target - into->begin),
          outOf->written + (source - outOf->begin), bytes);
}

void GlobalMemory::forgetLaunches() {
  launches.clear();
  settled = 1;
  for (Allocation *allocation : allocations) {
    if (!allocation->written || allocation->freed) {
      continue;
    }
    for (std::atomic<uint64_t> *stamps : allocation->stamps) {
      for (uint64_t i = 0; i < allocation->end - allocation->begin; ++i) {
        if (stamps[i].load(std::memory_order_relaxed) != 0) {
          stamps[i].store(0, std::memory_order_relaxed);
        }
      }
    }
  }
}

uint32_t GlobalMemory::beginLaunch(const char *name,
                                   const ampc_sim_module *module,
                                   const LaunchSet &after) {
  if (launches.size() == maxLaunches) {
    forgetLaunches();
  }
  Launch &launch = launches.push({Str(name), module, LaunchSet()});
  launch.after.add(after);
  return static_cast<uint32_t>(launches.size());
}

void GlobalMemory::forgetModule(const ampc_sim_module *module) {
  for (Launch &launch : launches) {
    launch.module = launch.module == module ? nullptr : launch.module;
  }
}

void GlobalMemory::endLaunch() {
  for (uint32_t i = 0; i < usedChunks.load(); ++i) {
    free(chunks[i]);
    chunks[i] = nullptr;
  }
  usedChunks.store(0);
  for (void *memory : kept) {
    free(memory);
  }
  kept.clear();
  released.clear();
}

} // namespace ampc::runtime::sim
