//===- cpu_features.cpp - What this machine's CPU can do ------------------===//
#include "runtime/core/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ampc::runtime {
namespace {

struct FeatureName {
  uint64_t bit;
  const char *text;
};
constexpr FeatureName featureNames[] = {
    {AMPC_CPU_AVX2, "AVX2+FMA+F16C+BMI2 (x86-64-v3)"},
    {AMPC_CPU_AVX512, "AVX-512 F/BW/DQ/VL/CD (x86-64-v4)"},
    {AMPC_CPU_AVX512_BF16, "AVX512-BF16"},
    {AMPC_CPU_AVX512_FP16, "AVX512-FP16"},
    {AMPC_CPU_AMX_BF16, "AMX-BF16"},
};

#if defined(__x86_64__)
struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

/// The register states that the operating system saves (XCR0).
uint64_t enabledStates() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

bool has(uint32_t reg, uint32_t mask) { return (reg & mask) == mask; }
#endif

} // namespace

uint64_t detectCpuFeatures() {
  uint64_t found = 0;
#if defined(__x86_64__)
  Registers one = cpuid(1, 0);
  Registers seven = cpuid(7, 0);
  Registers sevenOne = cpuid(7, 1);
  constexpr uint32_t osxsave = 1u << 27, avx = 1u << 28;
  if (!has(one.ecx, osxsave | avx)) {
    return 0;
  }
  uint64_t states = enabledStates();
  constexpr uint64_t ymm = 0x6, zmm = 0xe6, tiles = 0x60000;
  constexpr uint32_t fma = 1u << 12, f16c = 1u << 29, movbe = 1u << 22;
  constexpr uint32_t bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
  if ((states & ymm) == ymm && has(one.ecx, fma | f16c | movbe) &&
      has(seven.ebx, bmi1 | avx2 | bmi2)) {
    found |= AMPC_CPU_AVX2;
  }
  constexpr uint32_t f = 1u << 16, dq = 1u << 17, cd = 1u << 28, bw = 1u << 30,
                     vl = 1u << 31;
  bool avx512 = (found & AMPC_CPU_AVX2) && (states & zmm) == zmm &&
                has(seven.ebx, f | dq | cd | bw | vl);
  if (avx512) {
    found |= AMPC_CPU_AVX512;
    found |= has(sevenOne.eax, 1u << 5) ? AMPC_CPU_AVX512_BF16 : 0;
    found |= has(seven.edx, 1u << 23) ? AMPC_CPU_AVX512_FP16 : 0;
  }
  constexpr uint32_t amxBf16 = 1u << 22, amxTile = 1u << 24;
  if ((states & tiles) == tiles && has(seven.edx, amxBf16 | amxTile)) {
    found |= AMPC_CPU_AMX_BF16;
  }
#endif
  return found;
}

Str cpuFeatureNames(uint64_t features) {
  Str list;
  for (const FeatureName &feature : featureNames) {
    if (features & feature.bit) {
      list.appendf("%s%s", list.empty() ? "" : ", ", feature.text);
      features &= ~feature.bit;
    }
  }
  if (features) {
    list.appendf("%sunknown feature bits 0x%llx", list.empty() ? "" : ", ",
                 static_cast<unsigned long long>(features));
  }
  return list.empty() ? Str("any") : std::move(list);
}

Status checkCpuFeatures(uint64_t required, uint64_t available) {
  uint64_t missing = required & ~available;
  if (!missing) {
    return Status();
  }
  return Status::error(AMPC_DEVICE,
                       "this program needs CPU features that this machine "
                       "lacks: %s; compile it again with a lower --march",
                       cpuFeatureNames(missing).c_str());
}

Status enableCpuFeatures(uint64_t required) {
#if defined(__x86_64__)
  constexpr long archReqXcompPerm = 0x1023, tileData = 18;
  if ((required & AMPC_CPU_AMX_BF16) &&
      syscall(SYS_arch_prctl, archReqXcompPerm, tileData) != 0) {
    return Status::error(AMPC_DEVICE,
                         "the operating system does not grant AMX tiles");
  }
#endif
  (void)required;
  return Status();
}

} // namespace ampc::runtime
