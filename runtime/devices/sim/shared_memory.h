//===- shared_memory.h - What has happened to each byte of shared memory --===//
//
// Each byte has the stamp of its last write and of two reads since. Where more
// than two agents read it without knowing of each other, two of them are kept;
// with barriers of the whole block, two suffice to find any conflict.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_SHARED_MEMORY_H
#define AMPC_RUNTIME_DEVICES_SIM_SHARED_MEMORY_H

#include "ampc/sim_abi.h"
#include "runtime/core/support.h"

namespace ampc::runtime::sim {

struct Block;
struct Thread;

/// clock << 32 | agent << 16 | site.
class Stamp {
public:
  static constexpr uint64_t unwritten = 0;
  static constexpr uint64_t gap = ~0ull; // between variables
  static constexpr uint32_t noSite = ~0u;
  static constexpr uint32_t barrierAgent = 0xfffe; // an mbarrier object

  static uint64_t make(uint32_t clock, uint32_t agent, uint32_t site) {
    uint32_t index = site < 0xffff ? site : 0xffff;
    return static_cast<uint64_t>(clock) << 32 | agent << 16 | index;
  }
  explicit Stamp(uint64_t bits) : bits(bits) {}
  uint32_t clock() const { return static_cast<uint32_t>(bits >> 32); }
  uint32_t agent() const { return bits >> 16 & 0xffff; }
  /// The index of the site; noSite where it does not fit.
  uint32_t site() const {
    return (bits & 0xffff) == 0xffff ? noSite : bits & 0xffff;
  }

private:
  uint64_t bits;
};

/// Who accesses memory: a thread itself, or asynchronous work that it issued.
struct Accessor {
  uint32_t thread; // whose knowledge counts
  uint32_t agent;  // who the stamp names
  uint32_t clock;
};

class SharedShadow {
public:
  SharedShadow() = default;
  SharedShadow(const SharedShadow &) = delete;
  SharedShadow &operator=(const SharedShadow &) = delete;
  ~SharedShadow();
  Status allocate();
  /// At the beginning of a block: only the kernel's variables are accessible,
  /// and nothing in them is written.
  void reset(const Block &block);

  /// Checks and records an access of the current thread's. False if it is out
  /// of bounds and must not be done; everything else is reported only.
  bool access(Block &block, const Accessor &who, uint32_t offset,
              uint32_t bytes, uint32_t use, const ampc_sim_site *site);
  /// The same of the asynchronous proxy, which sees generic writes only
  /// through a proxy fence.
  bool asyncRead(Block &block, const Accessor &who, uint32_t offset,
                 uint32_t bytes, const ampc_sim_site *site);
  /// Makes bytes an mbarrier object, or plain memory again.
  void setBarrier(uint32_t offset, bool isBarrier);
  bool isBarrier(uint32_t offset) const;

private:
  bool inBounds(Block &block, uint32_t offset, uint32_t bytes,
                const ampc_sim_site *site);
  bool conflict(Block &block, const Accessor &who, uint64_t earlier,
                uint32_t offset, bool earlierWrites, uint32_t use,
                const ampc_sim_site *site);
  void recordRead(const Block &block, const Accessor &who, uint32_t at,
                  uint64_t stamp);
  bool checkByte(Block &block, const Accessor &who, uint32_t at, uint32_t use,
                 const ampc_sim_site *site);
  bool checkProxy(Block &block, const Accessor &who, uint32_t at,
                  const ampc_sim_site *site);

  uint64_t *writes = nullptr;
  uint64_t *reads[2] = {};
};

/// "name+offset" of a byte in shared memory.
Str describeShared(const Block &block, uint32_t offset);

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_SHARED_MEMORY_H
