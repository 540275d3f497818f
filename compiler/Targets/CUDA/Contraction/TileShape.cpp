//===- TileShape.cpp - How the result of a contraction is cut up ----------===//
#include "compiler/Targets/CUDA/Contraction/TileShape.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

TileShape cuda::chooseTile(const GemmView &view, int64_t sharedBytes) {
  static constexpr TileShape shapes[] = {
      {128, 128, 32, 64, 64}, {128, 64, 32, 64, 32}, {64, 64, 32, 32, 32},
      {32, 64, 32, 16, 32},   {16, 64, 32, 16, 16},
  };
  constexpr int64_t wantedBlocks = 96;
  for (const TileShape &shape : shapes) {
    int64_t blocks = view.batch * llvm::divideCeil(view.m, shape.m) *
                     llvm::divideCeil(view.n, shape.n);
    bool wastes = view.m <= shape.m / 2 || view.n <= shape.n / 2;
    if (blocks >= wantedBlocks && !wastes &&
        shape.sharedBytes() <= sharedBytes) {
      return shape;
    }
  }
  return view.m <= 16 ? shapes[4] : view.m <= 32 ? shapes[3] : shapes[2];
}
