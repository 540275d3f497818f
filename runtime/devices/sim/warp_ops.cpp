//===- warp_ops.cpp - Shuffles, votes, reductions over a warp -------------===//
#include "runtime/devices/sim/warp_ops.h"

#include "runtime/devices/sim/meeting.h"

namespace ampc::runtime::sim {
namespace {

template <typename T>
T &resultOf(Thread &thread) {
  return *static_cast<T *>(thread.result);
}

struct WithPredicate {
  uint32_t value;
  uint8_t predicate;
};

struct ShuffleOperands {
  uint32_t mask, value, b, c;
};

/// The lane that `lane` reads, as the PTX manual has it, and its predicate.
int32_t shuffleSource(uint32_t mode, int32_t lane, const ShuffleOperands &x,
                      bool &inRange) {
  int32_t b = x.b & 31, clamp = x.c & 31, segment = x.c >> 8 & 31;
  int32_t most = (lane & segment) | (clamp & ~segment);
  int32_t least = lane & segment;
  int32_t source = 0;
  switch (mode) {
  case AMPC_SIM_SHUFFLE_UP:
    source = lane - b;
    inRange = source >= most;
    break;
  case AMPC_SIM_SHUFFLE_DOWN:
    source = lane + b;
    inRange = source <= most;
    break;
  case AMPC_SIM_SHUFFLE_BUTTERFLY:
    source = lane ^ b;
    inRange = source <= most;
    break;
  default:
    source = least | (b & ~segment);
    inRange = source <= most;
  }
  return inRange ? source : lane;
}

void runShuffle(Block &block, Thread *lanes, const LaneMeeting &meeting) {
  for (int32_t i = 0; i < 32; ++i) {
    if (!(meeting.arrived >> i & 1)) {
      continue;
    }
    const auto &given = operandsOf<ShuffleOperands>(lanes[i]);
    bool inRange;
    int32_t source = shuffleSource(meeting.site->imm[0], i, given, inRange);
    uint32_t value = 0;
    if (meeting.arrived >> source & 1) {
      value = operandsOf<ShuffleOperands>(lanes[source]).value;
    } else {
      block.current = &lanes[i];
      AMPC_SIM_FAULT(block, Fault::invalidOperand, meeting.site, nullptr,
                     "reads from lane %d, which takes no part", source);
    }
    resultOf<uint32_t>(lanes[i]) = value;
    if (meeting.site->imm[1]) {
      resultOf<WithPredicate>(lanes[i]).predicate = inRange;
    }
  }
}

struct VoteOperands {
  uint32_t mask;
  uint8_t predicate;
};

void runVote(Block &, Thread *lanes, const LaneMeeting &meeting) {
  uint32_t ballot = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    if (meeting.arrived >> i & 1) {
      bool yes = operandsOf<VoteOperands>(lanes[i]).predicate & 1;
      ballot |= static_cast<uint32_t>(yes) << i;
    }
  }
  bool all = ballot == meeting.arrived;
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(meeting.arrived >> i & 1)) {
      continue;
    }
    switch (meeting.site->imm[0]) {
    case AMPC_SIM_VOTE_BALLOT:
      resultOf<uint32_t>(lanes[i]) = ballot;
      break;
    case AMPC_SIM_VOTE_ALL:
      resultOf<uint8_t>(lanes[i]) = all;
      break;
    case AMPC_SIM_VOTE_ANY:
      resultOf<uint8_t>(lanes[i]) = ballot != 0;
      break;
    default:
      resultOf<uint8_t>(lanes[i]) = all || ballot == 0;
    }
  }
}

struct Match32 {
  uint32_t mask, value;
};
struct Match64 {
  uint32_t mask;
  uint64_t value;
};

uint64_t matchValue(const ampc_sim_site *site, const Thread &lane) {
  return site->imm[1] == 64 ? operandsOf<Match64>(lane).value
                            : operandsOf<Match32>(lane).value;
}

void runMatch(Block &, Thread *lanes, const LaneMeeting &meeting) {
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(meeting.arrived >> i & 1)) {
      continue;
    }
    uint32_t equal = 0;
    for (uint32_t j = 0; j < 32; ++j) {
      if ((meeting.arrived >> j & 1) &&
          matchValue(meeting.site, lanes[i]) ==
              matchValue(meeting.site, lanes[j])) {
        equal |= 1u << j;
      }
    }
    if (meeting.site->imm[0]) { // match.all
      bool all = equal == meeting.arrived;
      resultOf<WithPredicate>(lanes[i]).value = all ? equal : 0;
      resultOf<WithPredicate>(lanes[i]).predicate = all;
    } else {
      resultOf<uint32_t>(lanes[i]) = equal;
    }
  }
}

struct ReduceOperands {
  uint32_t value, mask;
};

uint32_t combine(uint32_t op, uint32_t a, uint32_t b) {
  auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  switch (op) {
  case AMPC_SIM_REDUCE_ADD:
    return a + b;
  case AMPC_SIM_REDUCE_MIN:
    return x < y ? a : b;
  case AMPC_SIM_REDUCE_MAX:
    return x > y ? a : b;
  case AMPC_SIM_REDUCE_UNSIGNED_MIN:
    return a < b ? a : b;
  case AMPC_SIM_REDUCE_UNSIGNED_MAX:
    return a > b ? a : b;
  case AMPC_SIM_REDUCE_AND:
    return a & b;
  case AMPC_SIM_REDUCE_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

void runReduce(Block &, Thread *lanes, const LaneMeeting &meeting) {
  uint32_t sum = 0;
  bool first = true;
  for (uint32_t i = 0; i < 32; ++i) {
    if (meeting.arrived >> i & 1) {
      uint32_t value = operandsOf<ReduceOperands>(lanes[i]).value;
      sum = first ? value : combine(meeting.site->imm[0], sum, value);
      first = false;
    }
  }
  for (uint32_t i = 0; i < 32; ++i) {
    if (meeting.arrived >> i & 1) {
      resultOf<uint32_t>(lanes[i]) = sum;
    }
  }
}

void runElect(Block &, Thread *lanes, const LaneMeeting &meeting) {
  uint32_t leader = static_cast<uint32_t>(__builtin_ctz(meeting.arrived));
  for (uint32_t i = 0; i < 32; ++i) {
    if (meeting.arrived >> i & 1) {
      resultOf<WithPredicate>(lanes[i]).value = leader;
      resultOf<WithPredicate>(lanes[i]).predicate = i == leader;
    }
  }
}

} // namespace
} // namespace ampc::runtime::sim

using namespace ampc::runtime::sim;

void ampc_sim_shuffle(const ampc_sim_site *site, const void *operands,
                      void *result) {
  uint32_t mask = static_cast<const ShuffleOperands *>(operands)->mask;
  meetLanes({site, operands, result}, LaneOp::shuffle, mask, false, runShuffle);
}

void ampc_sim_vote(const ampc_sim_site *site, const void *operands,
                   void *result) {
  uint32_t mask = static_cast<const VoteOperands *>(operands)->mask;
  meetLanes({site, operands, result}, LaneOp::vote, mask, false, runVote);
}

void ampc_sim_match(const ampc_sim_site *site, const void *operands,
                    void *result) {
  uint32_t mask = *static_cast<const uint32_t *>(operands);
  meetLanes({site, operands, result}, LaneOp::match, mask, false, runMatch);
}

void ampc_sim_reduce(const ampc_sim_site *site, const void *operands,
                     void *result) {
  uint32_t mask = static_cast<const ReduceOperands *>(operands)->mask;
  meetLanes({site, operands, result}, LaneOp::reduce, mask, false, runReduce);
}

void ampc_sim_elect(const ampc_sim_site *site, const void *operands,
                    void *result) {
  uint32_t mask = *static_cast<const uint32_t *>(operands);
  meetLanes({site, operands, result}, LaneOp::elect, mask, false, runElect);
}

void ampc_sim_active_mask(const ampc_sim_site *, const void *, void *result) {
  const Block &block = *currentBlock;
  *static_cast<uint32_t *>(result) = block.warps[block.current->id / 32].alive;
}

void ampc_sim_set_max_registers(const ampc_sim_site *site, const void *operands,
                                void *result) {
  Block &block = *currentBlock;
  auto count = *static_cast<const uint32_t *>(operands);
  if (count < 24 || count > 256 || count % 8 != 0) {
    AMPC_SIM_FATAL(block, Fault::invalidOperand, site, nullptr,
                   "expected a multiple of 8 from 24 to 256, got %u", count);
  }
  meetLanes({site, operands, result}, LaneOp::registers, ~0u, true,
            [](Block &, Thread *, const LaneMeeting &) {});
}
