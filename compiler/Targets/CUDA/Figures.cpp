//===- Figures.cpp - How fast the parts of a GPU are ----------------------===//
#include "compiler/Targets/CUDA/Figures.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace ampc;

// Multiprocessors, shared memory and warps: NVIDIA's programming guide,
// "Technical Specifications per Compute Capability", and data sheets of T4,
// A100, A10, Orin, L4, H100, B200 and RTX 5090. Products a clock: the rates of
// the same sheets over multiprocessors and boost clock; on Hopper and later
// what mma.sync reaches, about 0.62 of what wgmma does. Cache: of the order of
// published measurements; it decides only between tiles that are near each
// other.
static constexpr CudaFigures figures[] = {
    {75, 40, 32, 64 << 10, 512, 0, 64, 2, 32},
    {80, 108, 64, 164 << 10, 1024, 512, 64, 32, 48},
    {86, 72, 48, 100 << 10, 512, 256, 128, 2, 32},
    {87, 16, 48, 164 << 10, 512, 256, 128, 2, 32},
    {89, 58, 48, 100 << 10, 512, 256, 128, 2, 40},
    {90, 132, 64, 228 << 10, 1280, 640, 128, 64, 48},
    {100, 148, 64, 228 << 10, 1280, 640, 128, 64, 48},
    {120, 170, 48, 100 << 10, 512, 256, 128, 2, 40},
};

const CudaFigures &ampc::getCudaFigures(const CudaArchitecture &architecture) {
  unsigned capability = architecture.major * 10 + architecture.minor;
  const CudaFigures *found = &figures[0];
  for (const CudaFigures &row : figures) {
    found = row.capability <= capability ? &row : found;
  }
  return *found;
}
