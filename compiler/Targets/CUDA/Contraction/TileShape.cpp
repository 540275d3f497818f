//===- TileShape.cpp - How the result of a contraction is cut up ----------===//
#include "compiler/Targets/CUDA/Contraction/TileShape.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

static ArrayRef<TileShape> tilesOf(ProductKind kind) {
  static constexpr TileShape mma16[] = {
      {128, 128, 32, 64, 64}, {128, 64, 32, 64, 32}, {64, 64, 32, 32, 32},
      {32, 64, 32, 16, 32},   {16, 64, 32, 16, 16},
  };
  static constexpr TileShape tf32[] = {
      {128, 128, 16, 64, 64}, {128, 64, 16, 64, 32}, {64, 64, 16, 32, 32},
      {32, 64, 16, 16, 32},   {16, 64, 16, 16, 16},
  };
  static constexpr TileShape fma32[] = {
      {128, 128, 16, 32, 64}, {128, 64, 16, 32, 32}, {64, 64, 16, 32, 32},
      {32, 64, 16, 16, 32},   {16, 64, 16, 16, 16},
  };
  static constexpr TileShape fma64[] = {
      {64, 64, 8, 32, 32},
      {32, 64, 8, 16, 32},
      {16, 64, 8, 16, 16},
  };
  switch (kind) {
  case ProductKind::Mma16:
    return mma16;
  case ProductKind::Tf32:
    return tf32;
  case ProductKind::Fma32:
    return fma32;
  case ProductKind::Fma64:
    return fma64;
  }
  llvm_unreachable("a kind of product");
}

TileShape cuda::chooseTile(const GemmView &view, ProductKind kind,
                           int64_t sharedBytes) {
  ArrayRef<TileShape> shapes = tilesOf(kind);
  constexpr int64_t wantedBlocks = 96;
  for (const TileShape &shape : shapes) {
    int64_t blocks = view.batch * llvm::divideCeil(view.m, shape.m) *
                     llvm::divideCeil(view.n, shape.n);
    bool wastes = view.m <= shape.m / 2 || view.n <= shape.n / 2;
    if (blocks >= wantedBlocks && !wastes &&
        shape.sharedBytes(3, kind) <= sharedBytes) {
      return shape;
    }
  }
  shapes = shapes.take_back(3);
  return view.m <= 16 ? shapes[2] : view.m <= 32 ? shapes[1] : shapes[0];
}
