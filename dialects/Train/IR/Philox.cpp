//===- Philox.cpp - Counter-based random bits -----------------------------===//
#include "dialects/Train/IR/Philox.h"

namespace ampc::train {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key) {
  for (unsigned round = 0; round < philoxRounds; ++round) {
    uint64_t first = uint64_t{philoxMultipliers[0]} * counter[0];
    uint64_t second = uint64_t{philoxMultipliers[1]} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(first)};
    key[0] += philoxWeyl[0];
    key[1] += philoxWeyl[1];
  }
  return counter;
}

} // namespace ampc::train
