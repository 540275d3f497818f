//===- Architectures.cpp - What each GPU architecture can do --------------===//
#include "compiler/Targets/CUDA/Architectures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <string>

using namespace llvm;

namespace ampc {

// fp16 products came with Volta, those of bf16 and tf32 with Ampere.
static constexpr CudaArchitecture architectures[] = {
    {"sm_50", 5, 0, "Maxwell", false, false, false},
    {"sm_52", 5, 2, "Maxwell", false, false, false},
    {"sm_53", 5, 3, "Maxwell", false, false, false},
    {"sm_60", 6, 0, "Pascal", false, false, false},
    {"sm_61", 6, 1, "Pascal", false, false, false},
    {"sm_62", 6, 2, "Pascal", false, false, false},
    {"sm_70", 7, 0, "Volta", true, false, false},
    {"sm_72", 7, 2, "Volta", true, false, false},
    {"sm_75", 7, 5, "Turing", true, false, false},
    {"sm_80", 8, 0, "Ampere", true, true, true},
    {"sm_86", 8, 6, "Ampere", true, true, true},
    {"sm_87", 8, 7, "Ampere", true, true, true},
    {"sm_88", 8, 8, "Ampere", true, true, true},
    {"sm_89", 8, 9, "Ada", true, true, true},
    {"sm_90", 9, 0, "Hopper", true, true, true},
    {"sm_90a", 9, 0, "Hopper", true, true, true},
    {"sm_100", 10, 0, "Blackwell", true, true, true},
    {"sm_100a", 10, 0, "Blackwell", true, true, true},
    {"sm_100f", 10, 0, "Blackwell", true, true, true},
    {"sm_103", 10, 3, "Blackwell", true, true, true},
    {"sm_103a", 10, 3, "Blackwell", true, true, true},
    {"sm_103f", 10, 3, "Blackwell", true, true, true},
    {"sm_110", 11, 0, "Blackwell", true, true, true},
    {"sm_110a", 11, 0, "Blackwell", true, true, true},
    {"sm_110f", 11, 0, "Blackwell", true, true, true},
    {"sm_120", 12, 0, "Blackwell", true, true, true},
    {"sm_120a", 12, 0, "Blackwell", true, true, true},
    {"sm_120f", 12, 0, "Blackwell", true, true, true},
    {"sm_121", 12, 1, "Blackwell", true, true, true},
    {"sm_121a", 12, 1, "Blackwell", true, true, true},
    {"sm_121f", 12, 1, "Blackwell", true, true, true},
};

/// GPUs by name: without blanks and signs, in lower case.
static constexpr std::pair<StringLiteral, StringLiteral> gpus[] = {
    {"gtx980", "sm_52"},
    {"gtx1060", "sm_61"},
    {"gtx1070", "sm_61"},
    {"gtx1080", "sm_61"},
    {"gtx1080ti", "sm_61"},
    {"p4", "sm_61"},
    {"p40", "sm_61"},
    {"p100", "sm_60"},
    {"v100", "sm_70"},
    {"titanv", "sm_70"},
    {"t4", "sm_75"},
    {"gtx1650", "sm_75"},
    {"gtx1660", "sm_75"},
    {"rtx2060", "sm_75"},
    {"rtx2070", "sm_75"},
    {"rtx2080", "sm_75"},
    {"rtx2080ti", "sm_75"},
    {"titanrtx", "sm_75"},
    {"quadrortx8000", "sm_75"},
    {"a100", "sm_80"},
    {"a30", "sm_80"},
    {"a2", "sm_86"},
    {"a10", "sm_86"},
    {"a10g", "sm_86"},
    {"a16", "sm_86"},
    {"a40", "sm_86"},
    {"rtx3050", "sm_86"},
    {"rtx3060", "sm_86"},
    {"rtx3060ti", "sm_86"},
    {"rtx3070", "sm_86"},
    {"rtx3070ti", "sm_86"},
    {"rtx3080", "sm_86"},
    {"rtx3080ti", "sm_86"},
    {"rtx3090", "sm_86"},
    {"rtx3090ti", "sm_86"},
    {"rtxa4000", "sm_86"},
    {"rtxa5000", "sm_86"},
    {"rtxa6000", "sm_86"},
    {"orin", "sm_87"},
    {"l4", "sm_89"},
    {"l40", "sm_89"},
    {"l40s", "sm_89"},
    {"rtx4060", "sm_89"},
    {"rtx4060ti", "sm_89"},
    {"rtx4070", "sm_89"},
    {"rtx4070ti", "sm_89"},
    {"rtx4080", "sm_89"},
    {"rtx4090", "sm_89"},
    {"h100", "sm_90a"},
    {"h200", "sm_90a"},
    {"gh200", "sm_90a"},
    {"b100", "sm_100a"},
    {"b200", "sm_100a"},
    {"gb200", "sm_100a"},
    {"b300", "sm_103a"},
    {"gb300", "sm_103a"},
    {"thor", "sm_110a"},
    {"rtx5050", "sm_120"},
    {"rtx5060", "sm_120"},
    {"rtx5060ti", "sm_120"},
    {"rtx5070", "sm_120"},
    {"rtx5070ti", "sm_120"},
    {"rtx5080", "sm_120"},
    {"rtx5090", "sm_120"},
    {"gb10", "sm_121"},
};

// NVIDIA's programming guide, "Technical Specifications per Compute
// Capability".
int64_t CudaArchitecture::getSharedBytes() const {
  switch (major * 10 + minor) {
  case 75:
    return 64 << 10;
  case 80:
  case 87:
    return 163 << 10;
  case 86:
  case 88:
  case 89:
  case 120:
  case 121:
    return 99 << 10;
  default:
    return major >= 9 ? 227 << 10 : 48 << 10;
  }
}

bool CudaArchitecture::hasType(StringRef type) const {
  return type == "fp16"   ? hasFp16
         : type == "bf16" ? hasBf16
         : type == "tf32" ? hasTf32
                          : true;
}

ArrayRef<CudaArchitecture> getCudaArchitectures() { return architectures; }

static const CudaArchitecture *lookup(StringRef name) {
  const auto *it = find_if(architectures, [&](const CudaArchitecture &arch) {
    return arch.name == name;
  });
  return it == std::end(architectures) ? nullptr : it;
}

Expected<const CudaArchitecture *> findCudaArchitecture(StringRef name) {
  std::string plain;
  copy_if(name.lower(), std::back_inserter(plain),
          [](char c) { return isAlnum(c); });
  StringRef number = plain;
  if (!number.consume_front("sm")) {
    number.consume_front("compute");
  }
  if (!number.empty() && isDigit(number.front())) {
    if (const CudaArchitecture *arch = lookup(("sm_" + number).str())) {
      return arch;
    }
  }
  StringRef gpu = plain;
  for (StringRef maker : {"nvidia", "geforce", "tesla", "jetson"}) {
    gpu.consume_front(maker);
  }
  for (const auto &[known, arch] : gpus) {
    if (gpu == known) {
      return lookup(arch);
    }
  }
  SmallVector<std::pair<unsigned, StringRef>> ranked;
  for (const CudaArchitecture &arch : architectures) {
    ranked.emplace_back(StringRef(name.lower()).edit_distance(arch.name),
                        arch.name);
  }
  for (const auto &[known, arch] : gpus) {
    ranked.emplace_back(gpu.edit_distance(known), known);
  }
  llvm::sort(ranked);
  std::string nearest;
  for (const auto &[distance, known] : ArrayRef(ranked).take_front(3)) {
    nearest += (nearest.empty() ? "" : ", ") + known.str();
  }
  return createStringError("unknown GPU '" + name + "'; nearest: " + nearest);
}

Expected<std::vector<const CudaArchitecture *>>
findCudaArchitectures(ArrayRef<std::string> names) {
  std::vector<const CudaArchitecture *> chosen;
  for (StringRef name : names) {
    auto architecture = findCudaArchitecture(name);
    if (!architecture) {
      return architecture.takeError();
    }
    if (!is_contained(chosen, *architecture)) {
      chosen.push_back(*architecture);
    }
  }
  llvm::sort(chosen,
             [](const CudaArchitecture *lhs, const CudaArchitecture *rhs) {
               return std::pair(lhs->major, lhs->minor) <
                      std::pair(rhs->major, rhs->minor);
             });
  return chosen;
}

} // namespace ampc
