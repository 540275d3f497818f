//===- PrecisionPolicy.h - The file of --precision-policy -----------------===//
//
// docs/schemas/precision-policy.schema.json describes the file's form, and
// docs/precision.md what it means.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_DRIVER_PRECISIONPOLICY_H
#define AMPC_COMPILER_DRIVER_PRECISIONPOLICY_H

#include "compiler/Driver/DiagnosticSink.h"

#include <optional>
#include <string>
#include <vector>

namespace ampc::driver {

/// The limits of a policy file. A rule for each node of a large network takes a
/// few megabytes.
constexpr uint64_t maxPolicyBytes = 16 << 20;
constexpr unsigned maxPolicyDepth = 32;

/// What a policy file says; empty where it says nothing.
struct PrecisionPolicy {
  std::string defaultType;              ///< fp32, fp16, bf16 or autocast
  std::vector<std::string> layers, ops; ///< NAME:TYPE
  std::string constants;                ///< fp32 or saturate
  std::string normOutput;               ///< follow or fp32
  std::string certificate;              ///< JSON text, as it was found
};

/// Reads a policy file. Reports every mistake as `FILE:LINE:COLUMN: ...`, and
/// returns nothing if there is one.
std::optional<PrecisionPolicy> readPrecisionPolicy(llvm::StringRef path,
                                                   DiagnosticSink &sink);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_PRECISIONPOLICY_H
