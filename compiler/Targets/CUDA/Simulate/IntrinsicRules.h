//===- IntrinsicRules.h - Which function does which llvm.nvvm.* -----------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_SIMULATE_INTRINSICRULES_H
#define AMPC_COMPILER_TARGETS_CUDA_SIMULATE_INTRINSICRULES_H

#include "compiler/Targets/CUDA/Simulate/Lowering.h"

#include <optional>

namespace ampc::cuda {

/// A function of the simulator that takes an intrinsic's first operands packed;
/// all of them if `operands` is not set.
struct PackedCall {
  const char *callee;
  Immediates imm;
  std::optional<unsigned> operands;
  /// The operand that selects several blocks of a cluster.
  std::optional<unsigned> multicast;
};

// Names are without "llvm.nvvm.".

/// By table or by a parse of a family's name.
std::optional<PackedCall> findPackedCall(llvm::StringRef name);
/// A function of the same operands and result; null if there is none.
const char *findDirectCall(llvm::StringRef name);
/// What ampc_sim_register takes for "read.ptx.sreg." and `name`.
std::optional<uint32_t> findRegister(llvm::StringRef name);
/// A hint, or of no effect where a kernel runs alone.
bool hasNoEffect(llvm::StringRef name);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_SIMULATE_INTRINSICRULES_H
