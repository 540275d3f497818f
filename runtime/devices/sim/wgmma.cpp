//===- wgmma.cpp - The asynchronous matrix product of a warpgroup ---------===//
//
// The product is computed when the last of the 128 threads arrives. That its
// operands stay untouched, and its results unused, until the group is waited
// for, is checked by stamps and by ampc_sim_wgmma_use.
//
//===----------------------------------------------------------------------===//
#include "runtime/devices/sim/matrix_ops.h"

#include "runtime/devices/sim/meeting.h"
#include "runtime/devices/sim/tensor_map.h"

namespace ampc::runtime::sim {
namespace {

constexpr uint32_t rows = 64, threadsPerGroup = 128;

/// The static side of an instruction.
struct Instruction {
  uint32_t n, k, flags;
  MatrixType type, out;
  uint32_t elementBytes() const { return type == MatrixType::tf32 ? 4 : 2; }
  /// 32-bit registers of C.
  uint32_t accumulators() const {
    return out == MatrixType::f32 ? n / 2 : n / 4;
  }
};

Instruction instructionOf(const ampc_sim_site *site) {
  return {site->imm[0] >> 16, site->imm[0] & 0xffff, site->imm[3],
          static_cast<MatrixType>(site->imm[1]),
          static_cast<MatrixType>(site->imm[2])};
}

/// The operands that follow the accumulators.
struct Tail {
  const uint32_t *a; // four registers, or a descriptor
  uint64_t b;
  uint32_t scaleD;
};

Tail tailOf(const Thread &thread, const Instruction &op) {
  const auto *words = static_cast<const uint32_t *>(thread.operands);
  Tail tail;
  tail.a = words + op.accumulators();
  const uint32_t *rest =
      tail.a + (op.flags & AMPC_SIM_WGMMA_A_IN_REGISTERS ? 4 : 2);
  memcpy(&tail.b, rest, sizeof tail.b);
  tail.scaleD = rest[2];
  return tail;
}

/// A matrix in shared memory, as its descriptor lays it out. In units of the
/// swizzle's width: rows of 16, 32, 64 or 128 bytes, eight to a group.
struct Descriptor {
  uint64_t start, leading, stride;
  Swizzle swizzle;
  uint64_t rowBytes;

  Descriptor(const uint8_t *window, uint64_t bits) {
    start = reinterpret_cast<uint64_t>(window) + ((bits & 0x3fff) << 4);
    leading = (bits >> 16 & 0x3fff) << 4;
    stride = (bits >> 32 & 0x3fff) << 4;
    static constexpr Swizzle modes[] = {Swizzle::none, Swizzle::bytes128,
                                        Swizzle::bytes64, Swizzle::bytes32};
    swizzle = modes[bits >> 62];
    rowBytes = 16ull << static_cast<uint32_t>(swizzle);
  }

  /// The address of 16 bytes. K-major: chunk `minor` of K in row `major` of M
  /// or N. MN-major: chunk `minor` of M or N in row `major` of K.
  uint64_t chunk(uint32_t major, uint32_t minor, bool transposed) const {
    uint64_t offset = major % 8 * rowBytes;
    uint64_t perRow = rowBytes / 16;
    if (!transposed) {
      offset += major / 8 * stride;
      offset += swizzle == Swizzle::none ? minor * leading : minor * 16;
    } else if (swizzle == Swizzle::none) {
      offset += minor * stride + major / 8 * leading;
    } else {
      offset +=
          minor % perRow * 16 + minor / perRow * leading + major / 8 * stride;
    }
    return swizzled(start + offset, swizzle);
  }
};

/// The 16 bytes at `address`, checked.
const uint8_t *readChunk(Block &block, const ampc_sim_site *site,
                         uint32_t thread, uint32_t group, uint64_t address) {
  auto *bytes = reinterpret_cast<const uint8_t *>(address);
  if (!block.inShared(address)) {
    AMPC_SIM_FATAL(block, Fault::outOfBounds, site, nullptr,
                   "the descriptor leads out of shared memory");
  }
  Accessor who{thread, block.clocks.groupsOf(thread), group};
  if (!block.shadow.asyncRead(block, who, block.offsetOf(bytes), 16, site)) {
    block.abandon();
  }
  return bytes;
}

uint32_t elementAt(const uint8_t *chunk, uint32_t index, uint32_t bytes) {
  uint32_t bits = 0;
  memcpy(&bits, chunk + index * bytes, bytes);
  return bits;
}

/// Calls put(majorIndex, k, bits) for all elements of a matrix of `extent`
/// rows (of M or N).
template <typename Put>
void readMatrix(Block &block, const ampc_sim_site *site, const Thread *threads,
                const Instruction &op, uint64_t bits, uint32_t extent,
                bool transposed, bool isA, Put put) {
  Descriptor matrix(block.window, bits);
  if (bits >> 49 & 7) {
    AMPC_SIM_FATAL(block, Fault::unsupported, site, nullptr,
                   "a matrix descriptor with a base offset");
  }
  uint32_t bytes = op.elementBytes(), perChunk = 16 / bytes;
  uint32_t group = threads[0].groupsCommitted + 1;
  uint32_t majors = transposed ? op.k : extent;
  uint32_t minors = (transposed ? extent : op.k) / perChunk;
  for (uint32_t major = 0; major < majors; ++major) {
    for (uint32_t minor = 0; minor < minors; ++minor) {
      // Each warp reads its rows of A, and all of B.
      uint32_t row = transposed ? minor * perChunk : major;
      uint32_t warp = isA ? row / 16 : (major + minor) % 4;
      const uint8_t *chunk =
          readChunk(block, site, threads[warp * 32].id, group,
                    matrix.chunk(major, minor, transposed));
      for (uint32_t i = 0; i < perChunk; ++i) {
        uint32_t value = elementAt(chunk, i, bytes);
        uint32_t at = minor * perChunk + i;
        transposed ? put(at, major, value) : put(major, at, value);
      }
    }
  }
}

void compute(Block &block, const ampc_sim_site *site, Thread *threads) {
  Instruction op = instructionOf(site);
  MatrixScratch &scratch = *block.matrices;
  scratch.a.special = scratch.b.special = false;
  Tail tail = tailOf(threads[0], op);
  uint32_t signBit = op.type == MatrixType::tf32 ? 1u << 31 : 1u << 15;
  auto putA = [&](uint32_t row, uint32_t k, uint32_t bits) {
    bits ^= op.flags & AMPC_SIM_WGMMA_NEGATE_A ? signBit : 0;
    scratch.aBits[row * op.k + k] = bits;
    scratch.a.decode(row * op.k + k, op.type, bits);
  };
  auto putB = [&](uint32_t column, uint32_t k, uint32_t bits) {
    bits ^= op.flags & AMPC_SIM_WGMMA_NEGATE_B ? signBit : 0;
    scratch.bBits[k * op.n + column] = bits;
    scratch.b.decode(k * op.n + column, op.type, bits);
  };
  if (op.flags & AMPC_SIM_WGMMA_A_IN_REGISTERS) {
    uint32_t perRegister = 4 / op.elementBytes();
    for (uint32_t t = 0; t < threadsPerGroup; ++t) {
      const uint32_t *words = tailOf(threads[t], op).a;
      for (uint32_t i = 0; i < 4 * perRegister; ++i) {
        uint32_t r = i / perRegister, e = i % perRegister;
        uint32_t row = t / 32 * 16 + t % 32 / 4 + 8 * (r % 2);
        uint32_t k = (r / 2 * 4 + t % 4) * perRegister + e;
        putA(row, k, perRegister == 1 ? words[r] : words[r] >> 16 * e & 0xffff);
      }
    }
  } else {
    uint64_t descriptor;
    memcpy(&descriptor, tail.a, sizeof descriptor);
    readMatrix(block, site, threads, op, descriptor, rows,
               op.flags & AMPC_SIM_WGMMA_TRANSPOSE_A, true, putA);
  }
  readMatrix(block, site, threads, op, tail.b, op.n,
             op.flags & AMPC_SIM_WGMMA_TRANSPOSE_B, false, putB);

  bool wide = op.out == MatrixType::f32;
  // Accumulator i of a thread: row 0 or 8, the pair of columns, its element.
  auto place = [&](uint32_t t, uint32_t i) {
    uint32_t row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2);
    return row * op.n + i / 4 * 8 + 2 * (t % 4) + i % 2;
  };
  for (uint32_t t = 0; t < threadsPerGroup; ++t) {
    const auto *words = static_cast<const uint32_t *>(threads[t].operands);
    for (uint32_t i = 0; i < op.n / 2; ++i) {
      uint32_t bits = wide ? words[i] : words[i / 2] >> 16 * (i % 2) & 0xffff;
      scratch.cd[place(t, i)] = tail.scaleD ? bits : 0;
    }
  }
  MatrixProblem problem{rows,          op.n,       op.k,       op.type,
                        op.out,        &scratch.a, &scratch.b, scratch.aBits,
                        scratch.bBits, scratch.cd};
  multiply(block, problem);
  for (uint32_t t = 0; t < threadsPerGroup; ++t) {
    auto *words = static_cast<uint32_t *>(threads[t].result);
    for (uint32_t i = 0; i < op.n / 2; ++i) {
      uint32_t bits = scratch.cd[place(t, i)];
      if (wide) {
        words[i] = bits;
      } else {
        words[i / 2] = i % 2 ? words[i / 2] | bits << 16 : bits;
      }
    }
  }
  ++block.counters.matrixOps;
}

/// Whether all threads bring the same descriptors, scale and group.
void checkUniform(Block &block, const ampc_sim_site *site,
                  const Thread *threads) {
  Instruction op = instructionOf(site);
  Tail first = tailOf(threads[0], op);
  for (uint32_t t = 1; t < threadsPerGroup; ++t) {
    Tail tail = tailOf(threads[t], op);
    bool sameA = (op.flags & AMPC_SIM_WGMMA_A_IN_REGISTERS) ||
                 memcmp(tail.a, first.a, sizeof(uint64_t)) == 0;
    if (!sameA || tail.b != first.b ||
        (tail.scaleD != 0) != (first.scaleD != 0)) {
      AMPC_SIM_FATAL(block, Fault::divergence, site, nullptr,
                     "threads %u and %u bring different descriptors or scales",
                     threads[0].id, threads[t].id);
    }
    if (threads[t].groupsCommitted != threads[0].groupsCommitted) {
      AMPC_SIM_FATAL(block, Fault::divergence, site, nullptr,
                     "threads %u and %u have committed %u and %u groups",
                     threads[0].id, threads[t].id, threads[0].groupsCommitted,
                     threads[t].groupsCommitted);
    }
  }
}

void recordIssue(Warpgroup &group, uint32_t site, uint32_t number) {
  for (Warpgroup::Issue &issue : group.issues) {
    if (issue.site == site) {
      issue.group = number;
      return;
    }
  }
  group.issues.push({site, number});
}

} // namespace
} // namespace ampc::runtime::sim

using namespace ampc::runtime::sim;

void ampc_sim_wgmma(const ampc_sim_site *site, const void *operands,
                    void *result) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  uint32_t first = self.id / threadsPerGroup * threadsPerGroup;
  if (first + threadsPerGroup > block.numThreads) {
    AMPC_SIM_FATAL(block, Fault::divergence, site, nullptr,
                   "needs a warpgroup of 128 threads");
  }
  if (!self.fencedRegisters) {
    AMPC_SIM_FAULT(block, Fault::missingFence, site, nullptr,
                   "no wgmma.fence between other uses of its registers and "
                   "this wgmma");
    self.fencedRegisters = true;
  }
  Warpgroup &group = block.warpgroups[self.id / threadsPerGroup];
  if (group.arrived > 0 && group.site != site) {
    AMPC_SIM_FATAL(block, Fault::divergence, site, group.site,
                   "%u other threads of the warpgroup are in another wgmma",
                   group.arrived);
  }
  self.operands = operands;
  self.result = result;
  group.site = site;
  if (++group.arrived < threadsPerGroup) {
    block.suspend(Wait::warpgroup, site);
    return;
  }
  group.arrived = 0;
  Thread *threads = &block.threads[first];
  checkUniform(block, site, threads);
  recordIssue(group, site->index, self.groupsCommitted + 1);
  compute(block, site, threads);
  block.progress();
  for (uint32_t t = 0; t < threadsPerGroup; ++t) {
    if (&threads[t] != &self) {
      block.wake(threads[t]);
    }
  }
}

void ampc_sim_wgmma_fence(const ampc_sim_site *, const void *, void *) {
  currentBlock->current->fencedRegisters = true;
}

void ampc_sim_wgmma_commit(const ampc_sim_site *, const void *, void *) {
  ++currentBlock->current->groupsCommitted;
}

void ampc_sim_wgmma_wait(const ampc_sim_site *, const void *operands, void *) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  uint64_t left = *static_cast<const uint64_t *>(operands);
  if (self.groupsCommitted > left) {
    self.groupsDone = self.groupsCommitted - static_cast<uint32_t>(left);
    block.clocks.learn(self.id, block.clocks.groupsOf(self.id),
                       self.groupsDone);
  }
}

void ampc_sim_wgmma_use(const ampc_sim_site *site, const void *, void *) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  self.fencedRegisters = false;
  const Warpgroup &group = block.warpgroups[self.id / threadsPerGroup];
  for (const Warpgroup::Issue &issue : group.issues) {
    if (issue.site == site->imm[0] && issue.group > self.groupsDone) {
      AMPC_SIM_FAULT(block, Fault::missingWait, site, block.siteAt(issue.site),
                     "uses the result of a wgmma whose group is not waited "
                     "for");
    }
  }
}
