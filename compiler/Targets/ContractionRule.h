//===- ContractionRule.h - The user's choice of a kernel ------------------===//
#ifndef AMPC_COMPILER_TARGETS_CONTRACTIONRULE_H
#define AMPC_COMPILER_TARGETS_CONTRACTIONRULE_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace ampc {

/// What the user has chosen for contractions of some sizes on NVIDIA GPUs.
struct ContractionRule {
  std::string architecture; ///< "sm_80"; empty: any
  std::string type;         ///< of the operands: f16, bf16, tf32, f32, f64
  std::optional<int64_t> batch, m, n, k; ///< none: any
  std::array<int64_t, 3> tile{};         ///< m, n, k
  int64_t stages = 3;                    ///< slices in shared memory
  int64_t split = 1;                     ///< parts of k, each a block's
};

/// What is wrong with a rule: that there are no such tiles, or no room for
/// them. Empty if nothing is.
std::string checkContractionRule(const ContractionRule &rule);

} // namespace ampc

#endif // AMPC_COMPILER_TARGETS_CONTRACTIONRULE_H
