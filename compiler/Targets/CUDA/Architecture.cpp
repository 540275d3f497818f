//===- Architecture.cpp - What each GPU architecture can do ---------------===//
#include "compiler/Targets/CUDA/Architecture.h"

#include "llvm/ADT/STLExtras.h"
#include <string>

using namespace ampc;
using namespace ampc::cuda;

static constexpr Architecture architectures[] = {
    {"sm_75", 75, "+ptx63", false, false, 65536, 65536, 32},
    {"sm_80", 80, "+ptx70", true, false, 166912, 167936, 64},
    {"sm_86", 86, "+ptx71", true, false, 101376, 102400, 48},
    {"sm_89", 89, "+ptx78", true, false, 101376, 102400, 48},
    {"sm_90a", 90, "+ptx80", true, true, 232448, 233472, 64},
    {"sm_120", 120, "+ptx87", true, false, 101376, 102400, 48},
};

namespace {
struct GpuName {
  llvm::StringLiteral name, architecture;
};
} // namespace

static constexpr GpuName gpus[] = {
    {"t4", "sm_75"},       {"rtx2060", "sm_75"},   {"rtx2070", "sm_75"},
    {"rtx2080", "sm_75"},  {"rtx2080ti", "sm_75"}, {"a100", "sm_80"},
    {"a30", "sm_80"},      {"a10", "sm_86"},       {"a40", "sm_86"},
    {"rtx3050", "sm_86"},  {"rtx3060", "sm_86"},   {"rtx3070", "sm_86"},
    {"rtx3080", "sm_86"},  {"rtx3090", "sm_86"},   {"rtxa6000", "sm_86"},
    {"l4", "sm_89"},       {"l40", "sm_89"},       {"l40s", "sm_89"},
    {"rtx4060", "sm_89"},  {"rtx4070", "sm_89"},   {"rtx4080", "sm_89"},
    {"rtx4090", "sm_89"},  {"h100", "sm_90a"},     {"h200", "sm_90a"},
    {"gh200", "sm_90a"},   {"rtx5070", "sm_120"},  {"rtx5080", "sm_120"},
    {"rtx5090", "sm_120"},
};

llvm::ArrayRef<Architecture> cuda::getArchitectures() { return architectures; }

const Architecture *cuda::findArchitecture(llvm::StringRef name) {
  std::string wanted = name.lower();
  llvm::erase_if(wanted, [](char c) { return c == ' ' || c == '-'; });
  for (const GpuName &gpu : gpus) {
    if (gpu.name == wanted) {
      wanted = gpu.architecture.str();
    }
  }
  if (wanted == "sm_90") {
    wanted = "sm_90a";
  }
  const auto *found = llvm::find_if(
      architectures, [&](const Architecture &a) { return a.name == wanted; });
  return found == std::end(architectures) ? nullptr : found;
}
