//===- Philox.h - Counter-based random bits ---------------------*- C++ -*-===//
#ifndef AMPC_DIALECTS_TRAIN_IR_PHILOX_H
#define AMPC_DIALECTS_TRAIN_IR_PHILOX_H

#include <array>
#include <cstdint>

namespace ampc::train {

/// Constants of Philox4x32 (Random123, philox.h).
inline constexpr uint32_t philoxMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t philoxWeyl[2] = {0x9E3779B9, 0xBB67AE85};
inline constexpr unsigned philoxRounds = 10;

/// Four words of random bits for a counter and a key: Philox4x32-10.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key);

} // namespace ampc::train

#endif // AMPC_DIALECTS_TRAIN_IR_PHILOX_H
