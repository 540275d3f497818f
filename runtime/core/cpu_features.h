//===- cpu_features.h - What this machine's CPU can do --------------------===//
#ifndef AMPC_RUNTIME_CORE_CPU_FEATURES_H
#define AMPC_RUNTIME_CORE_CPU_FEATURES_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// The AMPC_CPU_* bits that the CPU has and the operating system has enabled.
uint64_t detectCpuFeatures();

/// The names of AMPC_CPU_* bits, comma-separated; "any" for none.
Str cpuFeatureNames(uint64_t features);

/// AMPC_DEVICE, naming everything that is missing, unless `available` covers
/// `required`.
Status checkCpuFeatures(uint64_t required, uint64_t available);

/// Asks the kernel for the state that `required` needs and that is off until
/// asked for (AMX tiles). Threads started later inherit it.
Status enableCpuFeatures(uint64_t required);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_CPU_FEATURES_H
