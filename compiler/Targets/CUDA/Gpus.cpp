//===- Gpus.cpp - What GPUs have and how fast they are --------------------===//
#include "compiler/Targets/CUDA/Gpus.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace ampc {

static constexpr double mega = 1e6, giga = 1e9, tera = 1e12;

// NVIDIA's whitepapers and data sheets: Turing (T4), A100 Tensor Core GPU
// Architecture, GA102, Ada GPU Architecture, L4, L40S, A10, H100 Tensor Core
// GPU Architecture, H200 data sheet, RTX Blackwell GPU Architecture. Rates are
// without sparsity; those of GeForce GPUs for 16-bit factors are with sums in
// f32, half of what they reach with sums in f16.
static constexpr Gpu gpus[] = {
    {"t4", "sm_75", 40, 1590 * mega, 65 * tera, 0, 8.1 * tera, 320 * giga,
     4ull << 20, 16ull << 30},
    {"a100", "sm_80", 108, 1410 * mega, 312 * tera, 156 * tera, 19.5 * tera,
     2039 * giga, 40ull << 20, 80ull << 30},
    {"a10", "sm_86", 72, 1695 * mega, 125 * tera, 62.5 * tera, 31.2 * tera,
     600 * giga, 6ull << 20, 24ull << 30},
    {"rtx3090", "sm_86", 82, 1695 * mega, 71 * tera, 35.6 * tera, 35.6 * tera,
     936 * giga, 6ull << 20, 24ull << 30},
    {"l4", "sm_89", 58, 2040 * mega, 121 * tera, 60 * tera, 30.3 * tera,
     300 * giga, 48ull << 20, 24ull << 30},
    {"l40s", "sm_89", 142, 2520 * mega, 362 * tera, 183 * tera, 91.6 * tera,
     864 * giga, 96ull << 20, 48ull << 30},
    {"rtx4090", "sm_89", 128, 2520 * mega, 165.2 * tera, 82.6 * tera,
     82.6 * tera, 1008 * giga, 72ull << 20, 24ull << 30},
    {"h100", "sm_90a", 132, 1980 * mega, 989.4 * tera, 494.7 * tera,
     66.9 * tera, 3350 * giga, 50ull << 20, 80ull << 30},
    {"h200", "sm_90a", 132, 1980 * mega, 989.4 * tera, 494.7 * tera,
     66.9 * tera, 4800 * giga, 50ull << 20, 141 * uint64_t(giga)},
    {"rtx5090", "sm_120", 170, 2407 * mega, 209.5 * tera, 104.8 * tera,
     104.8 * tera, 1792 * giga, 96ull << 20, 32ull << 30},
};

ArrayRef<Gpu> getGpus() { return gpus; }

Expected<const Gpu *> findGpu(StringRef name) {
  std::string plain;
  copy_if(name.lower(), std::back_inserter(plain),
          [](char c) { return isAlnum(c); });
  std::string known;
  for (const Gpu &gpu : gpus) {
    if (gpu.name == plain) {
      return &gpu;
    }
    known += (known.empty() ? "" : ", ") + gpu.name.str();
  }
  return createStringError("unknown GPU '" + name + "'; expected one of " +
                           known);
}

const Gpu *findGpuOf(const CudaArchitecture &architecture) {
  const Gpu *found = nullptr;
  // The last is the fastest of an architecture.
  for (const Gpu &gpu : gpus) {
    StringRef name = gpu.architecture;
    if (name == architecture.name || name.drop_back() == architecture.name) {
      found = &gpu;
    }
  }
  return found;
}

namespace {
/// Of a multiprocessor.
struct Limits {
  unsigned capability, warps, blocks;
  uint64_t sharedBytes;
};
} // namespace

// NVIDIA's programming guide, "Technical Specifications per Compute
// Capability".
static constexpr Limits limits[] = {
    {75, 32, 16, 64 << 10},   {80, 64, 32, 164 << 10},
    {86, 48, 16, 100 << 10},  {87, 48, 16, 164 << 10},
    {88, 48, 16, 100 << 10},  {89, 48, 24, 100 << 10},
    {90, 64, 32, 228 << 10},  {100, 64, 32, 228 << 10},
    {103, 64, 32, 228 << 10}, {110, 48, 24, 228 << 10},
    {120, 48, 24, 100 << 10}, {121, 48, 24, 100 << 10},
};

// The arithmetic of NVIDIA's occupancy calculator: a warp gets registers in
// units of 256, the four parts of a multiprocessor equally many warps, a block
// shared memory in units of 128 bytes (256 before 8.0) and, from 8.0 on, 1 KB
// that the system takes.
Occupancy computeOccupancy(const CudaArchitecture &architecture,
                           unsigned threads, unsigned registers,
                           uint64_t sharedBytes) {
  unsigned capability = architecture.major * 10 + architecture.minor;
  const Limits *limit = find_if(limits, [&](const Limits &candidate) {
    return candidate.capability == capability;
  });
  Occupancy result;
  if (limit == std::end(limits) || threads == 0) {
    return result;
  }
  constexpr unsigned allRegisters = 64 << 10, registerUnit = 256, parts = 4;
  unsigned warps = divideCeil(threads, 32u);
  result.mostWarps = limit->warps;
  std::pair<unsigned, StringLiteral> bounds[] = {
      {limit->warps / warps, "warps"},
      {limit->blocks, "blocks"},
      {~0u, "registers"},
      {~0u, "shared memory"},
  };
  if (registers != 0) {
    unsigned each = alignTo(registers * 32, registerUnit);
    bounds[2].first = alignDown(allRegisters / each, parts) / warps;
  }
  uint64_t reserved = capability >= 80 ? 1 << 10 : 0;
  uint64_t each = alignTo(sharedBytes + reserved, capability >= 80 ? 128 : 256);
  if (each != 0) {
    bounds[3].first = limit->sharedBytes / each;
  }
  result.blocks = ~0u;
  for (const auto &[blocks, name] : bounds) {
    if (blocks < result.blocks) {
      result.blocks = blocks;
      result.limiter = name;
    }
  }
  result.warps = result.blocks * warps;
  return result;
}

} // namespace ampc
